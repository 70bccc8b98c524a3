# SPDX-License-Identifier: Apache-2.0
"""Kernels over words on a device of compute capability 10.0, in another process."""

import json

import numpy as np

from tests.emulator.modern.conftest import kernel_text

RUN = """
import json, sys
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
for text, words, outputs in json.load(open(sys.argv[1])):
    kernel = ObjectCode.from_ptx(text.encode()).get_kernel("run")
    words = np.array(words, np.uint32)
    source, target = pinned.allocate(words.nbytes), pinned.allocate(4 * len(words) * outputs)
    np.from_dlpack(source).view(np.uint32)[:] = words.ravel()
    launch(stream, LaunchConfig(grid=1, block=len(words)), kernel, source, target)
    try:
        stream.sync()
    except Exception as error:
        print(json.dumps(str(error) + str(getattr(error, "__notes__", ""))))
        break
    print(json.dumps(np.from_dlpack(target).view(np.uint32).tolist()))
"""


def run(run_emulated, tmp_path, cases, version="8.7"):
    """Return the words of each thread, for each (body, words, outputs)."""
    texts = [
        (
            kernel_text(body, len(words[0]), outputs, more, version=version, target="sm_100a"),
            np.asarray(words).astype(int).tolist(),
            outputs,
        )
        for body, words, outputs, more in cases
    ]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(texts))
    lines = run_emulated(RUN, str(path), cc="10.0").stdout.splitlines()
    return [json.loads(line) for line in lines]
