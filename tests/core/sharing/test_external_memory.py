# SPDX-License-Identifier: Apache-2.0
"""Memory and semaphores of other APIs, by file descriptor: accepted, or refused without a leak.

Vulkan is not available here: the memory is exported from CUDA itself.
"""

import errno
import os

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import VirtualMemoryResource, emulation

SIZE = 2 << 20
POSIX = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
REFUSALS = ("INVALID_VALUE", "INVALID_HANDLE", "NOT_SUPPORTED", "OPERATING_SYSTEM", "UNKNOWN")


def name_of(result):
    return result[0].name.removeprefix("CUDA_ERROR_")


@pytest.fixture
def exported(device, stream):
    """Memory with a pattern, and a file descriptor of it."""
    resource = VirtualMemoryResource(device, {"handle_type": "posix_fd"})
    with resource.allocate(SIZE, stream=stream) as buffer:
        buffer.fill(0x5A, stream=stream)
        stream.sync()
        code, allocation = driver.cuMemRetainAllocationHandle(int(buffer.handle))
        assert code == 0
        code, descriptor = driver.cuMemExportToShareableHandle(allocation, POSIX, 0)
        assert code == 0
        assert driver.cuMemRelease(allocation)[0] == 0
        yield buffer, int(descriptor)


def memory_of(descriptor):
    kind = driver.CUexternalMemoryHandleType
    desc = driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC()
    desc.type = kind.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
    desc.handle.fd, desc.size = descriptor, SIZE
    return driver.cuImportExternalMemory(desc)


def close_remaining(descriptor, inode):
    """Close a refused descriptor unless the driver did so: a CUDA 13.0 driver closes some."""
    try:
        is_ours = os.fstat(descriptor).st_ino == inode
    except OSError as error:
        assert error.errno == errno.EBADF and not emulation.is_active()
        return
    assert is_ours
    os.close(descriptor)


def test_memory_is_shared_or_its_descriptor_stays_open(exported, stream):
    buffer, descriptor = exported
    inode = os.fstat(descriptor).st_ino
    result = memory_of(descriptor)
    if emulation.is_active():
        assert name_of(result) == "NOT_SUPPORTED"
    if name_of(result) != "CUDA_SUCCESS":
        assert name_of(result) in REFUSALS
        close_remaining(descriptor, inode)
        return
    buffer_desc = driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC()
    buffer_desc.offset, buffer_desc.size = 0, SIZE
    code, address = driver.cuExternalMemoryGetMappedBuffer(result[1], buffer_desc)
    assert code == 0
    back = np.zeros(SIZE, np.uint8)
    assert driver.cuMemcpyDtoH(back.ctypes.data, address, SIZE)[0] == 0
    assert set(back) == {0x5A}
    assert driver.cuMemsetD8(address, 7, SIZE)[0] == 0
    assert driver.cuCtxSynchronize()[0] == 0  # the stream does not wait for the default stream
    buffer.copy_to(back, stream=stream)
    stream.sync()
    assert set(back) == {7}
    assert driver.cuMemFree(address)[0] == 0
    assert driver.cuDestroyExternalMemory(result[1])[0] == 0


def test_an_invalid_memory_or_semaphore_is_refused():
    """An H200 closed the descriptor of memory that it refused, so both get a duplicate."""
    reader, writer = os.pipe()
    pipe = os.fstat(reader).st_ino
    semaphore = driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC()
    kind = driver.CUexternalSemaphoreHandleType
    semaphore.type = kind.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
    lent = [os.dup(reader), os.dup(writer)]
    semaphore.handle.fd = lent[1]
    assert name_of(memory_of(lent[0])) in REFUSALS
    assert name_of(driver.cuImportExternalSemaphore(semaphore)) in REFUSALS
    for descriptor in lent:
        close_remaining(descriptor, pipe)
    assert os.write(writer, b"x") == 1 and os.read(reader, 1) == b"x"
    os.close(reader)
    os.close(writer)


def test_a_descriptor_stores_its_fields():
    signal = driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS()
    signal.params.fence.value, signal.flags = 1 << 40, 1
    assert (signal.params.fence.value, signal.flags) == (1 << 40, 1)
    image = driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC()
    image.arrayDesc.Width, image.numLevels = 640, 3
    assert (image.arrayDesc.Width, image.numLevels) == (640, 3)
