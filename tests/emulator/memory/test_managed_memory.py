# SPDX-License-Identifier: Apache-2.0
"""Advice, prefetches, discards and attributes of managed memory; copies with attributes."""

import ctypes

import pytest

SUCCESS, INVALID_VALUE, INVALID_DEVICE, UNSUPPORTED_IN_CAPTURE = 0, 1, 101, 900
SET_READ_MOSTLY, UNSET_READ_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED, UNSET_ACCESSED = (
    range(1, 7)
)
READ_MOSTLY, PREFERRED, ACCESSED_BY, LAST_PREFETCH, PREFERRED_TYPE, PREFERRED_ID = range(1, 7)
CPU, INVALID = -1, -2
SIZE = 1 << 16


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


DEVICE, HOST, NODE, NO_NODE = Location(1, 0), Location(2, 0), Location(3, 0), Location(3, 9)


@pytest.fixture
def memory(driver):
    result = driver.output("cuMemAllocManaged", SIZE, 1)
    yield result
    driver.cuCtxSynchronize()
    driver.cuMemFree(result)


def attribute(driver, at, kind, bytes_asked=SIZE, room=1):
    out = (ctypes.c_int * room)()
    size = ctypes.sizeof(out)
    assert driver.cuMemRangeGetAttribute(out, size, kind, at, bytes_asked) == SUCCESS
    return out[0] if room == 1 else list(out)


class TestAdvice:
    def test_a_range_remembers_its_advice(self, driver, memory):
        assert attribute(driver, memory, READ_MOSTLY) == 0
        assert driver.cuMemAdvise(memory, SIZE, SET_READ_MOSTLY, DEVICE) == SUCCESS
        assert attribute(driver, memory, READ_MOSTLY) == 1
        assert driver.cuMemAdvise(memory, SIZE, UNSET_READ_MOSTLY, DEVICE) == SUCCESS
        assert attribute(driver, memory, READ_MOSTLY) == 0

    def test_only_advice_of_all_pages_counts(self, driver, memory):
        half = SIZE // 2
        assert driver.cuMemAdvise(memory, half, SET_PREFERRED, HOST) == SUCCESS
        assert attribute(driver, memory, PREFERRED, half) == CPU
        assert attribute(driver, memory, PREFERRED) == INVALID
        assert driver.cuMemAdvise(memory + half, half, SET_PREFERRED, HOST) == SUCCESS
        assert attribute(driver, memory, PREFERRED) == CPU
        assert driver.cuMemAdvise(memory + half // 2, half, UNSET_PREFERRED, HOST) == SUCCESS
        assert attribute(driver, memory, PREFERRED, half // 2) == CPU
        assert attribute(driver, memory + half // 2, PREFERRED, half) == INVALID

    @pytest.mark.usefixtures("emulated")  # an H200 accepts the advice and returns no location
    def test_nodes_are_distinguished_from_the_host(self, driver, memory):
        assert driver.cuMemAdvise(memory, SIZE, SET_PREFERRED, NODE) == SUCCESS
        assert attribute(driver, memory, PREFERRED) == CPU
        assert attribute(driver, memory, PREFERRED_TYPE) == 3
        assert attribute(driver, memory, PREFERRED_ID) == 0

    def test_accessors_are_a_list(self, driver, memory):
        assert driver.cuMemAdvise(memory, SIZE, SET_ACCESSED, DEVICE) == SUCCESS
        assert driver.cuMemAdvise(memory, SIZE, SET_ACCESSED, HOST) == SUCCESS
        assert sorted(attribute(driver, memory, ACCESSED_BY, room=4)) == [INVALID, INVALID, CPU, 0]
        assert driver.cuMemAdvise(memory, SIZE, UNSET_ACCESSED, HOST) == SUCCESS
        assert attribute(driver, memory, ACCESSED_BY, room=2) == [0, INVALID]

    def test_advice_ends_with_the_memory(self, driver):
        for _ in range(3):
            at = driver.output("cuMemAllocManaged", SIZE, 1)
            assert attribute(driver, at, READ_MOSTLY) == 0
            assert driver.cuMemAdvise(at, SIZE, SET_READ_MOSTLY, DEVICE) == SUCCESS
            assert driver.cuMemFree(at) == SUCCESS

    @pytest.mark.usefixtures("emulated")
    @pytest.mark.parametrize(
        ("offset", "size", "advice", "location", "code"),
        [
            (0, 0, SET_READ_MOSTLY, DEVICE, INVALID_VALUE),
            (0, SIZE + 1, SET_READ_MOSTLY, DEVICE, INVALID_VALUE),
            (SIZE, 1, SET_READ_MOSTLY, DEVICE, INVALID_VALUE),
            (0, SIZE, 77, DEVICE, INVALID_VALUE),
            (0, SIZE, SET_PREFERRED, Location(1, 99), INVALID_DEVICE),
            (0, SIZE, SET_PREFERRED, Location(0, 0), INVALID_VALUE),
            (0, SIZE, SET_PREFERRED, NO_NODE, INVALID_VALUE),
            (0, SIZE, SET_ACCESSED, NODE, INVALID_VALUE),
        ],
    )
    def test_invalid_advice_is_refused(self, driver, memory, offset, size, advice, location, code):
        assert driver.cuMemAdvise(memory + offset, size, advice, location) == code

    def test_other_memory_is_refused(self, driver):
        at = driver.output("cuMemAlloc", SIZE)
        assert driver.cuMemAdvise(at, SIZE, SET_READ_MOSTLY, DEVICE) == INVALID_VALUE
        out = ctypes.c_int()
        code = driver.cuMemRangeGetAttribute(ctypes.byref(out), 4, READ_MOSTLY, at, SIZE)
        assert code == INVALID_VALUE
        driver.cuMemFree(at)


class TestMoving:
    def test_a_prefetch_is_remembered(self, driver, memory, stream):
        assert attribute(driver, memory, LAST_PREFETCH) == INVALID
        assert driver.cuMemPrefetchAsync(memory, SIZE, DEVICE, 0, stream) == SUCCESS
        assert attribute(driver, memory, LAST_PREFETCH) == 0
        assert driver.cuMemPrefetchAsync(memory, SIZE, HOST, 0, stream) == SUCCESS
        assert attribute(driver, memory, LAST_PREFETCH) == CPU

    @pytest.mark.usefixtures("emulated")
    def test_a_batch_is_prefetched_to_locations_by_index(self, driver, memory, stream):
        quarter = SIZE // 4
        at = (ctypes.c_uint64 * 4)(*(memory + i * quarter for i in range(4)))
        sizes = (ctypes.c_size_t * 4)(*[quarter] * 4)
        places, first = (Location * 2)(DEVICE, HOST), (ctypes.c_size_t * 2)(0, 3)
        prefetch = driver.cuMemPrefetchBatchAsync
        assert prefetch(at, sizes, 4, places, first, 2, 0, stream) == SUCCESS
        assert attribute(driver, memory, LAST_PREFETCH, 3 * quarter) == 0
        assert attribute(driver, memory + 3 * quarter, LAST_PREFETCH, quarter) == CPU
        for wrong in ((1, 3), (0, 0), (0, 4)):
            indices = (ctypes.c_size_t * 2)(*wrong)
            assert prefetch(at, sizes, 4, places, indices, 2, 0, stream) == INVALID_VALUE
        assert prefetch(at, sizes, 4, places, first, 2, 1, stream) == INVALID_VALUE
        assert prefetch(at, sizes, 4, places, first, 2, 0, None) == INVALID_VALUE
        assert prefetch(at, sizes, 0, places, first, 2, 0, stream) == INVALID_VALUE

    @pytest.mark.usefixtures("emulated")
    def test_discarded_memory_is_undefined(self, driver, memory, stream):
        assert driver.cuMemsetD8Async(memory, 5, SIZE, stream) == SUCCESS
        at, size = (ctypes.c_uint64 * 1)(memory), (ctypes.c_size_t * 1)(SIZE // 2)
        assert driver.cuMemDiscardBatchAsync(at, size, 1, 0, stream) == SUCCESS
        assert driver.cuStreamSynchronize(stream) == SUCCESS
        seen = driver.read(memory, SIZE, ctypes.c_ubyte)
        assert 5 not in seen[: SIZE // 2]
        assert set(seen[SIZE // 2 :]) == {5}

    @pytest.mark.usefixtures("emulated")
    def test_a_capture_refuses_prefetches_and_discards(self, driver, memory, stream):
        assert driver.cuStreamBeginCapture(stream, 2) == SUCCESS
        code = driver.cuMemPrefetchAsync(memory, SIZE, HOST, 0, stream)
        assert code == UNSUPPORTED_IN_CAPTURE
        graph = ctypes.c_uint64()
        assert driver.cuStreamEndCapture(stream, ctypes.byref(graph)) != SUCCESS


class Attributes(ctypes.Structure):
    _fields_ = (
        ("order", ctypes.c_int),
        ("source", Location),
        ("target", Location),
        ("flags", ctypes.c_uint),
    )


@pytest.mark.usefixtures("emulated")
class TestCopies:
    @pytest.fixture
    def areas(self, driver, stream):
        result = [driver.output("cuMemAlloc", 256) for _ in range(4)]
        for i, each in enumerate(result):
            assert driver.cuMemsetD8Async(each, i, 256, stream) == SUCCESS
        yield result
        driver.cuCtxSynchronize()
        for each in result:
            driver.cuMemFree(each)

    def batch(self, driver, areas, stream, attributes=((1, 0),), first=(0,), sizes=(256, 256)):
        to, source = ((ctypes.c_uint64 * 2)(*each) for each in (areas[2:], areas[:2]))
        records = (Attributes * len(attributes))(
            *(Attributes(order, Location(), Location(), flags) for order, flags in attributes)
        )
        return driver.cuMemcpyBatchAsync(
            to, source, (ctypes.c_size_t * 2)(*sizes), 2, records,
            (ctypes.c_size_t * len(first))(*first), len(attributes), stream,
        )  # fmt: skip

    @pytest.mark.parametrize("attributes", [((1, 0),), ((2, 0), (3, 1))])
    def test_all_are_copied(self, driver, areas, stream, attributes):
        first = tuple(range(len(attributes)))
        assert self.batch(driver, areas, stream, attributes, first) == SUCCESS
        assert driver.cuStreamSynchronize(stream) == SUCCESS
        assert [driver.read(each, 1, ctypes.c_ubyte) for each in areas] == [[0], [1], [0], [1]]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"attributes": ((0, 0),)},
            {"attributes": ((4, 0),)},
            {"attributes": ((1, 8),)},
            {"first": (1,)},
            {"sizes": (256, 0)},
            {"sizes": (256, 1 << 30)},
        ],
        ids=str,
    )
    def test_one_wrong_item_prevents_all_copies(self, driver, areas, stream, wrong):
        assert self.batch(driver, areas, stream, **wrong) == INVALID_VALUE
        assert driver.cuStreamSynchronize(stream) == SUCCESS
        assert driver.read(areas[2], 1, ctypes.c_ubyte) == [2]

    def test_the_legacy_stream_refuses_a_batch(self, driver, areas):
        assert self.batch(driver, areas, None) == INVALID_VALUE
        assert self.batch(driver, areas, 1) == INVALID_VALUE

    def test_one_copy_with_attributes(self, driver, areas, stream):
        options = Attributes(2, Location(), Location(), 0)
        copy = driver.cuMemcpyWithAttributesAsync
        assert copy(areas[3], areas[0], 256, ctypes.byref(options), stream) == SUCCESS
        assert driver.read(areas[3], 1, ctypes.c_ubyte) == [0]  # read during the call
        assert copy(areas[3], areas[0], 256, None, stream) == INVALID_VALUE
