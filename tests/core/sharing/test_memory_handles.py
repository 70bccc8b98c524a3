# SPDX-License-Identifier: Apache-2.0
"""Memory of cuMemAlloc in another process, through the legacy IPC handles of the bindings."""

import ctypes

import pytest
from cuda.bindings import driver


@pytest.fixture
def memory(device):
    code, address = driver.cuMemAlloc(3000)
    assert code == 0
    assert driver.cuMemsetD8(address, 9, 3000)[0] == 0
    yield address
    assert driver.cuMemFree(address)[0] == 0


OPEN = """
import ctypes
from cuda.bindings import driver
handle = driver.CUipcMemHandle()
ctypes.memmove(handle.getPtr(), named, 64)
code, memory = driver.cuIpcOpenMemHandle(handle, 1)
assert code == 0, code
"""


def named(memory):
    code, handle = driver.cuIpcGetMemHandle(memory)
    assert code == 0
    return ctypes.string_at(handle.getPtr(), 64)


def test_another_process_reads_and_writes_it(peer, memory):
    source = f"""{OPEN}
second = driver.cuIpcOpenMemHandle(handle, 1)[1]
content = bytearray(3000)
assert driver.cuMemcpyDtoH(content, memory, 3000)[0] == 0
assert driver.cuMemsetD8(memory, 8, 3000)[0] == 0
closed = [int(driver.cuIpcCloseMemHandle(memory)[0]) for _ in range(2)]
result = bytes(content), int(second) == int(memory), closed
"""
    content, is_same, closed = peer.run(source, named=named(memory))
    assert (content, is_same, closed) == (b"\x09" * 3000, True, [0, 0])
    host_copy = bytearray(3000)
    assert driver.cuMemcpyDtoH(host_copy, memory, 3000)[0] == 0
    assert host_copy == b"\x08" * 3000


@pytest.mark.usefixtures("emulation")
def test_it_is_limited_to_the_allocation_and_is_not_freed(peer, memory):
    source = f"""{OPEN}
beyond = bytearray(4)
result = [
    int(driver.cuMemcpyDtoH(beyond, int(memory) + 2997, 4)[0]),
    int(driver.cuMemFree(memory)[0]),
    int(driver.cuIpcCloseMemHandle(memory)[0]),
    int(driver.cuIpcCloseMemHandle(memory)[0]),
]
"""
    assert peer.run(source, named=named(memory)) == [1, 1, 0, 1]


@pytest.mark.usefixtures("emulation")
def test_a_process_that_ended_is_named_in_the_error(new_peer, device):
    exporter = new_peer()
    source = """
import ctypes
from cuda.bindings import driver
memory = driver.cuMemAlloc(64)[1]
result = ctypes.string_at(driver.cuIpcGetMemHandle(memory)[1].getPtr(), 64)
"""
    name = exporter.run(source)
    exporter.kill()
    handle = driver.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), name, 64)
    assert driver.cuIpcOpenMemHandle(handle, 1)[0] == 400
