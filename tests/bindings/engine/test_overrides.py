# SPDX-License-Identifier: Apache-2.0
"""Functions whose records differ from their C types, and callbacks that are passed unwrapped."""

import ctypes

import numpy as np
import pytest
from cuda.bindings import driver, nvrtc, runtime

Pointer, Unsigned, Int, Size = ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_size_t
SUCCESS = driver.CUresult.CUDA_SUCCESS
FUNCTION, DATA = 0x4000, 0x5000
STRAIGHT = [
    (driver, "cuLaunchHostFunc_v2", (Pointer, Pointer, Pointer, Unsigned), 1, "fpd0"),
    (runtime, "cudaLaunchHostFunc_v2", (Pointer, Pointer, Pointer, Unsigned), 1, "fpd0"),
    (runtime, "cudaLogsRegisterCallback", (Pointer, Pointer, Pointer), 0, "pd"),
    (driver, "cuCoredumpRegisterStartCallback", (Pointer, Pointer, Pointer), 0, "pd"),
    (driver, "cuCoredumpRegisterCompleteCallback", (Pointer, Pointer, Pointer), 0, "pd"),
    (driver, "cuStreamBeginRecaptureToGraph", (Pointer, Int, *[Pointer] * 3), 3, "f00pd"),
    (nvrtc, "nvrtcSetFlowCallback", (Pointer, Pointer, Pointer), 1, "fpd"),
]
SIZES = (Pointer, Pointer, Pointer, Pointer, Size, Int)


def put_int(pointer, value):
    ctypes.c_int.from_address(pointer).value = value


class TestUnwrappedCallbacks:
    """The library receives the user's addresses unchanged."""

    @pytest.mark.parametrize(
        ("module", "name", "types", "at", "form"), STRAIGHT, ids=[row[1] for row in STRAIGHT]
    )
    def test_function_and_data_are_not_wrapped(self, calls, module, name, types, at, form):
        seen = calls(name, *types)
        words = {"p": FUNCTION, "d": DATA, "f": 1, "0": 0}
        code, *_ = getattr(module, name)(*(words[c] for c in form))
        assert code == 0
        assert seen[0][at : at + 2] == (FUNCTION, DATA)

    def test_user_objects_are_destroyed_by_the_user_function(self, api, calls):
        seen = calls(api.name("UserObjectCreate"), *[Pointer] * 3, Unsigned, Unsigned)
        cls = driver.CUhostFn if api.module is driver else runtime.cudaHostFn_t
        api.UserObjectCreate(DATA, cls(FUNCTION), 1, 1)
        assert seen[0][1:] == (DATA, FUNCTION, 1, 1)

    def test_the_driver_queries_shared_memory_by_the_user_function(self, calls):
        seen = calls("cuOccupancyMaxPotentialBlockSize", *SIZES)
        size_of = driver.CUoccupancyB2DSize(FUNCTION)
        assert driver.cuOccupancyMaxPotentialBlockSize(1, size_of, 16, 32) == (SUCCESS, 0, 0)
        assert seen[0][2:] == (1, FUNCTION, 16, 32)


@pytest.mark.parametrize(
    "form",
    [lambda c: c, lambda c: c.getPtr(), lambda c: None],
    ids=["object", "address", "none"],
)
def test_a_handle_by_address_is_accepted(calls, form):
    seen = calls("cuEGLStreamConsumerDisconnect", Pointer)
    connection = driver.CUeglStreamConnection(5)
    value = form(connection)
    driver.cuEGLStreamConsumerDisconnect(value)
    assert seen == [(None if value is None else connection.getPtr(),)]


@pytest.mark.parametrize("wrong", ["x", 1.5, b"x", [1]])
def test_a_handle_by_address_accepts_nothing_else(calls, wrong):
    calls("cuEGLStreamConsumerDisconnect", Pointer)
    with pytest.raises(TypeError, match="argument 'conn'"):
        driver.cuEGLStreamConsumerDisconnect(wrong)


def test_a_handle_for_a_range_of_addresses_is_an_int(put):
    put("cuMemGetHandleForAddressRange", lambda handle, *_: put_int(handle, 7),
        Pointer, Size, Size, Int, ctypes.c_ulonglong)  # fmt: skip
    assert driver.cuMemGetHandleForAddressRange(4096, 4096, 1, 0) == (SUCCESS, 7)


def test_an_exported_endpoint_is_a_fabric_handle(put):
    put("cuLogicalEndpointExport", lambda *_: None, Pointer, Unsigned, Int)
    _, handle = driver.cuLogicalEndpointExport(1, 1)
    assert type(handle) is driver.CUlogicalEndpointFabricHandle


def test_a_decompression_batch_starts_at_one_struct(calls):
    seen = calls("cuMemBatchDecompressAsync", Pointer, Size, Unsigned, Pointer, Pointer)
    params = driver.CUmemDecompressParams()
    driver.cuMemBatchDecompressAsync(params, 1, 0, 0)
    driver.cuMemBatchDecompressAsync(None, 0, 0, 0)
    assert [first for first, *_ in seen] == [params.getPtr(), None]


def test_a_struct_by_value_is_neither_none_nor_a_number(calls):
    calls("cuMemAdvise", Size, Size, Int, ctypes.c_uint64)
    for wrong in (None, 0):
        with pytest.raises(TypeError, match="argument 'location': expected CUmemLocation"):
            driver.cuMemAdvise(0, 1, 1, wrong)


def test_a_struct_shows_the_values_that_the_library_wrote(api, put):
    cls = (
        driver.CUDA_MEM_ALLOC_NODE_PARAMS
        if api.module is driver
        else runtime.cudaMemAllocNodeParams
    )
    size = api.module.sizeof(cls)

    def add(node, _graph, _dependencies, _count, params):
        ctypes.c_uint64.from_address(params + size - 8).value = 0xABC

    put(api.name("GraphAddMemAllocNode"), add, *[Pointer] * 3, Size, Pointer)
    params = cls()
    code, _ = api.GraphAddMemAllocNode(0, None, 0, params)
    assert (code, int(params.dptr)) == (0, 0xABC)


class TestLogs:
    """An iterator is passed in, and returned advanced."""

    @pytest.fixture
    def iterator(self, api):
        return api.type("LogIterator")(1)

    def test_the_newest_entry_is_an_iterator(self, api, put, iterator):
        put(
            api.name("LogsCurrent"),
            lambda address, _flags: put_int(address, 9),
            Pointer,
            Unsigned,
        )
        _, newest = api.LogsCurrent(0)
        assert (type(newest), int(newest)) == (type(iterator), 9)

    def test_the_same_iterator_is_returned(self, api, put, iterator):
        put(api.name("LogsDumpToFile"), lambda address, *_: address and put_int(address, 11),
            Pointer, Pointer, Unsigned)  # fmt: skip
        _, after = api.LogsDumpToFile(iterator, b"file", 0)
        assert after is iterator
        assert int(iterator) == 11
        assert api.LogsDumpToFile(None, b"file", 0)[1] is None

    @pytest.mark.parametrize(
        "buffer", [bytearray(16), b" " * 16, np.zeros(16, np.uint8)], ids=lambda b: type(b).__name__
    )
    def test_no_more_is_requested_than_the_buffer_holds(self, api, calls, iterator, buffer):
        seen = calls(api.name("LogsDumpToMemory"), Pointer, Pointer, Pointer, Unsigned)
        with pytest.raises(ValueError, match="'buffer': the buffer has 16 bytes, 'size' is 17"):
            api.LogsDumpToMemory(iterator, buffer, 17, 0)
        assert seen == []
        for size in (0, 15, 16):
            assert api.LogsDumpToMemory(iterator, buffer, size, 0) == (0, iterator, size)


class TestKernelParameters:
    """All launch functions accept parameters in the same forms."""

    FORM = ((5, 2.5), (ctypes.c_int, ctypes.c_double))

    def values(self, array):
        first, second = (Pointer * 2).from_address(array)
        return Int.from_address(first).value, ctypes.c_double.from_address(second).value

    def test_a_cooperative_launch(self, put):
        seen = []
        put("cuLaunchCooperativeKernel", lambda *a: seen.append(self.values(a[9])),
            Pointer, *[Unsigned] * 7, Pointer, Pointer)  # fmt: skip
        driver.cuLaunchCooperativeKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, self.FORM)
        assert seen == [(5, 2.5)]

    def test_a_launch_with_a_configuration(self, put):
        seen = []
        put("cuLaunchKernelEx", lambda *a: seen.append(self.values(a[2])), *[Pointer] * 4)
        driver.cuLaunchKernelEx(driver.CUlaunchConfig(), 0, self.FORM, 0)
        assert seen == [(5, 2.5)]

    @pytest.mark.parametrize(
        "cls",
        [
            driver.CUDA_KERNEL_NODE_PARAMS,
            driver.CUDA_KERNEL_NODE_PARAMS_v3,
            runtime.cudaKernelNodeParams,
            runtime.cudaKernelNodeParamsV2,
        ],
    )
    def test_a_node_of_a_graph(self, cls):
        node = cls(kernelParams=self.FORM)
        assert self.values(node.kernelParams) == (5, 2.5)
        before = node.kernelParams
        with pytest.raises(OverflowError):
            node.kernelParams = ((2**31,), (ctypes.c_int,))
        with pytest.raises(TypeError):
            node.kernelParams = "x"
        assert node.kernelParams == before
        node.kernelParams = None
        assert node.kernelParams == 0
