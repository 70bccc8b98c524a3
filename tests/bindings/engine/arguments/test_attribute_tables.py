# SPDX-License-Identifier: Apache-2.0
"""Every typed attribute: the type that is read, and the values that can be set."""

import ctypes

import pytest
from cuda.bindings import driver, runtime

Pointer, Size, Int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
Both = (driver, runtime)
number, flag = int, bool
wide, address = driver.cuuint64_t, driver.CUdeviceptr

POOL = {
    "REUSE_FOLLOW_EVENT_DEPENDENCIES": number,
    "REUSE_ALLOW_OPPORTUNISTIC": number,
    "REUSE_ALLOW_INTERNAL_DEPENDENCIES": number,
    "RELEASE_THRESHOLD": wide,
    "RESERVED_MEM_CURRENT": wide,
    "RESERVED_MEM_HIGH": wide,
    "USED_MEM_CURRENT": wide,
    "USED_MEM_HIGH": wide,
    "MAX_POOL_SIZE": wide,
    "ALLOCATION_TYPE": "MemAllocationType",
    "EXPORT_HANDLE_TYPES": number,
    "LOCATION_ID": number,
    "LOCATION_TYPE": "MemLocationType",
    "HW_DECOMPRESS_ENABLED": number,
    "LOCALITY_DOMAIN_ID": number,
}
POINTER = {
    "CONTEXT": driver.CUcontext,
    "MEMORY_TYPE": number,
    "DEVICE_POINTER": address,
    "HOST_POINTER": number,
    "P2P_TOKENS": driver.CUDA_POINTER_ATTRIBUTE_P2P_TOKENS,
    "SYNC_MEMOPS": flag,
    "BUFFER_ID": number,
    "IS_MANAGED": flag,
    "DEVICE_ORDINAL": number,
    "IS_LEGACY_CUDA_IPC_CAPABLE": flag,
    "RANGE_START_ADDR": address,
    "RANGE_SIZE": number,
    "MAPPED": flag,
    "ALLOWED_HANDLE_TYPES": number,
    "IS_GPU_DIRECT_RDMA_CAPABLE": number,
    "ACCESS_FLAGS": number,
    "MEMPOOL_HANDLE": driver.CUmemoryPool,
    "MAPPING_SIZE": number,
    "MAPPING_BASE_ADDR": address,
    "MEMORY_BLOCK_ID": number,
    "IS_HW_DECOMPRESS_CAPABLE": flag,
    "LOCALITY_DOMAIN_ORDINAL": number,
}
COREDUMP = {
    "ENABLE_ON_EXCEPTION": flag,
    "TRIGGER_HOST": flag,
    "LIGHTWEIGHT": flag,
    "ENABLE_USER_TRIGGER": flag,
    "FILE": bytes,
    "PIPE": bytes,
    "GENERATION_FLAGS": number,
}
JIT_UNSIGNED = [
    "MAX_REGISTERS",
    "THREADS_PER_BLOCK",
    "INFO_LOG_BUFFER_SIZE_BYTES",
    "ERROR_LOG_BUFFER_SIZE_BYTES",
    "OPTIMIZATION_LEVEL",
    "MIN_CTA_PER_SM",
]
JIT_SIGNED = [
    "GENERATE_DEBUG_INFO",
    "LOG_VERBOSE",
    "GENERATE_LINE_INFO",
    "POSITION_INDEPENDENT_CODE",
    "MAX_THREADS_PER_BLOCK",
    "OVERRIDE_DIRECTIVE_VALUES",
    "FALLBACK_STRATEGY",
    "CACHE_MODE",
]
JIT_BUFFERS = ["INFO_LOG_BUFFER", "ERROR_LOG_BUFFER"]
DRIVER_JIT_UNSIGNED = [
    "GLOBAL_SYMBOL_COUNT",
    "TARGET_FROM_CUCONTEXT",
    "REFERENCED_KERNEL_COUNT",
    "REFERENCED_VARIABLE_COUNT",
    "SPLIT_COMPILE",
    "BINARY_LOADER_THREAD_COUNT",
]
DRIVER_JIT_SIGNED = [
    "TARGET",
    "LTO",
    "FTZ",
    "PREC_DIV",
    "PREC_SQRT",
    "FMA",
    "OPTIMIZE_UNUSED_DEVICE_VARIABLES",
]
DRIVER_JIT_LISTS = [
    "GLOBAL_SYMBOL_NAMES",
    "GLOBAL_SYMBOL_ADDRESSES",
    "REFERENCED_KERNEL_NAMES",
    "REFERENCED_VARIABLE_NAMES",
]
JIT_WITHOUT_TYPE = ["NEW_SM3X_OPT", "FAST_COMPILE", "NUM_OPTIONS"]
PREFIXES = {
    "CUmemPool_attribute": "CU_MEMPOOL_ATTR_",
    "CUpointer_attribute": "CU_POINTER_ATTRIBUTE_",
    "CUcoredumpSettings": "CU_COREDUMP_",
    "CUjit_option": "CU_JIT_",
}


def spelled(name):
    """Spell `RELEASE_THRESHOLD` and `cudaMemPoolAttrReleaseThreshold` alike."""
    return name.replace("_", "").lower()


def member(enum, stem):
    ends = [m for m in enum if spelled(m.name).endswith(spelled(stem))]
    exact = [m for m in ends if m.name == PREFIXES.get(enum.__name__, "") + stem]
    return min(exact or ends, key=lambda m: len(m.name))


def type_named(module, word):
    if not isinstance(word, str):
        return word
    return getattr(module, f"CUm{word[1:]}" if module is driver else f"cuda{word}")


def pool(module):
    return driver.CUmemPool_attribute if module is driver else runtime.cudaMemPoolAttr


def jit(module):
    return driver.CUjit_option if module is driver else runtime.cudaJitOption


def attributes_with(table, enum):
    return {member(enum, stem): kind for stem, kind in table.items()}


@pytest.mark.parametrize("stem", POOL)
def test_a_pool_attribute_is_read_and_set_in_its_type(api, put, stem):
    cls = type_named(api.module, POOL[stem])
    width = 8 if cls is wide else 4
    stored = bytearray(b"\5".ljust(8, b"\0"))
    put(api.name("MemPoolGetAttribute"),
        lambda _pool, _attribute, p: ctypes.memmove(p, bytes(stored), width) and 0,
        Pointer, Int, Pointer)  # fmt: skip

    def set_(_pool, _attribute, pointer):
        stored[:width] = ctypes.string_at(pointer, width)

    put(api.name("MemPoolSetAttribute"), set_, Pointer, Int, Pointer)
    attribute = member(pool(api.module), stem)
    _, value = api.MemPoolGetAttribute(1, attribute)
    assert (type(value), int(value)) == (cls, 5)
    for new in (0, wide(2), cls(1)):
        assert api.MemPoolSetAttribute(1, attribute, new) == (api.result(0),)
        assert int.from_bytes(stored, "little") == int(new)
    for wrong in (None, 1.5, "1", b"1"):
        with pytest.raises(TypeError, match="argument 'value': expected"):
            api.MemPoolSetAttribute(1, attribute, wrong)


@pytest.mark.parametrize("module", Both, ids=lambda m: m.__name__[14:])
def test_every_pool_attribute_has_a_type(module):
    assert set(attributes_with(POOL, pool(module))) == set(pool(module))


def test_graph_memory_is_counted_in_64_bits(api, put):
    enum = (
        driver.CUgraphMem_attribute if api.module is driver else runtime.cudaGraphMemAttributeType
    )
    assert len(enum) == 4
    seen = []
    put(api.name("DeviceGetGraphMemAttribute"),
        lambda _device, _attribute, p: ctypes.memmove(p, (2**40).to_bytes(8, "little"), 8) and 0,
        Int, Int, Pointer)  # fmt: skip
    put(api.name("DeviceSetGraphMemAttribute"),
        lambda _device, a, p: seen.append((a, ctypes.c_uint64.from_address(p).value)),
        Int, Int, Pointer)  # fmt: skip
    for attribute in enum:
        _, value = api.DeviceGetGraphMemAttribute(0, attribute)
        assert (type(value), int(value)) == (wide, 2**40)
        for new in (7, wide(7)):
            api.DeviceSetGraphMemAttribute(0, attribute, new)
            assert seen.pop() == (attribute, 7)


def test_every_range_attribute_is_a_number_or_a_list_of_numbers(api, put):
    def get(pointer, size, *_):
        ctypes.memset(pointer, 0xFF, 4)

    put(api.name("MemRangeGetAttribute"), get, Pointer, Size, Int, Size, Size)
    enum = driver.CUmem_range_attribute if api.module is driver else runtime.cudaMemRangeAttribute
    accessed = member(enum, "ACCESSED_BY")
    for attribute in set(enum) - {accessed}:
        assert api.MemRangeGetAttribute(4, attribute, 1, 1) == (api.result(0), -1)
    assert api.MemRangeGetAttribute(12, accessed, 1, 1) == (api.result(0), [-1, 0, 0])


@pytest.mark.parametrize("stem", POINTER)
def test_a_pointer_attribute_has_its_type(put, stem):
    cls = POINTER[stem]
    width = 4 if stem.endswith("_ORDINAL") else 8
    put("cuPointerGetAttribute",
        lambda p, _attribute, _ptr: ctypes.memmove(p, (1).to_bytes(width, "little"), width) and 0,
        Pointer, Int, Size)  # fmt: skip
    _, value = driver.cuPointerGetAttribute(member(driver.CUpointer_attribute, stem), 1)
    assert type(value) is cls
    assert cls is POINTER["P2P_TOKENS"] or int(value) == 1


def test_every_pointer_attribute_has_a_type():
    assert set(attributes_with(POINTER, driver.CUpointer_attribute)) == set(
        driver.CUpointer_attribute
    )


@pytest.mark.parametrize("stem", COREDUMP)
def test_a_coredump_setting_has_its_type(put, stem):
    sizes = {flag: 1, bytes: 1024, number: 4}

    def get(_attribute, value, size):
        assert Size.from_address(size).value == sizes[COREDUMP[stem]]
        ctypes.memmove(value, b"\1", 1)

    put("cuCoredumpGetAttribute", get, Int, Pointer, Pointer)
    _, value = driver.cuCoredumpGetAttribute(member(driver.CUcoredumpSettings, stem))
    assert type(value) is COREDUMP[stem]
    assert value == (b"\1" if COREDUMP[stem] is bytes else 1)


@pytest.mark.parametrize("kind", ["NONE", "POSIX_FILE_DESCRIPTOR", "WIN32", "WIN32_KMT", "FABRIC"])
@pytest.mark.parametrize(
    ("module", "function"),
    [
        (driver, "cuMemExportToShareableHandle"),
        (driver, "cuMemPoolExportToShareableHandle"),
        (runtime, "cudaMemPoolExportToShareableHandle"),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_exported_memory_has_the_type_of_its_kind(put, module, function, kind):
    enum = (
        driver.CUmemAllocationHandleType
        if module is driver
        else runtime.cudaMemAllocationHandleType
    )
    fabric = driver.CUmemFabricHandle if module is driver else runtime.cudaMemFabricHandle_t
    put(function, lambda p, *_: ctypes.memmove(p, b"\3\0\0\0", 4) and 0,
        Pointer, Pointer, Int, Size)  # fmt: skip
    name = f"HANDLE_TYPE_{kind}" if module is driver else f"HandleType{kind.replace('_', '')}"
    code, handle = getattr(module, function)(1, member(enum, name), 0)
    assert code == 0
    assert type(handle) is (fabric if kind == "FABRIC" else int)
    assert kind == "FABRIC" or handle == 3


class TestJitOptions:
    """The loaders of the driver and of the runtime read options alike."""

    @pytest.fixture
    def stored(self, api, put):
        """`stored(stem, value)`: the word that the library receives."""
        words = []

        def load(_library, _code, _options, values, count, *_):
            words[:] = (ctypes.c_uint64 * count).from_address(values)

        put(api.name("LibraryLoadData"), load,
            *[Pointer] * 4, ctypes.c_uint, Pointer, Pointer, ctypes.c_uint)  # fmt: skip

        def pass_option(stem, value):
            option = member(jit(api.module), stem)
            code, _ = api.LibraryLoadData(b"x", [option], [value], 1, [], [], 0)
            assert code == 0
            return words[0]

        return pass_option

    @pytest.mark.parametrize("stem", JIT_UNSIGNED)
    def test_counts_are_unsigned(self, stored, stem):
        assert stored(stem, 2**32 - 1) == 2**32 - 1
        with pytest.raises(OverflowError):
            stored(stem, -1)
        with pytest.raises(TypeError):
            stored(stem, 1.5)

    @pytest.mark.parametrize("stem", JIT_SIGNED)
    def test_switches_and_choices_are_numbers(self, stored, stem):
        assert stored(stem, 1) == stored(stem, True) == 1
        for wrong in (None, 1.5, "1", b"1"):
            with pytest.raises(TypeError):
                stored(stem, wrong)

    @pytest.mark.parametrize("stem", JIT_BUFFERS)
    def test_logs_are_buffers(self, stored, stem):
        log = bytearray(8)
        assert stored(stem, log) == ctypes.addressof(ctypes.c_char.from_buffer(log))
        with pytest.raises(TypeError):
            stored(stem, "text")

    def test_the_wall_time_is_a_float(self, stored):
        assert stored("WALL_TIME", 1.5) == 0x3FC00000
        with pytest.raises(TypeError):
            stored("WALL_TIME", "1")

    def test_every_option_of_the_runtime_has_a_type(self):
        stems = [*JIT_UNSIGNED, *JIT_SIGNED, *JIT_BUFFERS, "WALL_TIME"]
        assert {member(runtime.cudaJitOption, s) for s in stems} == set(runtime.cudaJitOption)


class TestJitOptionsOfTheDriver:
    @pytest.fixture
    def stored(self, put):
        words = []

        def load(_module, _image, count, _options, values):
            words[:] = (ctypes.c_uint64 * count).from_address(values)

        put("cuModuleLoadDataEx", load, Pointer, Pointer, ctypes.c_uint, Pointer, Pointer)

        def pass_option(stem, value):
            driver.cuModuleLoadDataEx(b"x", 1, [member(driver.CUjit_option, stem)], [value])
            return words[0]

        return pass_option

    @pytest.mark.parametrize("stem", DRIVER_JIT_UNSIGNED)
    def test_counts_are_unsigned(self, stored, stem):
        assert stored(stem, 2**32 - 1) == 2**32 - 1
        with pytest.raises(OverflowError):
            stored(stem, -1)

    @pytest.mark.parametrize("stem", DRIVER_JIT_SIGNED)
    def test_switches_and_choices_are_numbers(self, stored, stem):
        assert stored(stem, 1) == 1
        with pytest.raises(TypeError):
            stored(stem, 1.5)

    @pytest.mark.parametrize("stem", DRIVER_JIT_LISTS)
    def test_names_and_addresses_are_lists(self, stored, stem):
        items = [1, 2] if stem.endswith("ADDRESSES") else [b"a", b"b"]
        assert stored(stem, items) > 4096
        with pytest.raises(TypeError):
            stored(stem, "ab")
        with pytest.raises(TypeError):
            stored(stem, ["ab"])

    @pytest.mark.parametrize("stem", JIT_WITHOUT_TYPE)
    def test_an_internal_option_has_no_type(self, stored, stem):
        with pytest.raises(TypeError, match="Unsupported attribute: <CUjit_option"):
            stored(stem, 1)

    def test_every_option_is_covered(self):
        stems = [*JIT_UNSIGNED, *JIT_SIGNED, *JIT_BUFFERS, "WALL_TIME", *DRIVER_JIT_UNSIGNED]
        stems += [*DRIVER_JIT_SIGNED, *DRIVER_JIT_LISTS, *JIT_WITHOUT_TYPE]
        assert {member(driver.CUjit_option, s) for s in stems} == set(driver.CUjit_option)


@pytest.mark.parametrize("kind", ["CUlibraryOption", "cudaLibraryOption"])
def test_options_of_a_library_are_a_struct_and_a_count(put, kind):
    module, prefix = (driver, "cu") if kind.startswith("CU") else (runtime, "cuda")
    words = []

    def load(*arguments):
        words[:] = (ctypes.c_uint64 * arguments[7]).from_address(arguments[6])

    put(f"{prefix}LibraryLoadData", load,
        *[Pointer] * 4, ctypes.c_uint, Pointer, Pointer, ctypes.c_uint)  # fmt: skip
    enum = getattr(module, kind)
    table, preserved = (
        member(enum, "HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE"),
        member(enum, "BINARY_IS_PRESERVED"),
    )
    functions = driver.CUlibraryHostUniversalFunctionAndDataTable()
    load_data = getattr(module, f"{prefix}LibraryLoadData")
    if module is driver:
        load_data(b"x", [], [], 0, [table, preserved], [functions, 1], 2)
        assert words == [functions.getPtr(), 1]
    load_data(b"x", [], [], 0, [preserved, table], [1, 4096], 2)
    assert words == [1, 4096]
    with pytest.raises(TypeError):
        load_data(b"x", [], [], 0, [preserved], [None], 1)
