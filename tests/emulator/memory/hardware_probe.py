# SPDX-License-Identifier: Apache-2.0
"""Copies and fills that a driver accepts for each kind of memory.

``HALFWARP_BACKEND=driver python -m tests.emulator.memory.hardware_probe`` runs each question on
a GPU in a process of its own. It prints the results and the differences from ``answers.txt``,
the emulator's results, and exits with status 1 if any differ.
"""

import ctypes
import sys
from pathlib import Path

from cuda.bindings import driver

from tests.probing import main, name, ok

SIZE = 64
refs = []  # objects that the driver knows only by address


def pageable():
    memory = (ctypes.c_char * SIZE)()
    refs.append(memory)
    return ctypes.addressof(memory)


def registered():
    memory = (ctypes.c_char * 8192)()
    refs.append(memory)
    address = -(-ctypes.addressof(memory) // 4096) * 4096
    ok(driver.cuMemHostRegister(address, 4096, 0))
    return address


def managed():
    return ok(driver.cuMemAllocManaged(SIZE, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))


def device():
    return ok(driver.cuMemAlloc(SIZE))


def location(kind):
    """Return the first location of this kind."""
    new_location = driver.CUmemLocation()
    new_location.type = getattr(driver.CUmemLocationType, f"CU_MEM_LOCATION_TYPE_{kind}")
    return new_location


def access_of(*kinds):
    descriptors = [driver.CUmemAccessDesc() for _ in kinds]
    for each, kind in zip(descriptors, kinds, strict=True):
        each.location = location(kind)
        each.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return descriptors


def pool_of(kind, *with_access):
    """Allocate from a new pool at this kind of location, with access for the other locations."""
    properties = driver.CUmemPoolProps()
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location = location(kind)
    pool = ok(driver.cuMemPoolCreate(properties))
    if with_access:
        ok(driver.cuMemPoolSetAccess(pool, access_of(*with_access), len(with_access)))
    memory = ok(driver.cuMemAllocFromPoolAsync(SIZE, pool, 0))
    ok(driver.cuStreamSynchronize(0))
    return memory


def mapped(kind, *with_access):
    """Map memory to a reserved address."""
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location = location(kind)
    minimum = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    size = ok(driver.cuMemGetAllocationGranularity(properties, minimum))
    handle = ok(driver.cuMemCreate(size, properties, 0))
    address = ok(driver.cuMemAddressReserve(size, 0, 0, 0))
    ok(driver.cuMemMap(address, size, 0, handle, 0))
    ok(driver.cuMemSetAccess(address, size, access_of(*with_access), len(with_access)))
    return address


KINDS = {
    "pageable memory": pageable,
    "page-locked memory": lambda: ok(driver.cuMemHostAlloc(SIZE, 0)),
    "registered memory": registered,
    "managed memory": managed,
    "device memory": device,
    "memory of a pool of the device": lambda: pool_of("DEVICE"),
    "memory of a pool of the host": lambda: pool_of("HOST", "DEVICE"),
    "memory of a pool of the host without access": lambda: pool_of("HOST"),
    "memory of a pool of a part of the host": lambda: pool_of("HOST_NUMA", "DEVICE"),
    "mapped memory of the device": lambda: mapped("DEVICE", "DEVICE"),
    "mapped memory of the host": lambda: mapped("HOST_NUMA", "HOST_NUMA", "DEVICE"),
    "mapped memory of the host without access": lambda: mapped("HOST_NUMA", "HOST_NUMA"),
}


def area(parameters, side, kind, address):
    """Fill in one side of a copy of rows with a kind of memory."""
    setattr(parameters, f"{side}MemoryType", getattr(driver.CUmemorytype, f"CU_MEMORYTYPE_{kind}"))
    setattr(parameters, f"{side}{'Host' if kind == 'HOST' else 'Device'}", address)
    setattr(parameters, f"{side}Pitch", SIZE // 2)


def rows(source, source_kind, target, target_kind):
    parameters = driver.CUDA_MEMCPY2D()
    area(parameters, "src", source_kind, source)
    area(parameters, "dst", target_kind, target)
    parameters.WidthInBytes, parameters.Height = SIZE // 2, 2
    return driver.cuMemcpy2D(parameters)


# Name of the use -> the call on memory of that kind.
USES = {
    "cuMemcpyDtoH from": lambda m: driver.cuMemcpyDtoH(pageable(), m, SIZE),
    "cuMemcpyDtoH to": lambda m: driver.cuMemcpyDtoH(m, device(), SIZE),
    "cuMemcpyHtoD from": lambda m: driver.cuMemcpyHtoD(device(), m, SIZE),
    "cuMemcpyHtoD to": lambda m: driver.cuMemcpyHtoD(m, pageable(), SIZE),
    "cuMemcpyDtoD from": lambda m: driver.cuMemcpyDtoD(device(), m, SIZE),
    "cuMemcpyDtoD to": lambda m: driver.cuMemcpyDtoD(m, device(), SIZE),
    "cuMemcpy from, to the device": lambda m: driver.cuMemcpy(device(), m, SIZE),
    "cuMemcpy to, from the device": lambda m: driver.cuMemcpy(m, device(), SIZE),
    "cuMemcpy from, to the host": lambda m: driver.cuMemcpy(pageable(), m, SIZE),
    "cuMemcpy to, from the host": lambda m: driver.cuMemcpy(m, pageable(), SIZE),
    "cuMemcpyDtoHAsync from": lambda m: driver.cuMemcpyDtoHAsync(pageable(), m, SIZE, 0),
    "cuMemcpyDtoHAsync to": lambda m: driver.cuMemcpyDtoHAsync(m, device(), SIZE, 0),
    "cuMemcpyHtoDAsync from": lambda m: driver.cuMemcpyHtoDAsync(device(), m, SIZE, 0),
    "cuMemcpyHtoDAsync to": lambda m: driver.cuMemcpyHtoDAsync(m, pageable(), SIZE, 0),
    "cuMemcpyAsync from, to the device": lambda m: driver.cuMemcpyAsync(device(), m, SIZE, 0),
    "cuMemcpyAsync to, from the device": lambda m: driver.cuMemcpyAsync(m, device(), SIZE, 0),
    "cuMemsetD8 of": lambda m: driver.cuMemsetD8(m, 1, SIZE),
    "rows of host memory from": lambda m: rows(m, "HOST", device(), "DEVICE"),
    "rows of host memory to": lambda m: rows(device(), "DEVICE", m, "HOST"),
    "rows of device memory from": lambda m: rows(m, "DEVICE", pageable(), "HOST"),
    "rows of device memory to": lambda m: rows(pageable(), "HOST", m, "DEVICE"),
    "rows of unified memory from": lambda m: rows(m, "UNIFIED", device(), "DEVICE"),
    "rows of unified memory to": lambda m: rows(device(), "DEVICE", m, "UNIFIED"),
}


def question(use, kind):
    def ask():
        result = USES[use](KINDS[kind]())
        return f"{name(result)} {name(driver.cuCtxSynchronize())}"

    return ask


QUESTIONS = {f"{use} {kind}": question(use, kind) for kind in KINDS for use in USES}
# Recorded on an H100 (driver of CUDA 13.0). An H200 agrees; mapped memory was not tried there.
ANSWERS = Path(__file__).with_name("answers.txt").read_text()
EXPECTED = dict(line.split(" -> ") for line in ANSWERS.splitlines())

if __name__ == "__main__":
    sys.exit(main(__spec__.name, QUESTIONS, EXPECTED, sys.argv[1:]))
