# SPDX-License-Identifier: Apache-2.0
"""Results of calls: the result code first, then the outputs; on an error None for each."""

import ctypes
import gc
import sys

import pytest
from cuda.bindings import driver, nvrtc

from ...threads import run_together

Pointer, Size = ctypes.c_void_p, ctypes.c_size_t
SUCCESS = driver.CUresult.CUDA_SUCCESS


def store(c_type, *values):
    """A C function that writes values of a type through its leading pointers."""

    def function(*pointers):
        for pointer, value in zip(pointers, values, strict=False):
            c_type.from_address(pointer).value = value

    return function


def test_a_call_without_outputs_returns_the_one_shared_tuple(calls):
    calls("cuInit", ctypes.c_uint)
    assert driver.cuInit(0) == (SUCCESS,)
    assert driver.cuInit(0) is driver.cuInit(0)


def test_the_code_is_the_enumerator_itself(calls):
    calls("cuInit", ctypes.c_uint)
    assert driver.cuInit(0)[0] is SUCCESS


@pytest.mark.parametrize(
    ("name", "c_type", "value", "call"),
    [
        ("cuDeviceGetCount", ctypes.c_int, -3, lambda: driver.cuDeviceGetCount()),
        ("cuDeviceTotalMem", Size, 2**63, lambda: driver.cuDeviceTotalMem(0)),
        ("cuEventElapsedTime", ctypes.c_float, 0.5, lambda: driver.cuEventElapsedTime(1, 2)),
        ("cuCtxGetId", ctypes.c_uint64, 2**63, lambda: driver.cuCtxGetId(1)),
    ],
)
def test_a_number_is_returned_unchanged(put, name, c_type, value, call):
    put(name, store(c_type, value), Pointer, *[Pointer] * 2)
    if name == "cuCtxGetId":
        put(name, lambda _ctx, out: store(c_type, value)(out), Pointer, Pointer)
    assert call() == (SUCCESS, value)


def test_several_outputs_are_in_the_order_of_c(api, put):
    put(api.name("MemGetInfo"), store(Size, 10, 20), Pointer, Pointer)
    assert api.MemGetInfo() == (api.result(0), 10, 20)


def test_a_handle_is_a_new_object(put):
    put("cuCtxGetCurrent", store(ctypes.c_uint64, 0x1234), Pointer)
    _, context = driver.cuCtxGetCurrent()
    assert type(context) is driver.CUcontext
    assert int(context) == 0x1234
    assert driver.cuCtxGetCurrent()[1] is not context


def test_a_struct_is_a_new_object_that_the_call_wrote(put):
    put("cuArrayGetDescriptor", lambda out, _array: store(Size, 7)(out), Pointer, Pointer)
    _, descriptor = driver.cuArrayGetDescriptor(1)
    assert type(descriptor) is driver.CUDA_ARRAY_DESCRIPTOR
    assert descriptor.Width == 7


def test_an_enumerator_is_a_member(api, put):
    put(
        api.name("StreamIsCapturing"),
        lambda _stream, out: store(ctypes.c_int, 1)(out),
        Pointer,
        Pointer,
    )
    active = api.type("StreamCaptureStatus")(1)
    assert api.StreamIsCapturing(0)[1] is active


def test_an_enumerator_without_name_never_raises(api, put):
    put(
        api.name("StreamIsCapturing"),
        lambda _stream, out: store(ctypes.c_int, 99)(out),
        Pointer,
        Pointer,
    )
    result, status = api.StreamIsCapturing(0)
    assert result is api.result(0)
    assert status == 99
    assert repr(status) == f"<{api.type('StreamCaptureStatus').__name__}.UNKNOWN_99: 99>"
    assert isinstance(status, api.type("StreamCaptureStatus"))
    assert api.StreamIsCapturing(0)[1] == status


def test_unnamed_enumerators_are_not_cached():
    """A struct may hold any bits in place of an enumerator, and different bits each time."""
    place = driver.CUmemLocation()

    def read(first):
        for value in range(first, first + 1000):
            place.type = value
            assert place.type.name == f"UNKNOWN_{value}"

    read(1000)
    gc.collect()
    before = sys.getallocatedblocks()
    read(5000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 100


@pytest.mark.parametrize("code", [1, 2, 999])
def test_a_failed_call_returns_the_code_and_none_for_each_output(api, put, code):
    put(api.name("MemGetInfo"), lambda _free, _total: code, Pointer, Pointer)
    put(api.name("StreamQuery"), lambda _stream: code, Pointer)
    put(api.name("StreamGetFlags"), lambda _stream, _out: code, Pointer, Pointer)
    assert api.MemGetInfo() == (api.result(code), None, None)
    assert api.StreamQuery(0) == (api.result(code),)
    assert api.StreamGetFlags(0) == (api.result(code), None)


def test_a_code_without_name_never_raises(api, put):
    put(api.name("StreamQuery"), lambda _stream: 12345, Pointer)
    (code,) = api.StreamQuery(0)
    assert isinstance(code, api.result)
    assert (code.name, code.value) == ("UNKNOWN_12345", 12345)


@pytest.mark.parametrize("length", [1, 64, 65, 300, 5000])
def test_an_unwritten_output_is_zero(put, length):
    put("cuDeviceGetName", lambda *_: None, Pointer, ctypes.c_int, ctypes.c_int)
    assert driver.cuDeviceGetName(length, 0) == (SUCCESS, bytes(length))


def test_texts_of_the_library_are_bytes_or_none(put):
    text = ctypes.create_string_buffer(b"CUDA_SUCCESS")
    result = [ctypes.addressof(text)]
    put("cuGetErrorName", lambda _e, out: store(Size, result[0])(out), ctypes.c_int, Pointer)
    assert driver.cuGetErrorName(0) == (SUCCESS, b"CUDA_SUCCESS")
    result[0] = 0
    assert driver.cuGetErrorName(0) == (SUCCESS, None)


def test_a_text_has_exactly_the_requested_length(put):
    put("cuDeviceGetName", lambda out, n, _dev: ctypes.memmove(out, b"GPU", 4) * 0, Pointer,
        ctypes.c_int, ctypes.c_int)  # fmt: skip
    assert driver.cuDeviceGetName(8, 0) == (SUCCESS, b"GPU\0\0\0\0\0")


@pytest.mark.parametrize("length", [-1, -(2**31)])
def test_a_negative_length_is_refused(calls, length):
    calls("cuDeviceGetName", Pointer, ctypes.c_int, ctypes.c_int)
    message = rf"^cuDeviceGetName\(\) argument 'length': a count of {length} cannot be reserved"
    with pytest.raises(ValueError, match=message):
        driver.cuDeviceGetName(length, 0)


def test_a_count_beyond_all_memory_is_refused(calls):
    calls("cuGraphGetNodes", Pointer, Pointer, Pointer)
    with pytest.raises((ValueError, MemoryError)):
        driver.cuGraphGetNodes(1, 2**62)


def test_all_eight_bytes_of_a_luid_are_returned(put):
    put("cuDeviceGetLuid", lambda luid, _mask, _dev: ctypes.memmove(luid, b"a\0b\0cdef", 8) * 0,
        Pointer, Pointer, ctypes.c_int)  # fmt: skip
    assert driver.cuDeviceGetLuid(0)[1] == b"a\0b\0cdef"


def test_lists_have_the_requested_number_of_elements(api, put):
    def get(_graph, nodes, count):
        array = (ctypes.c_uint64 * 2).from_address(nodes)
        array[0], array[1] = 11, 12
        ctypes.c_size_t.from_address(count).value = 2

    put(api.name("GraphGetNodes"), get, Pointer, Pointer, Pointer)
    _, nodes, count = api.GraphGetNodes(1, 2)
    assert [int(n) for n in nodes] == [11, 12]
    assert count == 2


def test_arrays_that_the_library_owns_are_copied(api, put):
    nodes = (ctypes.c_uint64 * 2)(21, 22)

    def info(_stream, _status, _id, _graph, dependencies, edges, count):
        store(Size, ctypes.addressof(nodes))(dependencies)
        store(Size, 0)(edges)
        store(Size, 2)(count)

    put(api.name("StreamGetCaptureInfo"), info, *[Pointer] * 7)
    result = api.StreamGetCaptureInfo(0)
    nodes[0] = 0
    assert [int(n) for n in result[4]] == [21, 22]
    assert result[5] == []
    assert result[6] == 2


def test_an_exchanged_enumerator_is_returned(api, put):
    def exchange(mode):
        cell = ctypes.c_int.from_address(mode)
        cell.value = 2 - cell.value

    put(api.name("ThreadExchangeStreamCaptureMode"), exchange, Pointer)
    modes = api.type("StreamCaptureMode")
    assert api.ThreadExchangeStreamCaptureMode(modes(0))[1] is modes(2)


def test_a_string_function_returns_success_and_the_text():
    code = nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION
    assert nvrtc.nvrtcGetErrorString(code) == (nvrtc.nvrtcResult(0), b"NVRTC_ERROR_COMPILATION")


class TestRecycledTuple:
    """The tuple (SUCCESS, value) is reused when unreferenced; no holder may notice."""

    @pytest.fixture(autouse=True)
    def counting(self, put):
        counter = iter(range(1000, 10_000_000))
        put("cuDeviceGetCount", lambda out: store(ctypes.c_int, next(counter))(out), Pointer)

    def test_a_referenced_tuple_keeps_its_value(self):
        held = [driver.cuDeviceGetCount() for _ in range(50)]
        values = [value for _, value in held]
        assert values == sorted(set(values))
        assert len({id(t) for t in held}) == 50

    def test_a_referenced_handle_is_not_reused(self, put):
        put("cuCtxGetCurrent", store(ctypes.c_void_p, 7), Pointer)
        handles = [driver.cuCtxGetCurrent()[1] for _ in range(50)]
        assert len({id(h) for h in handles}) == 50
        results = [driver.cuCtxGetCurrent() for _ in range(50)]
        assert len({id(h) for _, h in results}) == 50

    def test_a_handle_of_a_failed_call_is_not_visible_later(self, put):
        put("cuCtxGetCurrent", store(ctypes.c_void_p, 7), Pointer)
        assert int(driver.cuCtxGetCurrent()[1]) == 7
        put("cuCtxGetCurrent", lambda _out: 3, Pointer)
        assert driver.cuCtxGetCurrent() == (driver.CUresult(3), None)
        put("cuCtxGetCurrent", lambda _out: 0, Pointer)
        assert int(driver.cuCtxGetCurrent()[1]) == 0

    def test_a_tuple_referenced_by_another_tuple_is_not_reused(self):
        nested = (driver.cuDeviceGetCount(), driver.cuDeviceGetCount())
        assert nested[0][1] + 1 == nested[1][1]

    def test_a_tuple_in_a_dictionary_key_keeps_its_hash(self):
        keys = {}
        for _ in range(20):
            keys[driver.cuDeviceGetCount()] = None
        assert all(key in keys for key in list(keys))

    def test_hashes_follow_the_contents(self):
        first = hash(driver.cuDeviceGetCount())
        second = driver.cuDeviceGetCount()
        assert hash(second) == hash((SUCCESS, second[1])) != first

    def test_unpacking_frees_the_tuple_and_keeps_the_value(self):
        _, first = driver.cuDeviceGetCount()
        _, second = driver.cuDeviceGetCount()
        assert second == first + 1

    def test_values_are_released(self, put):
        put("cuCtxGetCurrent", store(ctypes.c_uint64, 5), Pointer)
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(1000):
            driver.cuCtxGetCurrent()
        assert len(gc.get_objects()) - before < 10

    def test_threads_never_see_each_others_values(self):
        problems = []

        def work():
            last = 0
            for _ in range(2000):
                result = driver.cuDeviceGetCount()
                if result[1] <= last or result[0] is not SUCCESS:
                    problems.append(result)
                last = result[1]

        run_together(*[work] * 4)
        assert problems == []

    def test_a_destructor_that_calls_the_function_is_harmless(self, put):
        seen = []

        class Context(driver.CUcontext):
            def __del__(self):
                seen.append(driver.cuDeviceGetCount()[1])

        Context(1)
        assert len(seen) == 1
        assert driver.cuDeviceGetCount()[1] == seen[0] + 1
