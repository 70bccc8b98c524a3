# SPDX-License-Identifier: Apache-2.0
"""Long chains of objects that own each other are destroyed without deep recursion."""

import os
import subprocess
import sys

import pytest

HEAD = """
import numpy as np
from cuda.core import Buffer, Device, ManagedBuffer, PoolMemoryResource
from cuda.core.utils import StridedMemoryView
device = Device()
device.set_current()
link = LINK
for _ in range(200_000):
    link = NEXT
del link
print("done")
"""
ARRAY = "np.zeros(4)"
CHAINS = {
    "views": (
        f"StridedMemoryView.from_dlpack({ARRAY}, -1)",
        "StridedMemoryView.from_any_interface(link, -1)",
    ),
    "layouts": (f"StridedMemoryView.from_dlpack({ARRAY}, -1)", "link[::-1]"),
    "buffers": ("None", "Buffer.from_handle(16, 8, owner=link)"),
    "managed": ("None", "ManagedBuffer.from_handle(16, 8, owner=link)"),
    "mixed": (
        "None",
        "StridedMemoryView.from_buffer(Buffer.from_handle(16, 8, owner=link), (8,), itemsize=1)",
    ),
    "pools": ("None", "PoolMemoryResource(device, upstream=link)"),
}


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_is_destroyed(kind):
    first, following = CHAINS[kind]
    program = HEAD.replace("LINK", first).replace("NEXT", following)
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=False
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
