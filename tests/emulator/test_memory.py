# SPDX-License-Identifier: Apache-2.0
"""Allocations, pools, pinned and registered memory, and pointer attributes."""

import ctypes
import mmap

import pytest

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY = 0, 1, 2
ALREADY_REGISTERED, NOT_REGISTERED = 712, 713
MEMORY_TYPE, HOST_POINTER, IS_MANAGED, ORDINAL, RANGE_START, RANGE_SIZE, POOL = (
    2,
    4,
    8,
    9,
    11,
    12,
    17,
)
HOST, DEVICE = 1, 2
THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = 4, 5, 6, 7, 8
MIB = 1 << 20

expect_double_free = pytest.mark.cuda_expect_fault("double-free")


class PoolProps(ctypes.Structure):
    _fields_ = (
        ("allocation_type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location_type", ctypes.c_int),
        ("location_id", ctypes.c_int),
        ("security", ctypes.c_void_p),
        ("max_size", ctypes.c_size_t),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 54),
    )


def pool_props(location_type=1, allocation_type=1, **args):
    return ctypes.byref(PoolProps(allocation_type, 0, location_type, 0, **args))


def attribute_of(driver, address, attribute_id, kind=ctypes.c_uint64):
    out = kind()
    assert driver.cuPointerGetAttribute(ctypes.byref(out), attribute_id, address) == SUCCESS
    return out.value


def pool_attribute(driver, pool, kind):
    out = ctypes.c_uint64()
    assert driver.cuMemPoolGetAttribute(pool, kind, ctypes.byref(out)) == SUCCESS
    return out.value


@pytest.fixture
def pool(driver):
    new_pool = driver.output("cuMemPoolCreate", pool_props())
    yield new_pool
    driver.cuCtxSynchronize()
    driver.cuMemPoolDestroy(new_pool)


class TestAllocations:
    def test_free_memory_decreases_and_increases(self, driver):
        """Memory retained by the pools of a context would leave nothing to allocate."""
        driver.cuMemPoolTrimTo(driver.output("cuDeviceGetDefaultMemPool", 0), 0)

        def free():
            out = (ctypes.c_size_t * 2)()
            assert driver.cuMemGetInfo(ctypes.byref(out), ctypes.byref(out, 8)) == SUCCESS
            return out[0]

        before = free()
        used = (
            before // 4
        )  # other processes may use the device: require only half of the difference
        address = driver.output("cuMemAlloc", used)
        during = free()
        assert during <= before - used // 2
        assert driver.cuMemFree(address) == SUCCESS
        assert free() >= during + used // 2

    @expect_double_free
    def test_a_second_free_is_refused(self, driver):
        address = driver.output("cuMemAlloc", 64)
        assert driver.cuMemFree(address) == SUCCESS
        assert driver.cuMemFree(address) == INVALID_VALUE

    def test_freeing_null_does_nothing(self, driver):
        assert driver.cuMemFree(0) == SUCCESS

    def test_freeing_the_middle_is_refused(self, driver):
        address = driver.output("cuMemAlloc", 1024)
        assert driver.cuMemFree(address + 512) == INVALID_VALUE
        assert driver.cuMemFree(address) == SUCCESS

    def test_the_end_of_an_allocation_is_exact(self, driver, emulated):
        address = driver.output("cuMemAlloc", 100)
        data = (ctypes.c_ubyte * 101)()
        assert driver.cuMemcpyHtoD(address, data, 100) == SUCCESS
        assert driver.cuMemcpyHtoD(address, data, 101) == INVALID_VALUE
        assert driver.cuMemcpyDtoH(data, address + 99, 2) == INVALID_VALUE
        assert driver.cuMemsetD8(address + 1, 0, 100) == INVALID_VALUE
        assert "the nearest allocation" in emulated.error_text(INVALID_VALUE)
        driver.cuMemFree(address)

    def test_fresh_memory_is_not_zero(self, driver, emulated):
        address = driver.output("cuMemAlloc", 64)
        assert all(word != 0 for word in driver.read(address, 16))
        driver.cuMemFree(address)

    @pytest.mark.parametrize(
        ("bits", "kind"), [(8, ctypes.c_uint8), (16, ctypes.c_uint16), (32, ctypes.c_uint32)]
    )
    def test_memset_fills_elements(self, driver, bits, kind):
        address = driver.output("cuMemAlloc", 64)
        value = 0x89ABCDEF & (1 << bits) - 1
        assert driver.cuMemsetD8(address, 0, 64) == SUCCESS
        assert getattr(driver, f"cuMemsetD{bits}")(address + 8, value, 5) == SUCCESS
        assert driver.read(address + 8, 6, kind) == [value] * 5 + [0]
        driver.cuMemFree(address)

    def test_a_copy_infers_locations_from_the_addresses(self, driver):
        first, second = driver.output("cuMemAlloc", 16), driver.output("cuMemAlloc", 16)
        source_words, target_words = (ctypes.c_uint32 * 4)(1, 2, 3, 4), (ctypes.c_uint32 * 4)()
        assert driver.cuMemcpy(first, ctypes.addressof(source_words), 16) == SUCCESS
        assert driver.cuMemcpy(second, first, 16) == SUCCESS
        assert driver.cuMemcpy(ctypes.addressof(target_words), second, 16) == SUCCESS
        assert list(target_words) == [1, 2, 3, 4]
        driver.cuMemFree(first)
        driver.cuMemFree(second)

    def test_memset_needs_an_aligned_address(self, driver):
        address = driver.output("cuMemAlloc", 64)
        assert driver.cuMemsetD32(address + 2, 0, 1) == INVALID_VALUE
        driver.cuMemFree(address)


class TestPools:
    def test_attributes_follow_allocations(self, driver, pool, stream):
        first = driver.output("cuMemAllocFromPoolAsync", MIB, pool, stream)
        second = driver.output("cuMemAllocFromPoolAsync", MIB, pool, stream)
        assert pool_attribute(driver, pool, USED) == 2 * MIB
        assert pool_attribute(driver, pool, RESERVED) >= 2 * MIB
        driver.cuMemFreeAsync(first, stream)
        driver.cuStreamSynchronize(stream)
        assert pool_attribute(driver, pool, USED) == MIB
        assert pool_attribute(driver, pool, USED_HIGH) == 2 * MIB
        driver.cuMemFreeAsync(second, stream)
        driver.cuStreamSynchronize(stream)
        assert pool_attribute(driver, pool, USED) == 0
        assert pool_attribute(driver, pool, RESERVED) == 0

    def test_the_threshold_retains_memory(self, driver, pool, stream):
        keep = ctypes.c_uint64(2**64 - 1)
        assert driver.cuMemPoolSetAttribute(pool, THRESHOLD, ctypes.byref(keep)) == SUCCESS
        driver.cuMemFreeAsync(
            driver.output("cuMemAllocFromPoolAsync", 8 * MIB, pool, stream), stream
        )
        driver.cuStreamSynchronize(stream)
        assert pool_attribute(driver, pool, RESERVED) >= 8 * MIB
        assert driver.cuMemPoolTrimTo(pool, 0) == SUCCESS
        assert pool_attribute(driver, pool, RESERVED) == 0

    def test_a_high_water_mark_can_be_reset(self, driver, pool, stream):
        driver.cuMemFreeAsync(driver.output("cuMemAllocFromPoolAsync", MIB, pool, stream), stream)
        driver.cuStreamSynchronize(stream)
        one, zero = ctypes.c_uint64(1), ctypes.c_uint64(0)
        assert driver.cuMemPoolSetAttribute(pool, USED_HIGH, ctypes.byref(one)) == INVALID_VALUE
        assert driver.cuMemPoolSetAttribute(pool, USED_HIGH, ctypes.byref(zero)) == SUCCESS
        assert pool_attribute(driver, pool, USED_HIGH) == 0

    def test_a_full_pool_is_out_of_memory(self, driver, stream):
        small = driver.output("cuMemPoolCreate", pool_props(max_size=4 * MIB))
        out = ctypes.c_uint64()
        assert (
            driver.cuMemAllocFromPoolAsync(ctypes.byref(out), 64 * MIB, small, stream)
            == OUT_OF_MEMORY
        )
        driver.cuMemPoolDestroy(small)

    def test_allocations_outlive_their_pool(self, driver, stream):
        doomed = driver.output("cuMemPoolCreate", pool_props())
        address = driver.output("cuMemAllocFromPoolAsync", 64, doomed, stream)
        assert driver.cuMemPoolDestroy(doomed) == SUCCESS
        assert driver.cuMemsetD8Async(address, 1, 64, stream) == SUCCESS
        assert driver.cuMemFreeAsync(address, stream) == SUCCESS
        assert driver.cuStreamSynchronize(stream) == SUCCESS

    @expect_double_free
    def test_a_second_queued_free_is_refused(self, driver, stream):
        address = driver.output("cuMemAllocAsync", 64, stream)
        assert driver.cuMemFreeAsync(address, stream) == SUCCESS
        assert driver.cuMemFreeAsync(address, stream) == INVALID_VALUE
        driver.cuStreamSynchronize(stream)

    def test_an_allocation_waits_for_queued_frees(self, driver, stream, emulated):
        total = driver.output("cuDeviceTotalMem", 0)
        for _ in range(3):
            address = driver.output("cuMemAllocAsync", total * 3 // 4, stream)
            assert driver.cuMemFreeAsync(address, stream) == SUCCESS
        driver.cuStreamSynchronize(stream)

    def test_the_current_pool_of_a_device_can_be_set(self, driver, pool):
        default = driver.output("cuDeviceGetDefaultMemPool", 0)
        assert driver.output("cuDeviceGetMemPool", 0) == default
        assert driver.cuDeviceSetMemPool(0, pool) == SUCCESS
        assert driver.output("cuDeviceGetMemPool", 0) == pool
        assert driver.cuDeviceSetMemPool(0, default) == SUCCESS

    def test_a_host_pool_allocates_memory_that_both_sides_read(self, driver, stream, emulated):
        """A device gets access to such a pool by cuMemPoolSetAccess only."""
        host = driver.output("cuMemPoolCreate", pool_props(location_type=2))
        address = driver.output("cuMemAllocFromPoolAsync", 64, host, stream)
        assert driver.cuMemsetD8Async(address, 7, 64, stream) == INVALID_VALUE
        source = ctypes.create_string_buffer(b"\5" * 64, 64)
        assert driver.cuMemcpyAsync(address, ctypes.addressof(source), 64, stream) == SUCCESS
        driver.cuStreamSynchronize(stream)
        assert ctypes.string_at(address, 64) == b"\5" * 64
        of_device, read_and_write = 1, 3
        access = (ctypes.c_int * 3)(of_device, 0, read_and_write)
        assert driver.cuMemPoolSetAccess(host, access, 1) == SUCCESS
        assert driver.cuMemsetD8Async(address, 7, 64, stream) == SUCCESS
        driver.cuStreamSynchronize(stream)
        assert ctypes.string_at(address, 64) == b"\7" * 64
        driver.cuMemFreeAsync(address, stream)
        driver.cuStreamSynchronize(stream)
        driver.cuMemPoolDestroy(host)


class TestHostMemory:
    def test_pinned_memory_has_one_address_on_both_sides(self, driver):
        address = driver.output("cuMemHostAlloc", 64, 0)
        assert driver.output("cuMemHostGetDevicePointer", address, 0) == address
        assert attribute_of(driver, address, MEMORY_TYPE, ctypes.c_uint) == HOST
        assert driver.cuMemFreeHost(address) == SUCCESS

    def test_pinned_memory_is_freed_by_its_own_function(self, driver, emulated):
        address = driver.output("cuMemAllocHost", 64)
        assert driver.cuMemFree(address) == INVALID_VALUE
        assert "cuMemFreeHost" in emulated.error_text(INVALID_VALUE)
        assert driver.cuMemFreeHost(address) == SUCCESS

    def test_registrations_may_be_adjacent_and_may_not_overlap(self, driver, emulated):
        region = mmap.mmap(-1, 3 * 4096)
        first = ctypes.addressof(ctypes.c_char.from_buffer(region))
        middle = first + 4096
        assert driver.cuMemHostRegister(middle, 4096, 0) == SUCCESS
        for at, size in ((first, 4097), (middle + 4095, 4097), (middle, 1), (first, 3 * 4096)):
            assert driver.cuMemHostRegister(at, size, 0) == ALREADY_REGISTERED
        assert driver.cuMemHostRegister(first, 4096, 0) == SUCCESS
        assert driver.cuMemHostRegister(middle + 4096, 4096, 0) == SUCCESS
        for at in (first, middle, middle + 4096):
            assert attribute_of(driver, at + 8, RANGE_START) == at
            assert driver.cuMemHostUnregister(at) == SUCCESS

    def test_memory_can_be_registered_once(self, driver, emulated):
        memory = mmap.mmap(-1, 8192)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert driver.cuMemHostUnregister(address) == NOT_REGISTERED
        assert driver.cuMemHostUnregister(None) == INVALID_VALUE
        assert driver.cuMemHostRegister(address, 8192, 0) == SUCCESS
        assert driver.cuMemHostRegister(address, 4096, 0) == ALREADY_REGISTERED
        assert driver.cuMemsetD8(address, 3, 16) == SUCCESS
        assert memory[:16] == b"\3" * 16
        assert driver.cuMemHostUnregister(address) == SUCCESS

    def test_managed_memory_is_accessible_to_both_sides(self, driver):
        address = driver.output("cuMemAllocManaged", 64, 1)
        word = ctypes.c_uint32.from_address(address)
        word.value = 5
        store = driver.kernel("store")
        assert driver.launch(store, ctypes.c_uint64(address + 4), ctypes.c_uint32(6)) == SUCCESS
        assert driver.cuCtxSynchronize() == SUCCESS
        assert driver.read(address, 2) == [5, 6]
        assert attribute_of(driver, address, IS_MANAGED, ctypes.c_uint8) == 1
        assert driver.cuMemFree(address) == SUCCESS


class TestPointerAttributes:
    def test_attributes_of_device_memory(self, driver):
        address = driver.output("cuMemAlloc", 1000)
        assert attribute_of(driver, address + 10, MEMORY_TYPE, ctypes.c_uint) == DEVICE
        assert attribute_of(driver, address + 10, RANGE_START) == address
        assert attribute_of(driver, address + 10, RANGE_SIZE) == 1000
        assert attribute_of(driver, address, ORDINAL, ctypes.c_int) == 0
        out = ctypes.c_uint64()
        assert (
            driver.cuPointerGetAttribute(ctypes.byref(out), HOST_POINTER, address) == INVALID_VALUE
        )
        driver.cuMemFree(address)

    def test_attributes_of_pool_memory(self, driver, pool, stream):
        address = driver.output("cuMemAllocFromPoolAsync", 64, pool, stream)
        assert attribute_of(driver, address, POOL) == pool
        driver.cuMemFreeAsync(address, stream)

    def test_host_memory_belongs_to_the_current_device(self, run_emulated):
        done = run_emulated(OF_THE_SECOND_DEVICE, devices=2)
        assert done.stdout.split() == ["1", "1", "1"]

    def test_attributes_of_an_unknown_address_describe_no_memory(self, driver):
        local = ctypes.c_uint64(1)
        values = (ctypes.c_uint64 * 2)(9, 9)
        attribute_ids = (ctypes.c_int * 2)(MEMORY_TYPE, RANGE_SIZE)
        into = (ctypes.c_void_p * 2)(ctypes.addressof(values), ctypes.addressof(values) + 8)
        assert (
            driver.cuPointerGetAttributes(2, attribute_ids, into, ctypes.addressof(local))
            == SUCCESS
        )
        assert values[0] & 0xFFFFFFFF == 0


OF_THE_SECOND_DEVICE = """
import ctypes
from cuda.bindings import driver

driver.cuInit(0)
for device in (0, 1):
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(device)[1])
own = ctypes.create_string_buffer(4096)
registered = ctypes.addressof(own)
driver.cuMemHostRegister(registered, 4096, 0)
pinned, managed = driver.cuMemHostAlloc(64, 0)[1], int(driver.cuMemAllocManaged(64, 1)[1])
attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
for address in (registered, pinned, managed):
    print(driver.cuPointerGetAttribute(attribute, address)[1])
driver.cuMemHostUnregister(registered)
driver.cuMemFreeHost(pinned)
driver.cuMemFree(managed)
"""

THREADS_THAT_FREE = """
import threading
from cuda.bindings import driver
from cuda.core import emulation

driver.cuInit(0)
context = driver.cuDevicePrimaryCtxRetain(0)[1]
driver.cuCtxSetCurrent(context)
failures = []

def work():
    driver.cuCtxSetCurrent(context)
    stream = driver.cuStreamCreate(1)[1]
    for _ in range(1000):  # more blocks than the quarantine holds
        error, address = driver.cuMemAllocAsync(64, stream)
        freed, = driver.cuMemFreeAsync(address, stream)
        if error or freed:
            failures.append((error, freed))
    driver.cuStreamSynchronize(stream)
    driver.cuStreamDestroy(stream)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(failures), len(emulation.leaks()))
"""


@pytest.mark.parametrize("mode", ["async", "eager"])
def test_an_address_is_reused_while_its_former_free_completes(run_emulated, mode):
    """Frees of other threads run between a free and the end of its bookkeeping."""
    assert run_emulated(THREADS_THAT_FREE, mode=mode).stdout.split() == ["0", "0"]
