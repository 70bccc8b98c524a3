# SPDX-License-Identifier: Apache-2.0
"""Values behind ``void*`` whose type an attribute decides."""

import ctypes

import pytest
from cuda.bindings import driver

Pointer, Size = ctypes.c_void_p, ctypes.c_size_t
SUCCESS = driver.CUresult.CUDA_SUCCESS
Pool = driver.CUmemPool_attribute
Attribute = driver.CUpointer_attribute
Range = driver.CUmem_range_attribute
Jit = driver.CUjit_option


def fill(pointer, data):
    ctypes.memmove(pointer, bytes(data), len(bytes(data)))


@pytest.mark.parametrize(
    ("attribute", "value", "size", "expected"),
    [
        (Pool.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 1, 4, ctypes.c_int(1)),
        (
            Pool.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            driver.cuuint64_t(2**40),
            8,
            ctypes.c_uint64(2**40),
        ),
        (Pool.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 2**40, 8, ctypes.c_uint64(2**40)),
    ],
)
def test_a_pool_attribute_is_set_in_its_type(put, attribute, value, size, expected):
    seen = []
    put("cuMemPoolSetAttribute", lambda _pool, _attr, p: seen.append(ctypes.string_at(p, size)),
        Pointer, ctypes.c_int, Pointer)  # fmt: skip
    assert driver.cuMemPoolSetAttribute(1, attribute, value) == (SUCCESS,)
    assert seen == [bytes(expected)]


def test_a_pool_attribute_is_read_in_its_type(put):
    put("cuMemPoolGetAttribute", lambda _pool, _attr, p: fill(p, ctypes.c_uint64(2**40)),
        Pointer, ctypes.c_int, Pointer)  # fmt: skip
    _, value = driver.cuMemPoolGetAttribute(1, Pool.CU_MEMPOOL_ATTR_USED_MEM_HIGH)
    assert (type(value), int(value)) == (driver.cuuint64_t, 2**40)
    _, value = driver.cuMemPoolGetAttribute(1, Pool.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)
    assert value == 0


@pytest.mark.parametrize("value", ["x", None, 1.5], ids=repr)
def test_a_typed_integer_is_no_handle(calls, value):
    calls("cuMemPoolSetAttribute", Pointer, ctypes.c_int, Pointer)
    message = r"argument 'value': expected cuuint64_t or an integer, got "
    with pytest.raises(TypeError, match=message + type(value).__name__):
        driver.cuMemPoolSetAttribute(1, Pool.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, value)


@pytest.mark.parametrize("attribute", [999, 0])
def test_an_attribute_without_a_type_is_refused_by_name(calls, attribute):
    calls("cuMemPoolGetAttribute", Pointer, ctypes.c_int, Pointer)
    message = "argument 'attr': Unsupported attribute: <CUmemPool_attribute.UNKNOWN_"
    with pytest.raises(TypeError, match=rf"^cuMemPoolGetAttribute\(\) {message}"):
        driver.cuMemPoolGetAttribute(1, attribute)


@pytest.mark.parametrize(
    ("attribute", "stored", "expected"),
    [
        (Attribute.CU_POINTER_ATTRIBUTE_CONTEXT, ctypes.c_uint64(5), driver.CUcontext(5)),
        (Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ctypes.c_uint(2), 2),
        (Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ctypes.c_int(-2), -2),
        (Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, ctypes.c_uint64(9), driver.CUdeviceptr(9)),
        (Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER, ctypes.c_uint64(4096), 4096),
        (Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, ctypes.c_uint(1), True),
        (Attribute.CU_POINTER_ATTRIBUTE_MAPPED, ctypes.c_bool(False), False),
        (Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID, ctypes.c_uint64(2**63), 2**63),
        (Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE, Size(7), 7),
    ],
)
def test_a_pointer_attribute_has_the_type_of_its_meaning(put, attribute, stored, expected):
    put(
        "cuPointerGetAttribute", lambda p, _attr, _ptr: fill(p, stored), Pointer, ctypes.c_int, Size
    )
    _, value = driver.cuPointerGetAttribute(attribute, 0)
    assert value == expected
    assert type(value) is type(expected)


def test_a_struct_is_returned_by_value(put):
    put("cuPointerGetAttribute", lambda p, _attr, _ptr: fill(p, ctypes.c_uint64(3)),
        Pointer, ctypes.c_int, Size)  # fmt: skip
    _, tokens = driver.cuPointerGetAttribute(Attribute.CU_POINTER_ATTRIBUTE_P2P_TOKENS, 0)
    assert type(tokens) is driver.CUDA_POINTER_ATTRIBUTE_P2P_TOKENS
    assert tokens.p2pToken == 3


def test_several_attributes_are_returned_as_a_list(put):
    def get(count, attributes, data, _ptr):
        for pointer, value in zip((Pointer * count).from_address(data), (5, 6), strict=True):
            fill(pointer, ctypes.c_uint64(value))

    put("cuPointerGetAttributes", get, ctypes.c_uint, Pointer, Pointer, Size)
    attributes = [
        Attribute.CU_POINTER_ATTRIBUTE_CONTEXT,
        Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    ]
    assert driver.cuPointerGetAttributes(2, attributes, 0) == (SUCCESS, [driver.CUcontext(5), 6])
    with pytest.raises(RuntimeError, match="List is too small"):
        driver.cuPointerGetAttributes(3, attributes, 0)


def test_an_attribute_behind_its_value_is_found(put):
    seen = []
    put("cuPointerSetAttribute", lambda p, _attr, _ptr: seen.append(ctypes.string_at(p, 4)),
        Pointer, ctypes.c_int, Size)  # fmt: skip
    driver.cuPointerSetAttribute(True, Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0)
    assert seen == [b"\1\0\0\0"]


def test_a_range_attribute_returns_the_requested_number_of_values(put):
    def get(pointer, size, *_):
        count = size // 4
        fill(pointer, (ctypes.c_int * count)(*range(count)))

    put("cuMemRangeGetAttribute", get, Pointer, Size, ctypes.c_int, Size, Size)
    accessed = Range.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
    assert driver.cuMemRangeGetAttribute(12, accessed, 0, 4) == (SUCCESS, [0, 1, 2])
    mostly = Range.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY
    assert driver.cuMemRangeGetAttribute(4, mostly, 0, 4) == (SUCCESS, 0)


@pytest.mark.parametrize("size", [2**20 + 4, 2**31, 2**32 - 1, 2**62])
def test_an_impossible_device_count_is_refused_before_the_call(calls, size):
    """The memory, several times the requested size, may exceed the machine's."""
    accessed = Range.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
    one = calls("cuMemRangeGetAttribute", Pointer, Size, ctypes.c_int, Size, Size)
    with pytest.raises(ValueError, match=f"a list of devices in {size} bytes, at most 1048576"):
        driver.cuMemRangeGetAttribute(size, accessed, 0, 4)
    several = calls("cuMemRangeGetAttributes", Pointer, Pointer, Pointer, Size, Size, Size)
    with pytest.raises(ValueError, match=r"cuMemRangeGetAttributes\(\): a list of devices"):
        driver.cuMemRangeGetAttributes([4, size], [accessed] * 2, 2, 0, 4)
    assert one == several == []


def test_a_list_of_a_quarter_of_a_million_devices_is_returned(put):
    put("cuMemRangeGetAttribute", lambda *_: 0, Pointer, Size, ctypes.c_int, Size, Size)
    accessed = Range.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
    assert driver.cuMemRangeGetAttribute(2**20, accessed, 0, 4) == (SUCCESS, [0] * 2**18)


@pytest.mark.parametrize("size", [2**62, 2**63, 2**64 - 1])
def test_an_impossible_allocation_is_reported_with_its_size(size):
    mostly = Range.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY
    with pytest.raises(MemoryError, match=f"{size} bytes cannot be reserved"):
        driver.cuMemRangeGetAttribute(size, mostly, 0, 4)


def test_range_attributes_are_returned_as_a_list(put):
    def get(data, _sizes, _attributes, count, *_):
        for i, pointer in enumerate((Pointer * count).from_address(data)):
            fill(pointer, ctypes.c_int(i + 1))

    put("cuMemRangeGetAttributes", get, Pointer, Pointer, Pointer, Size, Size, Size)
    attributes = [
        Range.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
        Range.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
    ]
    assert driver.cuMemRangeGetAttributes([4, 8], attributes, 2, 0, 4) == (SUCCESS, [1, [2, 0]])
    with pytest.raises(RuntimeError, match="List is too small"):
        driver.cuMemRangeGetAttributes([4], attributes, 2, 0, 4)


class TestCoredump:
    """The size of the value is no parameter in Python."""

    def test_a_file_name_is_set_with_its_length(self, put):
        seen = []

        def set_(_attr, value, size):
            length = Size.from_address(size).value
            seen.append(ctypes.string_at(value, length))

        put("cuCoredumpSetAttribute", set_, ctypes.c_int, Pointer, Pointer)
        file = driver.CUcoredumpSettings.CU_COREDUMP_FILE
        assert driver.cuCoredumpSetAttribute(file, b"core") == (SUCCESS,)
        assert seen == [b"core\0"]
        with pytest.raises(TypeError, match="argument 'value': expected bytes"):
            driver.cuCoredumpSetAttribute(file, "core")

    def test_the_length_of_a_file_name_is_not_that_of_the_user(self, put):
        class Longer(bytes):
            def __len__(self):
                return 1 << 40

        sizes = []

        def set_(_attr, _value, size):
            sizes.append(Size.from_address(size).value)

        put("cuCoredumpSetAttribute", set_, ctypes.c_int, Pointer, Pointer)
        file = driver.CUcoredumpSettings.CU_COREDUMP_FILE
        driver.cuCoredumpSetAttribute(file, Longer(b"core"))
        assert sizes == [5]

    def test_a_switch_is_a_bool(self, put):
        seen = []
        put("cuCoredumpSetAttribute",
            lambda _a, value, size: seen.append((ctypes.c_bool.from_address(value).value,
                                                 Size.from_address(size).value)),
            ctypes.c_int, Pointer, Pointer)  # fmt: skip
        driver.cuCoredumpSetAttribute(driver.CUcoredumpSettings.CU_COREDUMP_TRIGGER_HOST, True)
        assert seen == [(True, 1)]

    def test_a_file_name_is_read_up_to_its_end(self, put):
        def get(_attr, value, size):
            assert Size.from_address(size).value == 1024
            fill(value, b"core.1\0garbage")

        put("cuCoredumpGetAttribute", get, ctypes.c_int, Pointer, Pointer)
        file = driver.CUcoredumpSettings.CU_COREDUMP_FILE
        assert driver.cuCoredumpGetAttribute(file) == (SUCCESS, b"core.1")


class TestExport:
    """Memory handles are returned in the type of the requested kind."""

    TYPES = (Pointer, Pointer, ctypes.c_int, ctypes.c_uint64)
    Kind = driver.CUmemAllocationHandleType

    def test_a_file_descriptor_is_an_int(self, put):
        put("cuMemPoolExportToShareableHandle", lambda p, *_: fill(p, ctypes.c_int(3)), *self.TYPES)
        kind = self.Kind.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        assert driver.cuMemPoolExportToShareableHandle(1, kind, 0) == (SUCCESS, 3)

    def test_a_fabric_handle_is_a_struct(self, put):
        put(
            "cuMemPoolExportToShareableHandle", lambda p, *_: fill(p, bytes(range(64))), *self.TYPES
        )
        kind = self.Kind.CU_MEM_HANDLE_TYPE_FABRIC
        _, handle = driver.cuMemPoolExportToShareableHandle(1, kind, 0)
        assert handle.data == bytes(range(64))


class TestJitOptions:
    """Options carry small values in the pointer itself."""

    @pytest.fixture
    def values(self, put):
        seen = []

        def load(_out, _image, count, _options, values):
            seen.extend((ctypes.c_uint64 * count).from_address(values))

        put("cuModuleLoadDataEx", load, Pointer, Pointer, ctypes.c_uint, Pointer, Pointer)
        return seen

    @pytest.mark.parametrize(
        ("option", "value", "expected"),
        [
            (Jit.CU_JIT_MAX_REGISTERS, 32, 32),
            (Jit.CU_JIT_LOG_VERBOSE, 1, 1),
            (Jit.CU_JIT_TARGET, driver.CUjit_target.CU_TARGET_COMPUTE_90, 90),
            (Jit.CU_JIT_WALL_TIME, 1.0, 0x3F800000),
        ],
    )
    def test_numbers_are_stored_in_the_pointer_itself(self, values, option, value, expected):
        driver.cuModuleLoadDataEx(b"", 1, [option], [value])
        assert values == [expected]

    def test_buffers_are_passed_by_their_memory(self, values):
        log = bytearray(100)
        options = [Jit.CU_JIT_INFO_LOG_BUFFER, Jit.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES]
        driver.cuModuleLoadDataEx(b"", 2, options, [log, 100])
        assert values == [ctypes.addressof(ctypes.c_char.from_buffer(log)), 100]

    def test_names_are_an_array_of_strings(self, put):
        seen = []

        def load(_out, _image, _count, _options, values):
            (array,) = (Pointer * 1).from_address(values)
            seen.extend((ctypes.c_char_p * 2).from_address(array))

        put("cuModuleLoadDataEx", load, Pointer, Pointer, ctypes.c_uint, Pointer, Pointer)
        driver.cuModuleLoadDataEx(b"", 1, [Jit.CU_JIT_GLOBAL_SYMBOL_NAMES], [[b"a", b"b"]])
        assert seen == [b"a", b"b"]

    @pytest.mark.parametrize(
        ("options", "values", "error", "message"),
        [
            ([Jit.CU_JIT_MAX_REGISTERS], [], RuntimeError, "List is too small: 0 < 1"),
            ([], [1], RuntimeError, "List is too small: 0 < 1"),
            ([Jit.CU_JIT_MAX_REGISTERS], ["x"], TypeError, "optionValues': element 0: expected an"),
            ([Jit.CU_JIT_MAX_REGISTERS], [-1], OverflowError, "element 0: -1 does not fit"),
            ([Jit.CU_JIT_MAX_REGISTERS], 5, TypeError, "argument 'optionValues': expected a list"),
            ([Jit.CU_JIT_NUM_OPTIONS], [1], TypeError, "Unsupported attribute: <CUjit_option"),
        ],
    )
    def test_wrong_options_are_refused(self, calls, options, values, error, message):
        calls("cuModuleLoadDataEx", Pointer, Pointer, ctypes.c_uint, Pointer, Pointer)
        with pytest.raises(error, match=message):
            driver.cuModuleLoadDataEx(b"", 1, options, values)

    def test_no_options_are_null(self, calls):
        seen = calls("cuModuleLoadDataEx", Pointer, Pointer, ctypes.c_uint, Pointer, Pointer)
        driver.cuModuleLoadDataEx(b"", 0, None, None)
        assert seen[0][2:] == (0, None, None)
