# SPDX-License-Identifier: Apache-2.0
"""Virtual memory management: reservations, physical memory, mappings, access, descriptors."""

import ctypes
import os

import pytest

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, NOT_SUPPORTED = 0, 1, 2, 101, 801
NONE, READ, READ_WRITE = 0, 1, 3
UNIT = 2 << 20
POSIX_FD = 1

pytestmark = pytest.mark.usefixtures("emulated")


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Properties(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", Location),
        ("security", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class Access(ctypes.Structure):
    _fields_ = (("location", Location), ("flags", ctypes.c_int))


def properties(location=(1, 0), handle_types=0, kind=1):
    return ctypes.byref(Properties(kind, handle_types, Location(*location)))


def access(flags=READ_WRITE, location=(1, 0)):
    return ctypes.byref(Access(Location(*location), flags))


class Space:
    """Reservations, memory and mappings of one test; all are released at its end."""

    def __init__(self, driver):
        self.driver = driver
        self.reservations, self.handles, self.mappings = {}, [], {}

    def reserve(self, size=UNIT, alignment=0, hint=0):
        at = self.driver.output("cuMemAddressReserve", size, alignment, hint, 0)
        self.reservations[at] = size
        return at

    def create(self, size=UNIT, **options):
        handle = self.driver.output("cuMemCreate", size, properties(**options), 0)
        self.handles.append(handle)
        return handle

    def map(self, at, handle, size=UNIT):
        assert self.driver.cuMemMap(at, size, 0, handle, 0) == SUCCESS
        self.mappings[at] = size

    def mapped(self, flags=READ_WRITE, size=UNIT):
        at = self.reserve(size)
        self.map(at, self.create(size), size)
        if flags is not None:
            assert self.driver.cuMemSetAccess(at, size, access(flags), 1) == SUCCESS
        return at

    def release(self, handle):
        self.handles.remove(handle)
        return self.driver.cuMemRelease(handle)

    def unmap(self, at):
        return self.driver.cuMemUnmap(at, self.mappings.pop(at))

    def close(self):
        for at in list(self.mappings):
            assert self.unmap(at) == SUCCESS
        for handle in list(self.handles):
            assert self.release(handle) == SUCCESS
        for at, size in self.reservations.items():
            assert self.driver.cuMemAddressFree(at, size) == SUCCESS


@pytest.fixture
def space(driver):
    new_space = Space(driver)
    yield new_space
    driver.cuCtxSynchronize()
    new_space.close()


def free_bytes(driver):
    out = (ctypes.c_size_t * 2)()
    assert driver.cuMemGetInfo(ctypes.byref(out), ctypes.byref(out, 8)) == SUCCESS
    return out[0]


class TestMemory:
    def test_a_kernel_and_copies_use_it(self, driver, space):
        at = space.mapped()
        store = driver.kernel("store")
        kernel_arguments = ctypes.c_uint64(at), ctypes.c_uint32(7)
        assert driver.launch(store, *kernel_arguments, block=(4, 1, 1)) == SUCCESS
        assert driver.read(at, 4) == [7] * 4
        assert driver.cuMemsetD8(at, 0x11, UNIT) == SUCCESS
        assert driver.read(at + UNIT - 4) == [0x11111111]

    @pytest.mark.cuda_expect_fault("destroyed-handle")
    def test_memory_lives_while_it_is_mapped_and_is_freed_after(self, driver, space):
        before = free_bytes(driver)
        at = space.reserve()
        handle = space.create()
        assert free_bytes(driver) == before - UNIT
        space.map(at, handle)
        assert space.release(handle) == SUCCESS
        assert free_bytes(driver) == before - UNIT
        assert driver.cuMemRelease(handle) == INVALID_VALUE
        assert space.unmap(at) == SUCCESS
        assert free_bytes(driver) == before

    def test_device_memory_is_limited(self, driver):
        code = driver.cuMemCreate(ctypes.byref(ctypes.c_uint64()), 1 << 45, properties(), 0)
        assert code == OUT_OF_MEMORY

    @pytest.mark.parametrize(
        ("size", "options", "code"),
        [
            (UNIT - 1, {}, INVALID_VALUE),
            (0, {}, INVALID_VALUE),
            (UNIT, {"kind": 2}, NOT_SUPPORTED),
            (UNIT, {"kind": 9}, INVALID_VALUE),
            (UNIT, {"location": (1, 99)}, INVALID_DEVICE),
            (UNIT, {"location": (0, 0)}, INVALID_VALUE),
            (UNIT, {"handle_types": 2}, NOT_SUPPORTED),
        ],
    )
    def test_wrong_properties_are_refused(self, driver, size, options, code):
        out = ctypes.byref(ctypes.c_uint64())
        assert driver.cuMemCreate(out, size, properties(**options), 0) == code

    def test_the_granularity_is_returned(self, driver):
        for option in (0, 1):
            assert driver.output("cuMemGetAllocationGranularity", properties(), option) == UNIT
        out = ctypes.byref(ctypes.c_size_t())
        assert driver.cuMemGetAllocationGranularity(out, properties(), 7) == INVALID_VALUE

    def test_a_mapping_returns_its_handle(self, driver, space):
        at = space.mapped()
        second = driver.output("cuMemRetainAllocationHandle", at + 5)
        assert second == space.handles[0]
        assert driver.cuMemRelease(second) == SUCCESS
        out = Properties()
        assert driver.cuMemGetAllocationPropertiesFromHandle(ctypes.byref(out), second) == SUCCESS
        assert (out.type, out.location.type, out.location.id) == (1, 1, 0)

    def test_memory_without_a_handle_gets_a_new_one(self, driver, space):
        at = space.mapped()
        assert space.release(space.handles[0]) == SUCCESS
        new_handle = driver.output("cuMemRetainAllocationHandle", at)
        second = space.reserve()
        space.map(second, new_handle)
        assert driver.cuMemSetAccess(second, UNIT, access(), 1) == SUCCESS
        assert driver.cuMemsetD32(at, 5, 1) == SUCCESS
        assert driver.read(second) == [5]
        assert driver.cuMemRelease(new_handle) == SUCCESS


class TestReservations:
    def test_a_hint_and_an_alignment_are_respected(self, driver, space):
        at = space.reserve(4 * UNIT, alignment=1 << 30)
        assert at % (1 << 30) == 0
        far = at + (1 << 30)
        assert space.reserve(UNIT, hint=far) == far
        assert space.reserve(UNIT, hint=far) != far

    def test_addresses_are_reused(self, driver):
        for _ in range(3):
            at = driver.output("cuMemAddressReserve", 60 << 30, 0, 0, 0)
            code = driver.cuMemAddressReserve(ctypes.byref(ctypes.c_uint64()), 60 << 30, 0, 0, 0)
            assert code == OUT_OF_MEMORY
            assert driver.cuMemAddressFree(at, 60 << 30) == SUCCESS

    @pytest.mark.parametrize(
        ("size", "alignment", "flags"), [(UNIT + 1, 0, 0), (0, 0, 0), (UNIT, 3, 0), (UNIT, 0, 1)]
    )
    def test_invalid_reservations_are_refused(self, driver, size, alignment, flags):
        out = ctypes.byref(ctypes.c_uint64())
        assert driver.cuMemAddressReserve(out, size, alignment, 0, flags) == INVALID_VALUE

    def test_only_whole_and_empty_reservations_are_freed(self, driver, space):
        at = space.reserve(2 * UNIT)
        assert driver.cuMemAddressFree(at, UNIT) == INVALID_VALUE
        assert driver.cuMemAddressFree(at + UNIT, UNIT) == INVALID_VALUE
        space.map(at, space.create())
        assert driver.cuMemAddressFree(at, 2 * UNIT) == INVALID_VALUE

    def test_reserved_addresses_are_not_accessible(self, driver, space):
        assert driver.cuMemsetD8(space.reserve(), 0, 16) == INVALID_VALUE


class TestMappings:
    def test_adjacent_mappings_are_one_range_to_a_copy(self, driver, space):
        at = space.reserve(
            3 * UNIT
        )  # the addresses after the mappings belong to no other allocation
        space.map(at, space.create())
        space.map(at + UNIT, space.create())
        assert driver.cuMemSetAccess(at, 2 * UNIT, access(), 1) == SUCCESS
        assert driver.cuMemsetD32(at + UNIT - 8, 9, 4) == SUCCESS
        assert driver.read(at + UNIT - 8, 4) == [9] * 4
        assert driver.cuMemsetD8(at + UNIT, 0, UNIT + 1) == INVALID_VALUE

    def test_two_mappings_of_one_memory_show_the_same_bytes(self, driver, space):
        handle, first, second = space.create(), space.reserve(), space.reserve()
        for at in (first, second):
            space.map(at, handle)
            assert driver.cuMemSetAccess(at, UNIT, access(), 1) == SUCCESS
        assert driver.cuMemsetD32(first, 3, 1) == SUCCESS
        assert driver.read(second) == [3]

    def test_invalid_mappings_are_refused(self, driver, space):
        at, handle = space.reserve(2 * UNIT), space.create()
        assert driver.cuMemMap(at, UNIT, UNIT, handle, 0) == INVALID_VALUE
        assert driver.cuMemMap(at, UNIT, 0, handle, 1) == INVALID_VALUE
        assert driver.cuMemMap(at, 2 * UNIT, 0, handle, 0) == INVALID_VALUE
        assert driver.cuMemMap(at + 4096, UNIT, 0, handle, 0) == INVALID_VALUE
        assert driver.cuMemMap(at + (8 << 30), UNIT, 0, handle, 0) == INVALID_VALUE
        assert driver.cuMemMap(at, UNIT, 0, 12345, 0) == INVALID_VALUE
        space.map(at, handle)
        assert driver.cuMemMap(at, UNIT, 0, handle, 0) == INVALID_VALUE
        assert driver.cuMemUnmap(at, UNIT // 2) == INVALID_VALUE
        assert driver.cuMemUnmap(at + UNIT, UNIT) == INVALID_VALUE

    def test_a_mapping_is_not_freed_as_an_allocation(self, driver, space, stream):
        at = space.mapped()
        assert driver.cuMemFree(at) == INVALID_VALUE
        assert driver.cuMemFreeAsync(at, stream) == INVALID_VALUE

    def test_a_new_mapping_at_the_same_address_has_its_own_memory(self, driver, space):
        at = space.mapped()
        assert driver.cuMemsetD32(at, 1, 1) == SUCCESS
        assert driver.cuCtxSynchronize() == SUCCESS
        assert space.unmap(at) == SUCCESS
        space.map(at, space.create())
        assert driver.cuMemSetAccess(at, UNIT, access(), 1) == SUCCESS
        assert driver.read(at) != [1]


class TestAccess:
    def test_there_is_no_access_at_first(self, driver, space):
        at = space.mapped(flags=None)
        assert driver.cuMemsetD8(at, 0, 16) == INVALID_VALUE
        assert driver.output("cuMemGetAccess", ctypes.byref(Location(1, 0)), at) == NONE

    @pytest.mark.parametrize("flags", [NONE, READ, READ_WRITE])
    def test_access_is_returned(self, driver, space, flags):
        at = space.mapped(flags=flags)
        assert driver.output("cuMemGetAccess", ctypes.byref(Location(1, 0)), at) == flags

    @pytest.mark.cuda_expect_fault("read-only")
    def test_a_kernel_may_not_write_read_only_memory(self, driver, space):
        at = space.mapped(flags=READ)
        assert len(driver.read(at, 4)) == 4
        store = driver.kernel("store")
        driver.launch(store, ctypes.c_uint64(at), ctypes.c_uint32(7))
        assert driver.cuCtxSynchronize() != SUCCESS

    @pytest.mark.cuda_expect_fault("use-after-free")
    def test_a_kernel_does_not_reach_unmapped_memory(self, driver, space):
        at = space.mapped()
        assert space.unmap(at) == SUCCESS
        driver.launch(driver.kernel("store"), ctypes.c_uint64(at), ctypes.c_uint32(7))
        assert driver.cuCtxSynchronize() != SUCCESS

    def test_the_host_reaches_host_memory_only(self, driver, space):
        on_device = space.mapped()
        host = access(location=(2, 0))
        assert driver.cuMemSetAccess(on_device, UNIT, host, 1) == NOT_SUPPORTED
        at = space.reserve()
        space.map(at, space.create(location=(2, 0)))
        assert driver.cuMemSetAccess(at, UNIT, host, 1) == SUCCESS
        assert driver.cuMemSetAccess(at, UNIT, access(), 1) == SUCCESS
        ctypes.memset(at, 6, 16)
        assert driver.read(at) == [0x06060606]
        assert driver.output("cuMemGetAccess", ctypes.byref(Location(2, 0)), at) == READ_WRITE

    def test_wrong_locations_are_refused_before_any_is_set(self, driver, space):
        at = space.mapped(flags=None)
        both = (Access * 2)(Access(Location(1, 0), READ), Access(Location(1, 0), 2))
        assert driver.cuMemSetAccess(at, UNIT, both, 2) == INVALID_VALUE
        assert driver.output("cuMemGetAccess", ctypes.byref(Location(1, 0)), at) == NONE
        assert driver.cuMemSetAccess(at + UNIT, UNIT, access(), 1) == INVALID_VALUE


class TestDescriptors:
    def exported(self, driver, handle):
        out = ctypes.c_int(-1)
        function = driver.cuMemExportToShareableHandle
        assert function(ctypes.byref(out), handle, POSIX_FD, 0) == SUCCESS
        return out.value

    def test_memory_is_imported_from_a_descriptor(self, driver, space):
        handle = space.create(handle_types=POSIX_FD)
        descriptor = self.exported(driver, handle)
        imported = driver.output("cuMemImportFromShareableHandle", descriptor, POSIX_FD)
        os.close(descriptor)
        space.handles.append(imported)
        for at, memory in ((space.reserve(), handle), (space.reserve(), imported)):
            space.map(at, memory)
            assert driver.cuMemSetAccess(at, UNIT, access(), 1) == SUCCESS
        first, second = space.mappings
        assert driver.cuMemsetD32(first, 4, 1) == SUCCESS
        assert driver.read(second) == [4]

    def test_only_memory_created_for_export_is_exported(self, driver, space):
        out = ctypes.byref(ctypes.c_int())
        function = driver.cuMemExportToShareableHandle
        assert function(out, space.create(), POSIX_FD, 0) == INVALID_VALUE

    def test_imported_memory_is_not_exported_again(self, driver, space):
        """An H100 with driver 580 answers the same."""
        descriptor = self.exported(driver, space.create(handle_types=POSIX_FD))
        imported = driver.output("cuMemImportFromShareableHandle", descriptor, POSIX_FD)
        os.close(descriptor)
        space.handles.append(imported)
        out = ctypes.byref(ctypes.c_int())
        assert driver.cuMemExportToShareableHandle(out, imported, POSIX_FD, 0) == INVALID_VALUE

    def test_another_descriptor_is_refused(self, driver):
        out = ctypes.byref(ctypes.c_uint64())
        with open(os.devnull) as file:
            code = driver.cuMemImportFromShareableHandle(out, file.fileno(), POSIX_FD)
        assert code == INVALID_VALUE
        assert driver.cuMemImportFromShareableHandle(out, 9999, POSIX_FD) == INVALID_VALUE

    def test_no_descriptor_is_leaked(self, driver):
        before = len(os.listdir("/proc/self/fd"))
        handle = driver.output("cuMemCreate", UNIT, properties(handle_types=POSIX_FD), 0)
        os.close(self.exported(driver, handle))
        assert driver.cuMemRelease(handle) == SUCCESS
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_leak_is_listed(driver, space, emulated):
    space.mapped()
    kinds = [leak.kind for leak in emulated.leaks()]
    assert {"physical memory", "address reservation", "mapped memory"} <= set(kinds)
