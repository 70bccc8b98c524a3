# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on views, copies and caches."""

import numpy as np
from cuda.core import Device, Program, ProgramOptions
from cuda.core.utils import StridedMemoryView

device = Device()
device.set_current()
stream = device.create_stream()

# example: utils.StridedMemoryView
memory = device.allocate(96, stream=stream)
view = StridedMemoryView.from_buffer(memory, (4, 6), dtype=np.float32)
assert view.shape == (4, 6) and view.is_device_accessible

# example: utils.StridedMemoryView.from_any_interface
array = np.ones((4, 6), np.float32)
host = StridedMemoryView.from_any_interface(array, stream_ptr=-1)  # also CuPy, PyTorch, ...

# example: utils.StridedMemoryView.from_dlpack
host = StridedMemoryView.from_dlpack(array, stream_ptr=-1)

# example: utils.StridedMemoryView.from_buffer
view = StridedMemoryView.from_buffer(memory, (4, 6), dtype=np.float32)

# example: utils.StridedMemoryView.copy_from
view.copy_from(host, stream)

# example: utils.StridedMemoryView.copy_to
view[:, ::2].copy_to(host[:, ::2], stream)  # every second column
stream.sync()

# example: utils.args_viewable_as_strided_memory
from cuda.core.utils import args_viewable_as_strided_memory


@args_viewable_as_strided_memory((0,))
def shape_of(x, stream):
    return x.view(stream).shape


assert shape_of(array, stream) == (4, 6)

# example: utils.CopyOptions
from cuda.core.utils import CopyOptions

now = CopyOptions(src_access_order="during_api_call")
memory.copy_from(array, stream=stream, options=now)
array[:] = 0  # the source was read

# example: utils.copy_batch
from cuda.core.utils import copy_batch

sources = [device.allocate(64, stream=stream) for _ in range(4)]
targets = [device.allocate(64, stream=stream) for _ in range(4)]
copy_batch(stream, sources, targets)

# example: utils.FileStreamProgramCache
import tempfile

from cuda.core.utils import FileStreamProgramCache

source = 'extern "C" __global__ void k() {}'
program = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
with FileStreamProgramCache(tempfile.mkdtemp(), max_size_bytes=100 << 20) as cache:
    code = program.compile("cubin", cache=cache)  # later processes find it

# example: utils.InMemoryProgramCache, utils.ProgramCacheResource
from cuda.core.utils import InMemoryProgramCache

cache = InMemoryProgramCache(max_size_bytes=10 << 20)
program.compile("cubin", cache=cache)
assert len(cache) == 1
