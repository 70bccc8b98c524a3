# SPDX-License-Identifier: Apache-2.0
"""Handles and structs as arguments."""

import ctypes

import numpy as np
import pytest
from cuda.bindings import driver, nvrtc


class Subclass(driver.CUstream):
    pass


@pytest.fixture
def query(calls):
    return calls("cuStreamQuery", ctypes.c_void_p)


@pytest.mark.parametrize(
    "handle",
    [driver.CUstream(2**40 + 1), 2**40 + 1, np.uint64(2**40 + 1), Subclass(2**40 + 1)],
    ids=["instance", "int", "numpy", "subclass"],
)
def test_a_handle_is_an_instance_or_an_integer(query, handle):
    driver.cuStreamQuery(handle)
    assert query == [(2**40 + 1,)]


@pytest.mark.parametrize("handle", [None, 0, driver.CUstream()])
def test_an_omitted_handle_is_null(query, handle):
    driver.cuStreamQuery(handle)
    assert query == [(None,)]


def test_a_handle_of_another_class_is_passed_by_its_value(query):
    driver.cuStreamQuery(driver.CUevent(9))
    assert query == [(9,)]


@pytest.mark.parametrize("handle", ["x", 1.5, b"", object()])
def test_an_invalid_handle_is_refused_by_name(query, handle):
    with pytest.raises(TypeError, match=r"cuStreamQuery\(\) argument 'hStream': expected CUstream"):
        driver.cuStreamQuery(handle)


def test_a_negative_handle_is_refused(query):
    with pytest.raises(OverflowError, match="argument 'hStream'"):
        driver.cuStreamQuery(-1)


def test_a_device_may_be_negative_as_in_the_header(calls):
    seen = calls("cuDeviceGetName", ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    driver.cuDeviceGetName(4, driver.CU_DEVICE_CPU)
    driver.cuDeviceGetName(4, driver.CUdevice(driver.CU_DEVICE_CPU))
    assert [args[2] for args in seen] == [-1, -1]


def test_a_view_passes_the_current_value(query):
    memory = ctypes.c_uint64(5)
    stream = driver.CUstream(_ptr=ctypes.addressof(memory))
    memory.value = 6
    driver.cuStreamQuery(stream)
    assert query == [(6,)]


def test_a_struct_is_passed_by_its_address(calls):
    seen = calls("cuArrayCreate", ctypes.c_void_p, ctypes.c_void_p)
    descriptor = driver.CUDA_ARRAY_DESCRIPTOR()
    driver.cuArrayCreate(descriptor)
    assert seen[0][1] == descriptor.getPtr()


def test_none_is_no_struct(calls):
    seen = calls("cuArrayCreate", ctypes.c_void_p, ctypes.c_void_p)
    driver.cuArrayCreate(None)
    assert seen[0][1] is None


def test_a_derived_typedef_is_accepted_for_its_base(calls):
    seen = calls("cuArrayCreate", ctypes.c_void_p, ctypes.c_void_p)

    class Mine(driver.CUDA_ARRAY_DESCRIPTOR):
        pass

    descriptor = Mine()
    driver.cuArrayCreate(descriptor)
    assert seen[0][1] == descriptor.getPtr()


@pytest.mark.parametrize("thing", [1, "x", driver.CUlaunchConfig()])
def test_another_struct_is_refused_by_name(calls, thing):
    calls("cuArrayCreate", ctypes.c_void_p, ctypes.c_void_p)
    with pytest.raises(TypeError, match="argument 'pAllocateArray': expected CUDA_ARRAY_DESC"):
        driver.cuArrayCreate(thing)


class IpcMemHandle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_ubyte * 64),)


def test_a_struct_by_value_is_copied(calls):
    seen = calls("cuIpcOpenMemHandle", ctypes.c_void_p, IpcMemHandle, ctypes.c_uint)
    handle = driver.CUipcMemHandle(reserved=bytes(range(64)))
    driver.cuIpcOpenMemHandle(handle, 1)
    assert bytes(seen[0][1].reserved) == bytes(range(64))


def test_a_struct_by_value_cannot_be_none(calls):
    calls("cuIpcOpenMemHandle", ctypes.c_void_p, IpcMemHandle, ctypes.c_uint)
    with pytest.raises(TypeError, match="argument 'handle': expected CUipcMemHandle, got NoneType"):
        driver.cuIpcOpenMemHandle(None, 1)


def test_a_handle_by_address_can_be_cleared_by_the_call(put):
    def destroy(pointer):
        ctypes.c_uint64.from_address(pointer).value = 0

    put("nvrtcDestroyProgram", destroy, ctypes.c_void_p)
    program = nvrtc.nvrtcProgram(77)
    assert nvrtc.nvrtcDestroyProgram(program) == (nvrtc.nvrtcResult.NVRTC_SUCCESS,)
    assert int(program) == 0


def test_a_handle_by_address_may_be_an_address_or_none(calls):
    seen = calls("nvrtcDestroyProgram", ctypes.c_void_p)
    nvrtc.nvrtcDestroyProgram(4096)
    nvrtc.nvrtcDestroyProgram(None)
    assert seen == [(4096,), (None,)]


def test_an_iterator_is_advanced_in_place_and_returned(put):
    def dump(iterator, _path, _flags):
        ctypes.c_uint32.from_address(iterator).value = 17

    put("cuLogsDumpToFile", dump, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint)
    iterator = driver.CUlogIterator(3)
    result, returned = driver.cuLogsDumpToFile(iterator, b"log", 0)
    assert result == driver.CUresult.CUDA_SUCCESS
    assert returned is iterator
    assert int(iterator) == 17


@pytest.mark.parametrize("name", [None, b"x.cu", bytearray(b"x.cu")], ids=repr)
def test_the_name_of_a_program_may_be_omitted(calls, name):
    pointers = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    seen = calls("nvrtcCreateProgram", *pointers, ctypes.c_void_p, ctypes.c_void_p)
    nvrtc.nvrtcCreateProgram(b"source", name, 0, None, None)
    assert seen[0][1:4] == (b"source", None if name is None else b"x.cu", 0)
    for arguments in ((None, b"x.cu"), (b"source", "x.cu")):
        with pytest.raises(TypeError, match="expected bytes"):
            nvrtc.nvrtcCreateProgram(*arguments, 0, None, None)
