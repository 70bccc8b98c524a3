# SPDX-License-Identifier: Apache-2.0
"""Results of the driver's calls that share memory with other processes, and the emulator's extra
checks."""

import ctypes
import os

import pytest
from cuda.bindings import driver as low

SUCCESS, INVALID_VALUE, INVALID_CONTEXT, INVALID_HANDLE, NOT_SUPPORTED = 0, 1, 201, 400, 801
DEVICE, HOST, HOST_NUMA = 1, 2, 3
POSIX_FD, WIN32 = 1, 2

pytestmark = pytest.mark.usefixtures("emulated")


def pool_properties(place=DEVICE, handles=POSIX_FD):
    props = low.CUmemPoolProps()
    props.allocType = low.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    props.handleTypes = low.CUmemAllocationHandleType(handles)
    props.location.type = low.CUmemLocationType(place)
    props.location.id = 0
    return props


@pytest.fixture
def make_pool(driver):
    """Create pools that other processes can import; all are destroyed at the end."""
    created = []

    def make(**options):
        code, pool = low.cuMemPoolCreate(pool_properties(**options))
        if code == SUCCESS:
            created.append(pool)
        return int(code), pool

    yield make
    for pool in created:
        assert low.cuMemPoolDestroy(pool)[0] == SUCCESS


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, SUCCESS),
        ({"place": HOST_NUMA}, SUCCESS),
        ({"place": HOST}, INVALID_VALUE),
        ({"handles": WIN32}, NOT_SUPPORTED),
    ],
    ids=["device", "host node", "host", "another kind of handle"],
)
def test_which_pools_can_be_shared(make_pool, options, code):
    assert make_pool(**options)[0] == code


def test_the_device_reports_its_capabilities(driver):
    attribute = low.CUdevice_attribute
    for name, value in (
        ("MEMPOOL_SUPPORTED_HANDLE_TYPES", POSIX_FD),
        ("IPC_EVENT_SUPPORTED", 1),
    ):
        attribute_id = getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        assert low.cuDeviceGetAttribute(attribute_id, 0) == (SUCCESS, value)


class TestPools:
    KIND = low.CUmemAllocationHandleType(POSIX_FD)

    def test_a_pool_created_without_handles_is_not_exported(self, make_pool):
        _, pool = make_pool(handles=0)
        assert low.cuMemPoolExportToShareableHandle(pool, self.KIND, 0)[0] == INVALID_VALUE

    def test_flags_and_other_handle_types_are_refused(self, make_pool):
        _, pool = make_pool()
        other = low.CUmemAllocationHandleType(WIN32)
        assert low.cuMemPoolExportToShareableHandle(pool, other, 0)[0] == INVALID_VALUE
        assert low.cuMemPoolExportToShareableHandle(pool, self.KIND, 1)[0] == INVALID_VALUE

    def test_the_exporting_process_does_not_import_the_pool(self, make_pool):
        _, pool = make_pool()
        _, descriptor = low.cuMemPoolExportToShareableHandle(pool, self.KIND, 0)
        code, _ = low.cuMemPoolImportFromShareableHandle(descriptor, self.KIND, 0)
        os.close(descriptor)
        assert code == INVALID_VALUE
        assert low.cuMemPoolImportFromShareableHandle(descriptor, self.KIND, 0)[0] == INVALID_VALUE

    def test_an_unrelated_file_is_refused(self, driver, tmp_path):
        for path in (os.devnull, tmp_path / "file"):
            with open(path, "w+") as file:
                code, _ = low.cuMemPoolImportFromShareableHandle(file.fileno(), self.KIND, 0)
            assert code == INVALID_VALUE
        memory = os.memfd_create("garbage", os.MFD_ALLOW_SEALING)
        os.write(memory, b"halfwarp-pool-1\0" + bytes(4096))
        assert low.cuMemPoolImportFromShareableHandle(memory, self.KIND, 0)[0] == INVALID_VALUE
        os.close(memory)

    def test_only_memory_of_the_pool_is_exported(self, driver, make_pool):
        _, pool = make_pool()
        _, shared = low.cuMemAllocFromPoolAsync(100, pool, 0)
        _, plain = low.cuMemAlloc(100)
        os.close(low.cuMemPoolExportToShareableHandle(pool, self.KIND, 0)[1])
        assert low.cuMemPoolExportPointer(shared)[0] == SUCCESS
        assert low.cuMemPoolExportPointer(int(shared) + 4)[0] == INVALID_VALUE
        assert low.cuMemPoolExportPointer(plain)[0] == INVALID_VALUE
        data = low.cuMemPoolExportPointer(shared)[1]
        assert low.cuMemPoolImportPointer(pool, data)[0] == INVALID_VALUE
        requested = low.CUpointer_attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
        assert low.cuPointerGetAttribute(requested, shared) == (SUCCESS, POSIX_FD)
        assert low.cuPointerGetAttribute(requested, plain) == (SUCCESS, 0)
        low.cuMemFreeAsync(shared, 0)
        low.cuMemFree(plain)

    def test_a_pool_is_exported_before_its_memory(self, driver, make_pool):
        """An H200 with a driver of CUDA 13.0 behaves like this."""
        _, pool = make_pool()
        _, memory = low.cuMemAllocFromPoolAsync(100, pool, 0)
        assert low.cuMemPoolExportPointer(memory)[0] == INVALID_VALUE
        os.close(low.cuMemPoolExportToShareableHandle(pool, self.KIND, 0)[1])
        assert low.cuMemPoolExportPointer(memory)[0] == SUCCESS
        low.cuMemFreeAsync(memory, 0)

    @pytest.mark.parametrize("place", [HOST, HOST_NUMA])
    def test_host_memory_needs_access_for_devices(self, driver, make_pool, place):
        """Without access, an H200 fails with `invalid memset range - no allocation found`."""
        _, pool = make_pool(place=place, handles=0)
        first, later = (low.cuMemAllocFromPoolAsync(100, pool, 0)[1] for _ in range(2))
        low.cuCtxSynchronize()
        address = low.CUmemLocation()
        address.type = low.CUmemLocationType(DEVICE)
        assert low.cuMemPoolGetAccess(pool, address) == (SUCCESS, 0)
        assert low.cuMemsetD8(first, 1, 100)[0] == INVALID_VALUE
        access = low.CUmemAccessDesc()
        access.location = address
        access.flags = low.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        assert low.cuMemPoolSetAccess(pool, [access], 1)[0] == SUCCESS
        assert low.cuMemPoolGetAccess(pool, address) == (SUCCESS, 3)
        _, newer = low.cuMemAllocFromPoolAsync(100, pool, 0)
        for each in (first, later, newer):
            assert low.cuMemsetD8(each, 1, 100)[0] == SUCCESS
            assert low.cuMemFreeAsync(each, 0)[0] == SUCCESS

    def test_neighboring_allocations_share_no_page_and_accesses_are_checked(
        self, driver, make_pool
    ):
        _, pool = make_pool()
        one, other = (int(low.cuMemAllocFromPoolAsync(100, pool, 0)[1]) for _ in range(2))
        assert abs(one - other) >= 4096
        assert low.cuMemsetD8(one, 1, 100)[0] == SUCCESS
        assert low.cuMemsetD8(one, 1, 101)[0] == INVALID_VALUE
        for each in (one, other):
            assert low.cuMemFreeAsync(each, 0)[0] == SUCCESS
        assert low.cuCtxSynchronize()[0] == SUCCESS

    def test_memory_is_counted_and_freed(self, driver, make_pool):
        _, pool = make_pool()
        low.cuCtxSynchronize()  # pools free the blocks of earlier tests
        before = low.cuMemGetInfo()
        _, memory = low.cuMemAllocFromPoolAsync(64 << 20, pool, 0)
        assert low.cuMemGetInfo()[1] <= before[1] - (64 << 20)
        low.cuMemFreeAsync(memory, 0)
        low.cuCtxSynchronize()
        assert low.cuMemGetInfo() == before


class TestEvents:
    def test_only_interprocess_events_have_a_handle(self, driver):
        _, plain = low.cuEventCreate(2)
        assert low.cuIpcGetEventHandle(plain)[0] == INVALID_HANDLE
        low.cuEventDestroy(plain)
        assert low.cuEventCreate(4)[0] == INVALID_VALUE

    def test_the_exporting_process_does_not_open_the_event(self, driver):
        _, event = low.cuEventCreate(6)
        _, handle = low.cuIpcGetEventHandle(event)
        assert low.cuIpcOpenEventHandle(handle)[0] == INVALID_CONTEXT
        low.cuEventDestroy(event)

    def test_garbage_is_none(self, driver):
        assert low.cuIpcOpenEventHandle(low.CUipcEventHandle())[0] == INVALID_HANDLE

    def test_recording_and_querying_work_as_for_any_event(self, driver):
        _, event = low.cuEventCreate(6)
        assert low.cuEventQuery(event)[0] == SUCCESS
        assert low.cuEventRecord(event, 0)[0] == SUCCESS
        assert low.cuStreamWaitEvent(0, event, 0)[0] == SUCCESS
        assert low.cuEventSynchronize(event)[0] == SUCCESS
        assert low.cuEventQuery(event)[0] == SUCCESS
        low.cuEventDestroy(event)


class TestMemoryHandles:
    def test_memory_of_this_process_is_not_opened_here(self, driver):
        _, memory = low.cuMemAlloc(100)
        _, handle = low.cuIpcGetMemHandle(memory)
        assert low.cuIpcOpenMemHandle(handle, 1)[0] == INVALID_CONTEXT
        assert low.cuIpcOpenMemHandle(handle, 0)[0] == INVALID_VALUE
        assert low.cuIpcCloseMemHandle(memory)[0] == INVALID_VALUE
        low.cuMemFree(memory)

    def test_pool_memory_has_no_handle(self, driver):
        _, memory = low.cuMemAllocAsync(100, 0)
        assert low.cuIpcGetMemHandle(memory)[0] == INVALID_VALUE
        low.cuMemFreeAsync(memory, 0)

    def test_garbage_is_none(self, driver):
        handle = low.CUipcMemHandle()
        ctypes.memset(handle.getPtr(), 0x41, 64)
        assert low.cuIpcOpenMemHandle(handle, 1)[0] == INVALID_HANDLE
