# SPDX-License-Identifier: Apache-2.0
"""Each kind of object and memory that the program has not destroyed is a leak with its name."""

import ctypes

import pytest

pytestmark = pytest.mark.usefixtures("emulated")
HEAD = b".version 8.0\n.target sm_75\n.address_size 64\n"


def array_of(driver, name, *levels):
    shape = (ctypes.c_uint64 * 5)(8, 8, 0, 0x01 | 1 << 32, 0)
    return driver.output(name, shape, *levels)


# kind: how it is created, and the function that destroys it
KINDS = {
    "stream": (lambda d: d.output("cuStreamCreate", 0), "cuStreamDestroy"),
    "event": (lambda d: d.output("cuEventCreate", 0), "cuEventDestroy"),
    "context": (lambda d: d.output("cuCtxCreate_v2", 0, 0), "cuCtxDestroy"),
    "module": (lambda d: d.output("cuModuleLoadData", HEAD), "cuModuleUnload"),
    "library": (
        lambda d: d.output("cuLibraryLoadData", HEAD, None, None, 0, None, None, 0),
        "cuLibraryUnload",
    ),
    "graph": (lambda d: d.output("cuGraphCreate", 0), "cuGraphDestroy"),
    "array": (lambda d: array_of(d, "cuArray3DCreate"), "cuArrayDestroy"),
    "mipmapped array": (
        lambda d: array_of(d, "cuMipmappedArrayCreate", 2),
        "cuMipmappedArrayDestroy",
    ),
    "address reservation": (
        lambda d: d.output("cuMemAddressReserve", 2 << 20, 0, 0, 0),
        lambda d, at: d.cuMemAddressFree(at, 2 << 20),
    ),
    "device memory": (lambda d: d.output("cuMemAlloc", 100), "cuMemFree"),
    "pinned memory": (lambda d: d.output("cuMemAllocHost", 100), "cuMemFreeHost"),
    "managed memory": (lambda d: d.output("cuMemAllocManaged", 100, 1), "cuMemFree"),
    "pool memory": (lambda d: d.output("cuMemAllocAsync", 100, None), "cuMemFree"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_is_listed_until_it_is_destroyed(driver, emulated, kind):
    create, destroy = KINDS[kind]

    def listed():
        return sum(leak.kind == kind for leak in emulated.leaks())

    before = listed()
    handle = create(driver)
    assert listed() == before + 1
    assert (destroy(driver, handle) if callable(destroy) else getattr(driver, destroy)(handle)) == 0
    assert listed() == before


def test_registered_memory_is_listed_with_its_bytes(driver, emulated):
    host = ctypes.create_string_buffer(8192)
    page = (ctypes.addressof(host) + 4095) // 4096 * 4096
    assert driver.cuMemHostRegister(page, 4096, 0) == 0
    (leak,) = (each for each in emulated.leaks() if each.kind == "registered memory")
    assert leak.bytes == 4096
    assert driver.cuMemHostUnregister(page) == 0
    assert not [each for each in emulated.leaks() if each.kind == "registered memory"]


def test_a_variable_of_a_module_is_no_leak(driver, emulated):
    before = len(emulated.leaks())
    module = driver.output("cuModuleLoadData", HEAD + b".visible .global .b8 table[100];")
    kinds = [leak.kind for leak in emulated.leaks()]
    assert len(kinds) == before + 1 and "module variable" not in kinds
    assert driver.cuModuleUnload(module) == 0


LINES = """
import ctypes
from cuda.bindings import driver as cu
cu.cuInit(0)
cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(0)[1])
cu.cuMemAlloc(64), cu.cuMemAlloc(36), cu.cuEventCreate(0)
cu.cuMemAllocManaged(10, 1)
"""


def test_leaks_of_one_kind_are_one_line(run_emulated):
    done = run_emulated(LINES, check="leak")
    lines = [line for line in done.stderr.splitlines() if "leak: " in line]
    assert lines == [
        "emulator: leak: 2 x device memory, 100 bytes",
        "emulator: leak: 1 x event",
        "emulator: leak: 1 x managed memory, 10 bytes",
    ]
