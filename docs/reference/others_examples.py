# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on tensor maps, graphics and others."""

from cuda.core import Device
from cuda.core.utils import StridedMemoryView

device = Device()
device.set_current()
stream = device.create_stream()

# example: TensorMapDescriptor, TensorMapDescriptorOptions
from cuda.core import TensorMapDescriptorOptions

memory = device.allocate(4096, stream=stream)
view = StridedMemoryView.from_buffer(memory, (32, 32), dtype="f4")
options = TensorMapDescriptorOptions(box_dim=(8, 8), swizzle="SWIZZLE_32B")
if device.compute_capability >= (9, 0):
    tensor_map = view.as_tensor_map(options=options)  # an argument of a launch

# example: GraphicsResource
from cuda.core import CUDAError, GraphicsResource

try:
    resource = GraphicsResource.from_gl_buffer(1, stream=stream)
except CUDAError as error:  # no OpenGL context
    print(error.name)
else:
    with resource.map(stream) as buffer:
        buffer.fill(0, stream=stream)
