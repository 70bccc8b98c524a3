# SPDX-License-Identifier: Apache-2.0
"""Modules and libraries, kernels and their attributes, the limits of a launch, occupancy."""

import ctypes

import pytest

SUCCESS, INVALID_VALUE, NO_BINARY, INVALID_PTX, INVALID_IMAGE = 0, 1, 209, 218, 200
INVALID_CONTEXT = 201
NOT_FOUND, OUT_OF_RESOURCES, TOO_LARGE = 500, 701, 720
ERROR_LOG, ERROR_LOG_SIZE = 5, 6
MAX_THREADS, SHARED, REGISTERS, BINARY_VERSION, CACHE_MODE_CA, MAX_DYNAMIC = 0, 1, 4, 6, 7, 8
KIB = 1024


@pytest.fixture
def library(driver):
    """Loads PTX text as a library."""
    loaded = []

    def load(text):
        ptx = b".version 8.0\n.target sm_75\n.address_size 64\n" + text.encode()
        loaded.append(driver.output("cuLibraryLoadData", ptx, None, None, 0, None, None, 0))
        return loaded[-1]

    yield load
    for each in loaded:
        driver.cuLibraryUnload(each)


def attribute(driver, function, attribute_id):
    return driver.output("cuFuncGetAttribute", attribute_id, function, kind=ctypes.c_int)


BARRIER = """
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry count(.param .u64 place) {
  .reg .u32 %r<4>;
  .reg .u64 %a<3>;
  .param .b32 scope;
  .param .b64 handle;
  .param .b32 flags;
  .param .b32 status;
  ld.param.u64 %a0, [place];
  red.global.add.u32 [%a0], 1;
  st.param.b32 [scope], 1;
  call (handle), cudaCGGetIntrinsicHandle, (scope);
  st.param.b32 [flags], 0;
  call (status), cudaCGSynchronize, (handle, flags);
  ld.volatile.global.u32 %r0, [%a0];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %a1, %r1, 4;
  add.u64 %a1, %a1, %a0;
  st.global.u32 [%a1+4], %r0;
  ret;
}
"""


def test_code_that_is_linked_with_the_device_runtime_synchronizes_its_grid(driver):
    """The linker recognizes the archive by the name of its object."""
    blocks, threads, library, ptx = 4, 40, 4, 1
    archive = b"!<arch>\n//                      22        `\ncuda_device_runtime.o/\n"
    state = ctypes.c_void_p()
    assert driver.cuLinkCreate_v2(0, None, None, ctypes.byref(state)) == SUCCESS
    for kind, data in ((ptx, BARRIER.lstrip().encode()), (library, archive)):
        size = ctypes.c_size_t(len(data))
        assert driver.cuLinkAddData_v2(state, kind, data, size, b"part", 0, None, None) == SUCCESS
    image, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert driver.cuLinkComplete(state, ctypes.byref(image), ctypes.byref(size)) == SUCCESS
    module = driver.output("cuModuleLoadData", image)
    kernel = driver.output("cuModuleGetFunction", module, b"count")
    place = ctypes.c_uint64(driver.output("cuMemAlloc_v2", 4 * (1 + blocks)))
    assert driver.cuMemsetD32_v2(place, 0, 1 + blocks) == SUCCESS
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(place))
    shape = blocks, 1, 1, threads, 1, 1, 0, None
    assert driver.cuLaunchCooperativeKernel(kernel, *shape, pointers) == SUCCESS
    assert driver.read(place, 1 + blocks) == [blocks * threads] * (1 + blocks)
    assert driver.cuMemFree_v2(place) == driver.cuModuleUnload(module) == SUCCESS
    assert driver.cuLinkDestroy(state) == SUCCESS


class TestLoading:
    def test_malformed_text_fills_the_error_log(self, driver):
        log = ctypes.create_string_buffer(1000)
        options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        out = ctypes.c_uint64(77)
        text = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k( { nonsense }"
        code = driver.cuModuleLoadDataEx(ctypes.byref(out), text, 2, options, values)
        assert code == INVALID_PTX
        assert out.value == 77
        assert b"line 4" in log.value
        assert values[1] == len(log.value)

    def test_a_short_log_is_cut(self, driver):
        log = ctypes.create_string_buffer(b"x" * 16)
        options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 8)
        out = ctypes.c_uint64()
        text = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k( {"
        driver.cuModuleLoadDataEx(ctypes.byref(out), text, 2, options, values)
        assert len(log.raw[:8].rstrip(b"\0")) == 7
        assert log.raw[8:16] == b"x" * 8

    def test_options_without_values_are_refused(self, driver, emulated):
        out, options = ctypes.c_uint64(), (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_SIZE)
        text = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k( {"
        load = driver.cuModuleLoadDataEx
        assert load(ctypes.byref(out), text, 2, options, None) == INVALID_VALUE
        assert load(ctypes.byref(out), text, 2, None, options) == INVALID_VALUE

    def test_invalid_code_is_refused(self, driver):
        out = ctypes.c_uint64()
        assert driver.cuModuleLoadData(ctypes.byref(out), b"hello") in (INVALID_IMAGE, INVALID_PTX)

    def test_code_for_a_newer_device_is_refused(self, driver, emulated):
        out = ctypes.c_uint64()
        text = b".version 9.0\n.target sm_121\n.address_size 64\n.visible .entry k() { ret; }"
        assert driver.cuModuleLoadData(ctypes.byref(out), text) == NO_BINARY
        assert "sm_121" in emulated.error_text(NO_BINARY)

    @pytest.mark.parametrize("size, code", [(48 * KIB, SUCCESS), (48 * KIB + 1, INVALID_PTX)])
    def test_shared_variables_of_a_kernel_have_a_limit(self, driver, emulated, size, code):
        """Variables that a kernel does not name do not count."""
        out = ctypes.c_uint64()
        kernels = "".join(
            f".visible .entry {name}() {{ .shared .b8 s[{bytes_}]; .reg .b32 r; "
            f"mov.u32 r, s; st.shared.b32 [r], r; ret; }}"
            for name, bytes_ in (("small", 1000), ("large", size))
        )
        text = f".version 8.0\n.target sm_75\n.address_size 64\n.shared .b8 u[90000];{kernels}"
        assert driver.cuModuleLoadData(ctypes.byref(out), text.encode()) == code
        if code:
            assert "'large' uses too much shared data" in emulated.error_text(code)
        else:
            driver.cuModuleUnload(out)

    def test_a_missing_kernel_or_variable_is_not_found(self, driver):
        module = driver.output(
            "cuModuleLoadData", b".version 8.0\n.target sm_75\n.address_size 64\n"
        )
        out = ctypes.c_uint64()
        assert driver.cuModuleGetFunction(ctypes.byref(out), module, b"k") == NOT_FOUND
        assert driver.cuModuleGetGlobal(ctypes.byref(out), None, module, b"v") == NOT_FOUND
        driver.cuModuleUnload(module)

    def test_a_variable_has_an_address_and_its_value(self, driver):
        driver.kernel(".visible .global .u32 counter = 41; .visible .entry k() { ret; }", entry="k")
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        out = (ctypes.byref(address), ctypes.byref(size))
        assert driver.cuModuleGetGlobal(*out, driver.modules[-1], b"counter") == SUCCESS
        assert size.value == 4
        assert driver.read(address.value) == [41]

    def test_the_host_writes_constant_memory(self, driver):
        driver.kernel(".visible .const .align 4 .b8 c[8]; .visible .entry k() { ret; }", entry="k")
        address = ctypes.c_uint64()
        driver.cuModuleGetGlobal(ctypes.byref(address), None, driver.modules[-1], b"c")
        assert driver.cuMemcpyHtoD(address.value, b"\7\0\0\0\x08\0\0\0", 8) == SUCCESS
        assert driver.cuMemsetD32(address.value + 4, 9, 1) == SUCCESS
        assert driver.read(address.value, 2) == [7, 9]


class TestLibraries:
    TWO = ".visible .entry b(.param .u32 x) { ret; } .visible .entry a() { ret; }"

    def test_kernels_are_found_counted_and_named(self, driver, library):
        lib = library(self.TWO)
        kernel = driver.output("cuLibraryGetKernel", lib, b"b")
        assert driver.output("cuLibraryGetKernel", lib, b"b") == kernel
        assert driver.output("cuLibraryGetKernelCount", lib, kind=ctypes.c_uint) == 2
        name = driver.output("cuKernelGetName", kernel, kind=ctypes.c_char_p)
        assert name == b"b"
        assert driver.output("cuKernelGetLibrary", kernel) == lib
        out = ctypes.c_uint64()
        assert driver.cuLibraryGetKernel(ctypes.byref(out), lib, b"c") == NOT_FOUND

    def test_parameters_are_returned_in_a_context_only(self, driver, library):
        lib = library(self.TWO)
        kernel = driver.output("cuLibraryGetKernel", lib, b"b")
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        out = (ctypes.byref(offset), ctypes.byref(size))
        driver.cuCtxSetCurrent(None)
        assert driver.cuKernelGetParamInfo(kernel, 0, *out) == INVALID_CONTEXT
        driver.cuCtxSetCurrent(driver.context)
        assert driver.cuKernelGetParamInfo(kernel, 0, *out) == SUCCESS
        assert (offset.value, size.value) == (0, 4)
        assert driver.cuKernelGetParamInfo(kernel, 1, *out) == INVALID_VALUE

    def test_a_kernel_is_launched_like_a_function(self, driver, library):
        kernel = driver.output("cuLibraryGetKernel", library(self.TWO), b"b")
        assert driver.launch(kernel, ctypes.c_uint32(1)) == SUCCESS
        function = driver.output("cuKernelGetFunction", kernel)
        assert driver.launch(function, ctypes.c_uint32(1)) == SUCCESS
        assert driver.cuCtxSynchronize() == SUCCESS

    def test_settings_of_a_kernel_apply_to_its_functions(self, driver, library):
        kernel = driver.output("cuLibraryGetKernel", library(self.TWO), b"a")
        assert driver.cuKernelSetAttribute(MAX_DYNAMIC, 64 * KIB, kernel, 0) == SUCCESS
        function = driver.output("cuKernelGetFunction", kernel)
        assert attribute(driver, function, MAX_DYNAMIC) == 64 * KIB
        assert driver.launch(kernel, shared=64 * KIB) == SUCCESS

    def test_a_library_survives_the_reset_of_its_context(self, driver, library, emulated):
        kernel = driver.output("cuLibraryGetKernel", library(self.TWO), b"a")
        assert driver.launch(kernel) == SUCCESS
        emulated.reset()
        assert driver.launch(kernel) == SUCCESS
        assert driver.cuCtxSynchronize() == SUCCESS


class TestAttributes:
    def test_offsets_and_sizes_of_parameters(self, driver):
        mixed = driver.kernel("mixed")
        result = []
        for index in range(5):
            offset, size = ctypes.c_size_t(), ctypes.c_size_t()
            out = (ctypes.byref(offset), ctypes.byref(size))
            assert driver.cuFuncGetParamInfo(mixed, index, *out) == SUCCESS
            result.append((offset.value, size.value))
        assert result == [(0, 8), (8, 1), (10, 2), (16, 8), (24, 24)]

    def test_attributes_of_a_kernel_with_shared_memory(self, driver):
        function = driver.kernel("with_shared")
        assert attribute(driver, function, SHARED) == 1024
        assert attribute(driver, function, MAX_THREADS) == 1024
        assert attribute(driver, function, REGISTERS) >= 1
        assert attribute(driver, function, MAX_DYNAMIC) == 47 * KIB

    @pytest.mark.usefixtures("emulated")
    def test_no_kernel_caches_its_reads_of_global_memory(self, driver):
        assert attribute(driver, driver.kernel("empty"), CACHE_MODE_CA) == 0

    def test_dynamic_shared_memory_can_be_raised_to_the_opt_in_limit(self, driver, emulated):
        function = driver.kernel("with_shared")
        most = driver.output("cuDeviceGetAttribute", 97, 0, kind=ctypes.c_int) - 1024
        assert driver.cuFuncSetAttribute(function, MAX_DYNAMIC, most + 1) == INVALID_VALUE
        assert driver.cuFuncSetAttribute(function, MAX_DYNAMIC, most) == SUCCESS
        assert attribute(driver, function, MAX_DYNAMIC) == most

    def test_compile_time_attributes_cannot_be_set(self, driver):
        function = driver.kernel("empty")
        assert driver.cuFuncSetAttribute(function, REGISTERS, 1) == INVALID_VALUE


class TestLaunchLimits:
    @pytest.mark.parametrize(
        ("shape", "code"),
        [
            pytest.param({"grid": (0, 1, 1)}, INVALID_VALUE, id="no-blocks"),
            pytest.param({"block": (0, 1, 1)}, INVALID_VALUE, id="no-threads"),
            pytest.param({"grid": (1, 65536, 1)}, INVALID_VALUE, id="grid-too-high"),
            pytest.param({"block": (1025, 1, 1)}, INVALID_VALUE, id="block-too-wide"),
            pytest.param({"block": (1, 1, 65)}, INVALID_VALUE, id="block-too-deep"),
            pytest.param({"block": (64, 32, 1)}, INVALID_VALUE, id="too-many-threads"),
            pytest.param({"shared": 49 * KIB}, INVALID_VALUE, id="too-much-shared-memory"),
        ],
    )
    def test_shapes_that_no_device_has(self, driver, shape, code):
        assert driver.launch(driver.kernel("empty"), **shape) == code

    def test_launch_bounds_are_respected(self, driver):
        limited = driver.kernel("limited")
        assert driver.launch(limited, block=(64, 1, 1)) == SUCCESS
        assert driver.launch(limited, block=(65, 1, 1)) == INVALID_VALUE

    def test_estimated_registers_refuse_no_launch(self, driver):
        """The emulator cannot know which registers a compiler would spill."""
        many = range(300)
        loads = "".join(f"ld.param.u32 r{i}, [x];" for i in many)
        sums = "".join(f"add.u32 sum, sum, r{i};" for i in many)
        text = f"""
            .visible .entry k(.param .u64 to, .param .u32 x) {{
                .reg .b32 r<300>, sum; .reg .b64 a;
                {loads} mov.u32 sum, 0; {sums} ld.param.u64 a, [to]; st.global.u32 [a], sum;
                ret; }}"""
        memory = driver.output("cuMemAlloc", 4)
        arguments = ctypes.c_uint64(memory), ctypes.c_uint32(2)
        kernel = driver.kernel(text, entry="k")
        assert driver.launch(kernel, *arguments, block=(1024, 1, 1)) == SUCCESS
        assert driver.read(memory) == [600]
        driver.cuMemFree(memory)

    def test_a_required_block_is_required(self, driver):
        exact = driver.kernel("exact")
        assert driver.launch(exact, block=(32, 2, 1)) == SUCCESS
        for other in ((64, 1, 1), (16, 2, 1), (32, 1, 1), (32, 2, 2)):
            assert driver.launch(exact, block=other) == INVALID_VALUE

    def test_a_cooperative_grid_must_fit(self, driver, emulated):
        empty = driver.kernel("empty")
        blocks = driver.output(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor", empty, 1024, 0, kind=ctypes.c_int
        ) * driver.output("cuDeviceGetAttribute", 16, 0, kind=ctypes.c_int)
        launch = driver.cuLaunchCooperativeKernel
        assert launch(empty, blocks, 1, 1, 1024, 1, 1, 0, None, None) == SUCCESS
        assert launch(empty, blocks + 1, 1, 1, 1024, 1, 1, 0, None, None) == TOO_LARGE

    def test_missing_arguments_are_refused(self, driver):
        store = driver.kernel("store")
        assert driver.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, None, None, None) == INVALID_VALUE

    def test_packed_arguments_of_the_right_size_are_accepted(self, driver):
        class Packed(ctypes.Structure):
            _fields_ = (("out", ctypes.c_uint64), ("value", ctypes.c_uint32))

        memory = driver.output("cuMemAlloc", 4)
        packed = Packed(memory, 9)
        store, size = driver.kernel("store"), ctypes.c_size_t(12)
        options = (ctypes.c_void_p * 5)(1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0)
        assert driver.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, None, None, options) == SUCCESS
        assert driver.read(memory) == [9]
        driver.cuMemFree(memory)

    def test_packed_arguments_of_another_size_are_refused(self, driver, emulated):
        """A device does not check the size."""
        store, size, packed = driver.kernel("store"), ctypes.c_size_t(8), ctypes.c_uint64()
        options = (ctypes.c_void_p * 5)(1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0)
        refused = driver.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, None, None, options)
        assert refused == INVALID_VALUE


class TestOccupancy:
    def blocks(self, driver, function, threads, shared=0):
        name = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        return driver.output(name, function, threads, shared, kind=ctypes.c_int)

    @pytest.mark.usefixtures("emulated")
    @pytest.mark.parametrize(("threads", "expected"), [(32, 32), (64, 32), (128, 16), (1024, 2)])
    def test_threads_and_blocks_limit_it(self, driver, threads, expected):
        assert self.blocks(driver, driver.kernel("empty"), threads) == expected

    @pytest.mark.usefixtures("emulated")
    def test_shared_memory_limits_it(self, driver):
        # 40 KiB and the reserved KiB go five times into 228 KiB
        assert self.blocks(driver, driver.kernel("empty"), 32, 40 * KIB) == 5

    def test_the_suggested_block_is_the_largest_of_the_best(self, driver):
        empty = driver.kernel("empty")
        grid, block = ctypes.c_int(), ctypes.c_int()
        out = (ctypes.byref(grid), ctypes.byref(block))
        assert driver.cuOccupancyMaxPotentialBlockSize(*out, empty, None, 0, 0) == SUCCESS
        assert block.value == 1024
        assert grid.value >= driver.output("cuDeviceGetAttribute", 16, 0, kind=ctypes.c_int)
        assert driver.cuOccupancyMaxPotentialBlockSize(*out, empty, None, 0, 100) == SUCCESS
        assert block.value <= 100

    def test_the_callback_returns_the_shared_memory(self, driver):
        block_sizes = []
        kind = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
        function = kind(lambda threads: block_sizes.append(threads) or 0)
        grid, block = ctypes.c_int(), ctypes.c_int()
        out = (ctypes.byref(grid), ctypes.byref(block))
        empty = driver.kernel("empty")
        assert driver.cuOccupancyMaxPotentialBlockSize(*out, empty, function, 0, 0) == SUCCESS
        assert max(block_sizes) == 1024

    def test_the_callback_may_call_the_driver(self, driver):
        devices = []
        kind = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)

        def shared_for(threads):
            devices.append(driver.output("cuCtxGetDevice", kind=ctypes.c_int))
            return 0

        grid, block = ctypes.c_int(), ctypes.c_int()
        out = (ctypes.byref(grid), ctypes.byref(block))
        empty, function = driver.kernel("empty"), kind(shared_for)
        assert driver.cuOccupancyMaxPotentialBlockSize(*out, empty, function, 0, 0) == SUCCESS
        assert set(devices) == {0}

    @pytest.mark.usefixtures("emulated")
    def test_available_shared_memory_makes_the_blocks_fit(self, driver):
        empty = driver.kernel("empty")
        name = "cuOccupancyAvailableDynamicSMemPerBlock"
        available = driver.output(name, empty, 4, 128, kind=ctypes.c_size_t)
        assert driver.cuFuncSetAttribute(empty, MAX_DYNAMIC, available) == SUCCESS
        assert self.blocks(driver, empty, 128, available) == 4
