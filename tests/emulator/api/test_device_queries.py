# SPDX-License-Identifier: Apache-2.0
"""Queries of devices, contexts and code whose answers other calls confirm."""

import ctypes

import pytest

INVALID_VALUE, INVALID_DEVICE, UNSUPPORTED_AFFINITY = 1, 101, 224
MODULE = b""".version 8.0
.target sm_75
.address_size 64
.visible .entry first() { ret; }
.visible .entry second(.param .u8 a, .param .u64 b) { ret; }
"""
DEVICE_LOCATION = ctypes.c_uint64(1)  # a CUmemLocation: type DEVICE, id 0


def last_output(driver, name, *arguments):
    """Return the int that a function puts behind its last argument."""
    out = ctypes.c_int()
    assert getattr(driver, name)(*arguments, ctypes.byref(out)) == 0
    return out.value


class TestDevice:
    def test_the_compute_capability_is_that_of_the_attributes(self, driver):
        major, minor = ctypes.c_int(), ctypes.c_int()
        assert driver.cuDeviceComputeCapability(ctypes.byref(major), ctypes.byref(minor), 0) == 0
        expected = [
            driver.output("cuDeviceGetAttribute", number, 0, kind=ctypes.c_int)
            for number in (75, 76)
        ]
        assert [major.value, minor.value] == expected

    def test_a_short_buffer_receives_the_start_of_the_name(self, driver):
        text = ctypes.create_string_buffer(100)
        assert driver.cuDeviceGetName(text, 100, 0) == 0
        name = text.value
        for room in (1, 2, len(name), len(name) + 1, len(name) + 2):
            text.raw = b"?" * 100
            assert driver.cuDeviceGetName(text, room, 0) == 0
            prefix = name[: room - 1]
            assert text.raw == (prefix + b"\0").ljust(100, b"?")

    def test_the_bus_id_finds_the_device(self, driver):
        text = ctypes.create_string_buffer(20)
        assert driver.cuDeviceGetPCIBusId(text, 20, 0) == 0
        assert driver.output("cuDeviceGetByPCIBusId", text.value, kind=ctypes.c_int) == 0
        domain, bus, rest = text.value.split(b":")
        wrong_ids = [
            b":".join([b"%04x" % (int(domain, 16) + 1), bus, rest]),
            b":".join([domain, b"%02x" % (int(bus, 16) + 99), rest]),
            b":".join([domain, bus, b"01.0"]),
            b":".join([domain, bus]),
            b"",
        ]
        out = ctypes.c_int()
        for other in wrong_ids:
            code = driver.cuDeviceGetByPCIBusId(ctypes.byref(out), other)
            assert code == INVALID_DEVICE, other

    def test_a_context_answers_for_its_device(self, driver):
        for context in (driver.context, None):
            assert driver.output("cuCtxGetDevice_v2", context, kind=ctypes.c_int) == 0
            version = last_output(driver, "cuCtxGetApiVersion", context)
            assert version == last_output(driver, "cuCtxGetApiVersion", driver.context) > 3000
            assert driver.cuCtxSynchronize_v2(context) == 0

    @pytest.mark.usefixtures("emulated")
    def test_a_context_has_no_execution_affinity(self, driver):
        out = ctypes.c_uint64()
        affinity = ctypes.create_string_buffer(64)
        code = driver.cuCtxCreate_v3(ctypes.byref(out), affinity, 1, 0, 0)
        assert code == UNSUPPORTED_AFFINITY
        created = driver.output("cuCtxCreate_v3", None, 0, 2, 0)
        assert driver.output("cuCtxGetFlags", kind=ctypes.c_uint) & 7 == 2
        assert driver.cuCtxDestroy(created) == 0
        parameters = (ctypes.c_uint64 * 4)(ctypes.addressof(affinity), 1)
        code = driver.cuCtxCreate(ctypes.byref(out), parameters, 0, 0)
        assert code == UNSUPPORTED_AFFINITY
        parameters = (ctypes.c_uint64 * 4)(0, 0, ctypes.addressof(affinity))
        code = driver.cuCtxCreate(ctypes.byref(out), parameters, 0, 0)
        assert code == UNSUPPORTED_AFFINITY


class TestPriorities:
    def test_a_priority_beyond_the_range_is_the_nearest_one(self, driver):
        least, greatest = ctypes.c_int(), ctypes.c_int()
        range_of = driver.cuCtxGetStreamPriorityRange
        assert range_of(ctypes.byref(least), ctypes.byref(greatest)) == 0
        requests = (least.value + 1, least.value, greatest.value, greatest.value - 1)
        priorities = []
        for priority in requests:
            stream = driver.output("cuStreamCreateWithPriority", 1, priority)
            priorities.append(last_output(driver, "cuStreamGetPriority", stream))
            driver.cuStreamDestroy(stream)
        assert priorities == [least.value, least.value, greatest.value, greatest.value]


class TestCode:
    @pytest.fixture
    def module(self, driver):
        driver.modules.append(driver.output("cuModuleLoadData", MODULE))
        return driver.modules[-1]

    def test_a_module_counts_its_functions(self, driver, module):
        count = driver.output("cuModuleGetFunctionCount", module, kind=ctypes.c_uint)
        assert count == 2
        for room in (0, 1, 2, 3):
            functions = (ctypes.c_uint64 * 4)()
            assert driver.cuModuleEnumerateFunctions(functions, room, module) == 0
            assert [each != 0 for each in functions] == [i < min(room, 2) for i in range(4)]
            for each in functions[: min(room, 2)]:
                assert driver.output("cuFuncGetModule", each) == module

    def test_parameters_have_offset_and_size(self, driver, module):
        function = driver.output("cuModuleGetFunction", module, b"second")
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        rows = []
        for index in range(2):
            info = (function, index, ctypes.byref(offset), ctypes.byref(size))
            assert driver.cuFuncGetParamInfo(*info) == 0
            rows.append((offset.value, size.value))
            assert driver.cuFuncGetParamInfo(function, index, ctypes.byref(offset), None) == 0
        assert rows == [(0, 1), (8, 8)]

    @pytest.mark.usefixtures("emulated")
    def test_the_emulator_loads_modules_at_once(self, driver):
        assert driver.output("cuModuleGetLoadingMode", kind=ctypes.c_int) == 1


class TestPointers:
    SYNC_MEMOPS, BUFFER_ID = 6, 7

    def test_synchronous_copies_of_an_allocation_can_be_requested(self, driver):
        memory, other = (driver.output("cuMemAlloc", 64) for _ in range(2))

        def is_synchronous(address):
            return driver.output(
                "cuPointerGetAttribute", self.SYNC_MEMOPS, address, kind=ctypes.c_bool
            )

        for value in (1, 0, 1):
            word = ctypes.c_uint(value)
            set_attribute = driver.cuPointerSetAttribute
            assert set_attribute(ctypes.byref(word), self.SYNC_MEMOPS, memory) == 0
            assert (is_synchronous(memory), is_synchronous(memory + 63)) == (value, value)
            assert not is_synchronous(other)
        ids = [
            driver.output("cuPointerGetAttribute", self.BUFFER_ID, address)
            for address in (memory, memory + 63, other)
        ]
        assert ids[0] == ids[1] != ids[2]
        assert set_attribute(ctypes.byref(word), self.BUFFER_ID, memory) == INVALID_VALUE
        pinned = driver.output("cuMemAllocHost", 64)
        assert set_attribute(ctypes.byref(word), self.SYNC_MEMOPS, pinned) == INVALID_VALUE
        driver.cuMemFreeHost(pinned)
        driver.cuMemFree(memory)
        assert set_attribute(ctypes.byref(word), self.SYNC_MEMOPS, memory) == INVALID_VALUE
        driver.cuMemFree(other)

    def test_attributes_of_managed_memory_are_read_together(self, driver):
        memory = driver.output("cuMemAllocManaged", 4096, 1)
        assert driver.cuMemAdvise(memory, 4096, 1, DEVICE_LOCATION) == 0  # read mostly
        values = [ctypes.c_int(-9) for _ in range(3)]
        data = (ctypes.c_void_p * 3)(*(ctypes.addressof(each) for each in values))
        numbers, sizes = (ctypes.c_int * 3)(1, 2, 4), (ctypes.c_size_t * 3)(4, 4, 4)
        read = driver.cuMemRangeGetAttributes
        assert read(data, sizes, numbers, 3, memory, 4096) == 0
        singly = [
            driver.output("cuMemRangeGetAttribute", 4, number, memory, 4096, kind=ctypes.c_int)
            for number in numbers
        ]
        assert [each.value for each in values] == singly
        assert singly[0] == 1
        assert read(data, sizes, numbers, 0, memory, 4096) == INVALID_VALUE
        sizes[2] = 8
        assert read(data, sizes, numbers, 3, memory, 4096) == INVALID_VALUE
        driver.cuMemFree(memory)
