# SPDX-License-Identifier: Apache-2.0
"""Exact results: occupancy, attributes of kernels and addresses, contexts, entry points."""

import ast
import ctypes
import struct

import pytest
from cuda.bindings import driver as cu

pytestmark = pytest.mark.usefixtures("emulated")
INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_CONTEXT = 1, 2, 101, 201
INVALID_HANDLE, UNSUPPORTED_LIMIT, PEER_UNSUPPORTED = 400, 215, 217
KIB = 1024


class TestOccupancy:
    """A multiprocessor has 2,048 threads, 32 blocks and 228 KiB; a block reserves 1 KiB."""

    @pytest.fixture
    def empty(self, driver):
        return driver.kernel("empty")

    @pytest.fixture
    def shared(self, driver):
        return driver.kernel("with_shared")  # 1,024 bytes

    def best(self, driver, function, shared=0, limit=0, callback=None, flags=None):
        grid, block = ctypes.c_int(), ctypes.c_int()
        arguments = ctypes.byref(grid), ctypes.byref(block), function, callback, shared, limit
        name = "cuOccupancyMaxPotentialBlockSize"
        if flags is None:
            assert getattr(driver, name)(*arguments) == 0
        else:
            assert getattr(driver, name + "WithFlags")(*arguments, flags) == 0
        return grid.value, block.value

    def test_the_best_block(self, driver, empty, shared):
        assert self.best(driver, empty) == (4 * 2, 1024)
        assert self.best(driver, empty, flags=1) == (4 * 2, 1024)
        assert self.best(driver, empty, limit=512) == (4 * 4, 512)
        assert self.best(driver, empty, limit=500) == (4 * 8, 256)
        assert self.best(driver, empty, limit=2000) == (4 * 2, 1024)
        assert self.best(driver, empty, limit=1) == (4 * 32, 1)
        assert self.best(driver, empty, limit=-1) == (4 * 2, 1024)
        assert self.best(driver, empty, shared=200 * KIB) == (0, 0)
        for function, most in ((empty, 227), (shared, 226)):
            assert driver.cuFuncSetAttribute(function, 8, most * KIB) == 0
        assert self.best(driver, empty, shared=200 * KIB) == (4, 1024)
        assert self.best(driver, empty, shared=300 * KIB) == (0, 0)
        assert self.best(driver, shared, shared=111 * KIB) == (4 * 2, 1024)

    def test_a_callback_has_the_size_of_each_block(self, driver, empty):
        sizes = []
        assert driver.cuFuncSetAttribute(empty, 8, 227 * KIB) == 0

        @ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
        def bytes_of(threads):
            sizes.append(threads)
            return 225 * KIB if threads > 96 else 0

        # blocks of 96 threads: 21 of them have 2,016 threads; 64: 32 blocks have 2,048
        assert self.best(driver, empty, limit=100, callback=bytes_of) == (4 * 32, 64)
        assert sizes == [100, 96, 64, 32]

    def blocks(self, driver, function, *arguments, name=""):
        query = "cuOccupancyMaxActiveBlocksPerMultiprocessor" + name
        return driver.output(query, function, *arguments, kind=ctypes.c_int)

    def test_resident_blocks(self, driver, empty, shared):
        assert [self.blocks(driver, empty, n, 0) for n in (1, 64, 65, 1024, 1025)] == [
            32, 32, 21, 2, 0,
        ]  # fmt: skip
        assert self.blocks(driver, empty, 32, 48 * KIB) == 4
        assert self.blocks(driver, empty, 32, 48 * KIB + 1) == 0
        for function, most in ((empty, 227), (shared, 226)):
            assert driver.cuFuncSetAttribute(function, 8, most * KIB) == 0
        assert self.blocks(driver, empty, 32, 56 * KIB) == 4
        assert self.blocks(driver, empty, 32, 56 * KIB + 1) == 3
        assert self.blocks(driver, shared, 32, 55 * KIB) == 4
        assert self.blocks(driver, shared, 32, 55 * KIB + 1) == 3
        assert self.blocks(driver, empty, 32, 0, 1, name="WithFlags") == 32
        out = ctypes.byref(ctypes.c_int())
        with_flags = driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
        assert with_flags(out, empty, 32, 0, 2) == INVALID_VALUE

    def test_shared_memory_that_blocks_leave(self, driver, empty, shared):
        def available(function, blocks, threads):
            name = "cuOccupancyAvailableDynamicSMemPerBlock"
            return driver.output(name, function, blocks, threads, kind=ctypes.c_size_t)

        assert available(empty, 1, 32) == 227 * KIB
        assert available(empty, 4, 32) == 56 * KIB
        assert available(shared, 4, 32) == 55 * KIB
        assert available(empty, 2, 1024) == 113 * KIB
        out = ctypes.byref(ctypes.c_size_t())
        query = driver.cuOccupancyAvailableDynamicSMemPerBlock
        assert query(out, empty, 3, 1024) == query(out, empty, 33, 32) == INVALID_VALUE

    def config(self, *, threads=32, shared=0, cluster=None):
        value = struct.pack("ii", 4, 0) + struct.pack("III", *(cluster or (1, 1, 1))).ljust(64)
        memory = ctypes.create_string_buffer(value, len(value))
        words = struct.pack("7I4xQQI4x", 64, 1, 1, threads, 1, 1, shared, 0,
                            ctypes.addressof(memory), 1 if cluster else 0)  # fmt: skip
        config = ctypes.create_string_buffer(words, len(words))
        config.attributes = memory
        return config

    def test_clusters(self, driver, empty):
        def largest(**options):
            config = self.config(**options)
            name = "cuOccupancyMaxPotentialClusterSize"
            return driver.output(name, empty, config, kind=ctypes.c_int)

        def active(**options):
            config = self.config(**options)
            return driver.output("cuOccupancyMaxActiveClusters", empty, config, kind=ctypes.c_int)

        assert largest() == 8
        assert largest(cluster=(2, 1, 1)) == 8
        assert largest(threads=1024) == 8  # as many as 4 multiprocessors hold
        assert driver.cuFuncSetAttribute(empty, 8, 200 * KIB) == 0
        assert largest(threads=1024, shared=200 * KIB) == 4
        assert active(threads=1024) == 8
        assert active(threads=1024, cluster=(2, 1, 1)) == 4
        assert active(threads=1024, cluster=(1, 2, 2)) == 2
        assert active(cluster=(3, 1, 1)) == 128 // 3
        assert active(cluster=(16, 1, 1)) == 0
        assert driver.cuFuncSetAttribute(empty, 14, 1) == 0  # larger clusters are allowed
        assert largest() == 16
        assert active(cluster=(16, 1, 1)) == 8


KERNEL = b""".version 8.3
.target sm_80
.address_size 64
.const .align 4 .b8 table[100];
.visible .entry k(.param .u64 a, .param .u32 b, .param .align 16 .b8 c[20]) .maxntid 128, 2, 1 {
    .shared .align 4 .b8 buffer[300];
    .local .align 8 .b8 depot[64];
    .reg .b32 %r<3>;
    mov.u32 %r1, table; mov.u32 %r2, buffer; st.shared.u32 [buffer], %r1;
    st.local.u32 [depot], %r2;
    ret;
}
"""
CLUSTERED = b""".version 8.3
.target sm_90
.address_size 64
.visible .entry fixed() .explicitcluster .reqnctapercluster 2, 3, 1 { ret; }
"""
NAMES = ("threads", "shared", "const", "local", "registers", "ptx", "binary", "cache", "dynamic",
         "carveout", "must_be_set", "width", "height", "depth", "large", "policy", "update",
         "mode")  # fmt: skip


class TestKernels:
    @pytest.fixture
    def library(self, driver):
        arguments = KERNEL, None, None, 0, None, None, 0
        handle = driver.output("cuLibraryLoadData", *arguments)
        yield handle
        assert driver.cuLibraryUnload(handle) == 0

    def attributes(self, driver, function):
        query = "cuFuncGetAttribute"
        return {
            name: driver.output(query, number, function, kind=ctypes.c_int)
            for number, name in enumerate(NAMES)
        }

    def test_attributes_of_a_function_and_of_its_kernel(self, driver, library):
        kernel = driver.output("cuLibraryGetKernel", library, b"k")
        function = driver.output("cuKernelGetFunction", kernel)
        values = self.attributes(driver, function)
        expected = {
            "threads": 256, "shared": 300, "ptx": 80, "binary": 90, "cache": 0,
            "dynamic": 48 * KIB - 300, "carveout": -1, "must_be_set": 0, "width": 0, "height": 0,
            "depth": 0, "large": 0, "policy": 0, "update": 0, "mode": 0,
        }  # fmt: skip
        assert {name: values[name] for name in expected} == expected
        assert values["registers"] > 0 and values["local"] >= 64
        of_kernel = {
            name: driver.output("cuKernelGetAttribute", number, kernel, 0, kind=ctypes.c_int)
            for number, name in enumerate(NAMES)
        }
        assert of_kernel == values
        assert self.attributes(driver, kernel) == values, "a kernel is accepted as a function"

    def test_settings_of_a_kernel_apply_to_one_device(self, driver, library):
        kernel = driver.output("cuLibraryGetKernel", library, b"k")
        numbers = {"dynamic": 4096, "carveout": 50, "width": 2, "height": 3, "depth": 1,
                   "large": 1, "policy": 2}  # fmt: skip
        for name, value in numbers.items():
            attribute = NAMES.index(name)
            assert driver.cuKernelSetAttribute(attribute, value, kernel, 0) == 0
        values = self.attributes(driver, driver.output("cuKernelGetFunction", kernel))
        assert {name: values[name] for name in numbers} == numbers
        driver.modules.append(driver.output("cuModuleLoadData", CLUSTERED))
        fixed = driver.output("cuModuleGetFunction", driver.modules[-1], b"fixed")
        values = self.attributes(driver, fixed)
        assert [values[name] for name in ("width", "height", "depth")] == [2, 3, 1]

    def test_a_limit_of_shared_memory_is_named(self, driver, library, emulated):
        kernel = driver.output("cuLibraryGetKernel", library, b"k")
        most = 227 * KIB - 300
        assert driver.cuKernelSetAttribute(8, most, kernel, 0) == 0
        for wrong in (most + 1, -1):
            assert driver.cuKernelSetAttribute(8, wrong, kernel, 0) == INVALID_VALUE
            text = f"dynamic shared memory of this kernel is 0 to {most} bytes, got {wrong}"
            assert text in emulated.error_text(INVALID_VALUE)

    def test_parameters(self, driver, library, emulated):
        kernel = driver.output("cuLibraryGetKernel", library, b"k")
        function = driver.output("cuKernelGetFunction", kernel)
        for name, handle in (("Kernel", kernel), ("Func", function)):
            rows = []
            info = getattr(driver, f"cu{name}GetParamInfo")
            for index in range(3):
                offset, size = ctypes.c_size_t(), ctypes.c_size_t()
                assert info(handle, index, ctypes.byref(offset), ctypes.byref(size)) == 0
                assert info(handle, index, ctypes.byref(offset), None) == 0
                rows.append((offset.value, size.value))
            assert rows == [(0, 8), (8, 4), (16, 20)]
            assert info(handle, 3, ctypes.byref(offset), None) == INVALID_VALUE
            text = "the kernel has 3 parameters, none with index 3"
            assert text in emulated.error_text(INVALID_VALUE)
            count = ctypes.c_size_t()
            assert getattr(driver, f"cu{name}GetParamCount")(handle, ctypes.byref(count)) == 0
            assert count.value == 3

    def test_cache_preferences(self, driver, library):
        kernel = driver.output("cuLibraryGetKernel", library, b"k")
        function = driver.output("cuKernelGetFunction", kernel)
        for config, code in ((-1, 1), (0, 0), (3, 0), (4, 1)):
            assert driver.cuFuncSetCacheConfig(function, config) == code
            assert driver.cuKernelSetCacheConfig(kernel, config, 0) == code
            assert driver.cuCtxSetCacheConfig(config) == code
        assert driver.output("cuCtxGetCacheConfig", kind=ctypes.c_int) == 3
        assert driver.cuCtxSetCacheConfig(0) == 0
        assert driver.cuKernelSetCacheConfig(kernel, 0, 5) == INVALID_DEVICE


CONTEXT, TYPE, DEVICE_POINTER, HOST_POINTER, MANAGED, ORDINAL = 1, 2, 3, 4, 8, 9
IPC, START, SIZE, HANDLE_TYPES, POOL, MAPPING_SIZE, MAPPING_BASE = 10, 11, 12, 14, 17, 18, 19
HW_DECOMPRESS = 21
HOST, DEVICE = 1, 2


class TestAddresses:
    def ask(self, driver, address, attribute, kind=ctypes.c_uint64):
        value = kind(77)
        code = driver.cuPointerGetAttribute(ctypes.byref(value), attribute, address)
        return value.value if code == 0 else -code

    @pytest.fixture
    def addresses(self, driver, stream):
        """Memory of each kind: its address, memory type, and whether the host reaches it."""
        host = ctypes.create_string_buffer(8192)
        page = (ctypes.addressof(host) + 4095) // 4096 * 4096
        assert driver.cuMemHostRegister(page, 4096, 0) == 0
        module = driver.output("cuModuleLoadData", KERNEL.replace(b".const", b".visible .global"))
        variable, size = ctypes.c_uint64(), ctypes.c_size_t()
        find = ctypes.byref(variable), ctypes.byref(size), module, b"table"
        assert driver.cuModuleGetGlobal(*find) == 0
        areas = {
            "device": (driver.output("cuMemAlloc", 100), DEVICE, False, 100),
            "pinned": (driver.output("cuMemAllocHost", 200), HOST, True, 200),
            "managed": (driver.output("cuMemAllocManaged", 300, 1), DEVICE, True, 300),
            "pool": (driver.output("cuMemAllocAsync", 400, stream), DEVICE, False, 400),
            "registered": (page, HOST, True, 4096),
            "variable": (variable.value, DEVICE, False, 100),
        }
        yield areas
        assert driver.cuMemFreeAsync(areas["pool"][0], stream) == 0
        assert driver.cuStreamSynchronize(stream) == 0
        for name in ("device", "managed"):
            assert driver.cuMemFree(areas[name][0]) == 0
        assert driver.cuMemFreeHost(areas["pinned"][0]) == 0
        assert driver.cuMemHostUnregister(page) == 0
        assert driver.cuModuleUnload(module) == 0

    def test_attributes_of_each_kind_of_memory(self, driver, addresses):
        pool = driver.output("cuDeviceGetDefaultMemPool", 0)
        for name, (base, kind, is_of_host, size) in addresses.items():
            inside = base + 7

            def get(attribute, kind=ctypes.c_uint64, at=inside):
                return self.ask(driver, at, attribute, kind)

            assert get(TYPE, ctypes.c_uint32) == kind, name
            assert get(DEVICE_POINTER) == inside
            assert get(HOST_POINTER) == (inside if is_of_host else -INVALID_VALUE), name
            assert get(MANAGED, ctypes.c_bool) == (name == "managed")
            assert get(ORDINAL, ctypes.c_int) == 0
            assert get(IPC, ctypes.c_bool) == (name == "device"), name
            assert (get(START), get(SIZE)) == (base, size), name
            assert (get(MAPPING_BASE), get(MAPPING_SIZE)) == (base, size), name
            assert get(HANDLE_TYPES) == 0
            assert get(POOL) == (pool if name == "pool" else 0), name
            assert get(HW_DECOMPRESS, ctypes.c_bool) is False
            assert get(CONTEXT) in (driver.context, 0), name
            outside = self.ask(driver, base + size, DEVICE_POINTER)
            assert outside == -INVALID_VALUE or name == "registered", name

    def test_several_attributes_are_zero_where_they_are_unknown(self, driver, addresses):
        kinds = (ctypes.c_int * 4)(HOST_POINTER, TYPE, ORDINAL, SIZE)
        for address, expected in (
            (addresses["device"][0], [0, DEVICE, 0, 100]),
            (addresses["pinned"][0], [addresses["pinned"][0], HOST, 0, 200]),
            (ctypes.addressof(kinds), [0, 0, 2**32 - 2, 0]),
        ):
            values = (ctypes.c_uint64 * 4)()
            into = (ctypes.c_void_p * 4)(*(ctypes.addressof(values) + 8 * i for i in range(4)))
            assert driver.cuPointerGetAttributes(4, kinds, into, address) == 0
            assert list(values) == expected
        into[2] = None
        assert driver.cuPointerGetAttributes(4, kinds, into, address) == INVALID_VALUE


class TestContexts:
    @pytest.mark.parametrize(
        ("flags", "code"),
        [(0, 0), (1, 0), (2, 0), (4, 0), (3, 1), (5, 1), (6, 1), (7, 1), (8, 0), (0x10, 0),
         (0x80, 0), (0xFF, 1), (0x100, 1), (0x1000, 1)],
    )  # fmt: skip
    def test_flags(self, driver, flags, code):
        out = ctypes.c_uint64()
        assert driver.cuCtxCreate_v2(ctypes.byref(out), flags, 0) == code
        if code == 0:
            assert driver.output("cuCtxGetFlags", kind=ctypes.c_uint) == flags
            assert driver.output("cuCtxGetCurrent") == out.value
            assert driver.cuCtxDestroy(out.value) == 0
        assert driver.output("cuCtxGetCurrent") == driver.context

    def test_limits(self, driver):
        supported = dict.fromkeys((0, 1, 2, 4), 0)
        last = int(cu.CUlimit.CU_LIMIT_MAX)
        for limit in range(-1, last + 2):
            out = ctypes.c_size_t()
            expected = UNSUPPORTED_LIMIT if 0 <= limit < last else INVALID_VALUE
            expected = supported.get(limit, expected)
            assert driver.cuCtxGetLimit(ctypes.byref(out), limit) == expected, limit
            assert driver.cuCtxSetLimit(limit, out.value) == expected, limit

    def test_destroying_a_context_that_is_not_on_top_keeps_the_stack(self, driver):
        first = driver.output("cuCtxCreate_v2", 0, 0)
        second = driver.output("cuCtxCreate_v2", 0, 0)
        assert driver.cuCtxDestroy(first) == 0
        assert driver.output("cuCtxGetCurrent") == second
        assert driver.output("cuCtxPopCurrent") == second
        assert driver.output("cuCtxGetCurrent") == first  # destroyed, but on the stack
        assert driver.cuCtxSynchronize() == 709
        assert driver.output("cuCtxPopCurrent") == first
        assert driver.cuCtxDestroy(second) == 0
        assert driver.output("cuCtxGetCurrent") == driver.context

    def test_a_set_context_replaces_the_top(self, driver):
        other = driver.output("cuCtxCreate_v2", 0, 0)
        assert driver.cuCtxSetCurrent(driver.context) == 0
        assert driver.cuCtxSetCurrent(None) == 0
        assert driver.output("cuCtxGetCurrent") == driver.context  # below the top
        assert driver.cuCtxPopCurrent(None) == 0
        assert driver.output("cuCtxGetCurrent") == 0
        assert driver.cuCtxPopCurrent(None) == INVALID_CONTEXT
        assert driver.cuCtxSetCurrent(driver.context) == 0
        assert driver.cuCtxDestroy(other) == 0

    def test_ids_and_versions(self, driver):
        other = driver.output("cuCtxCreate_v2", 0, 0)

        def number(name, context, kind):
            out = kind()
            assert getattr(driver, name)(context, ctypes.byref(out)) == 0
            return out.value

        ids = [
            number("cuCtxGetId", each, ctypes.c_uint64) for each in (driver.context, other, None)
        ]
        assert ids[0] != ids[1] == ids[2]
        streams = [number("cuStreamGetId", each, ctypes.c_uint64) for each in (1, 2)]
        assert streams[0] == ids[1] << 32 != streams[1]
        assert driver.cuCtxDestroy(other) == 0


PEERS = """
    import ctypes
    from cuda.bindings import _low
    def f(name):
        return ctypes.CFUNCTYPE(ctypes.c_int)(_low.inspect_function_pointer("driver", name))
    f("cuInit")(0)
    contexts = []
    for device in range(2):
        out = ctypes.c_uint64()
        f("cuDevicePrimaryCtxRetain")(ctypes.byref(out), device)
        contexts.append(out)
    first, second = contexts
    f("cuCtxSetCurrent")(first)
    enable, disable = f("cuCtxEnablePeerAccess"), f("cuCtxDisablePeerAccess")
    codes = [disable(second), enable(second, 1), enable(first, 0), enable(second, 0),
             enable(second, 0), disable(second), disable(second), enable(ctypes.c_uint64(5), 0)]
    can = []
    for pair in ((0, 1), (1, 0), (0, 0), (0, 2)):
        value = ctypes.c_int(7)
        can.append((f("cuDeviceCanAccessPeer")(ctypes.byref(value), *pair), value.value))
    print((codes, can))
"""


def test_access_of_a_context_to_its_peer(run_emulated):
    codes, can = ast.literal_eval(run_emulated(PEERS, devices=2).stdout)
    enabled, not_enabled = 704, 705
    assert codes == [not_enabled, INVALID_VALUE, PEER_UNSUPPORTED, 0, enabled, 0, not_enabled,
                     INVALID_CONTEXT]  # fmt: skip
    assert can == [(0, 1), (0, 1), (0, 0), (INVALID_DEVICE, 7)]


class TestEntryPoints:
    SUCCESS, NOT_FOUND, TOO_OLD = 0, 1, 2

    def find(self, driver, name, version=13050, flags=0, status=True):
        address, state = ctypes.c_void_p(77), ctypes.c_int(77)
        target = ctypes.byref(state) if status else None
        code = driver.cuGetProcAddress_v2(name, ctypes.byref(address), version, flags, target)
        return code, address.value, state.value

    def test_a_variant_belongs_to_the_version_of_the_caller(self, driver):
        code, newest, state = self.find(driver, b"cuCtxCreate")
        assert (code, state) == (0, self.SUCCESS)
        _, third, _ = self.find(driver, b"cuCtxCreate", 12000)
        _, second, _ = self.find(driver, b"cuCtxCreate", 11000)
        assert len({newest, third, second, None}) == 4
        assert self.find(driver, b"cuCtxCreate", 13051) == (INVALID_VALUE, 77, 77)
        assert self.find(driver, b"cuStreamGetCtx", 9000) == (0, None, self.TOO_OLD)
        assert self.find(driver, b"cuNone") == (0, None, self.NOT_FOUND)
        assert self.find(driver, b"cuInit", status=False)[0] == 0

    def test_streams_of_a_thread_are_chosen_by_a_flag(self, driver):
        legacy, of_thread = 1, 2
        addresses = [self.find(driver, b"cuLaunchKernel", flags=flags)[1] for flags in (0, 1, 2)]
        assert addresses[0] == addresses[legacy] != addresses[of_thread]
        same = [self.find(driver, b"cuInit", flags=flags)[1] for flags in (0, 1, 2)]
        assert len(set(same)) == 1
        for flags in (3, 4, 1 << 40):
            assert self.find(driver, b"cuInit", flags=flags)[0] == INVALID_VALUE
        assert self.find(driver, None)[0] == INVALID_VALUE
        assert driver.cuGetProcAddress_v2(b"cuInit", None, 13050, 0, None) == INVALID_VALUE


def test_the_first_form_of_the_lookup_has_no_status(run_emulated):
    code = """
    import ctypes
    from cuda.core import emulation
    from pathlib import Path
    library = ctypes.CDLL(str(Path(emulation.library.path())))
    address = ctypes.c_void_p()
    name = ctypes.c_char_p(b"cuInit")
    first = library.cuGetProcAddress(name, ctypes.byref(address), 12000, ctypes.c_uint64(0))
    is_match = bool(address.value)
    absent = library.cuGetProcAddress(ctypes.c_char_p(b"cuNone"), ctypes.byref(address), 12000,
                                      ctypes.c_uint64(0))
    print(first, is_match, absent, address.value)
    """
    assert run_emulated(code).stdout.split() == ["0", "True", "0", "None"]
