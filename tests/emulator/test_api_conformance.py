# SPDX-License-Identifier: Apache-2.0
"""Result codes of the driver for null, stale, foreign and garbage arguments; the same rows on a
GPU."""

import ctypes

import pytest

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED = 0, 1, 2, 3
INVALID_DEVICE, INVALID_IMAGE, INVALID_CONTEXT = 101, 200, 201
NO_BINARY, INVALID_PTX, FILE_NOT_FOUND = 209, 218, 301
INVALID_HANDLE, NOT_FOUND, NOT_READY, CONTEXT_IS_DESTROYED = 400, 500, 600, 709

OUT = ctypes.c_uint64 * 16  # large enough for any output

# name, arguments ("out": an output buffer), the code
NULL_AND_RANGE = [
    ("cuInit", (1,), INVALID_VALUE),
    ("cuDriverGetVersion", (None,), INVALID_VALUE),
    ("cuGetErrorName", (123456, "out"), INVALID_VALUE),
    ("cuGetErrorString", (123456, "out"), INVALID_VALUE),
    ("cuDeviceGetCount", (None,), INVALID_VALUE),
    ("cuDeviceGet", ("out", 99), INVALID_DEVICE),
    ("cuDeviceGet", ("out", -1), INVALID_DEVICE),
    ("cuDeviceGetName", ("out", 64, 99), INVALID_DEVICE),
    ("cuDeviceGetName", (None, 64, 0), INVALID_VALUE),
    ("cuDeviceGetAttribute", ("out", 0, 0), INVALID_VALUE),
    ("cuDeviceGetAttribute", ("out", 100000, 0), INVALID_VALUE),
    ("cuDeviceGetAttribute", ("out", 1, 99), INVALID_DEVICE),
    ("cuDeviceGetAttribute", (None, 1, 0), INVALID_VALUE),
    ("cuDevicePrimaryCtxRetain", (None, 0), INVALID_VALUE),
    ("cuDevicePrimaryCtxRetain", ("out", 99), INVALID_DEVICE),
    ("cuDevicePrimaryCtxSetFlags", (0, 0x3000), INVALID_VALUE),
    ("cuCtxGetCurrent", (None,), INVALID_VALUE),
    ("cuCtxGetDevice", (None,), INVALID_VALUE),
    ("cuCtxGetLimit", ("out", 1000), INVALID_VALUE),
    ("cuStreamCreate", (None, 0), INVALID_VALUE),
    ("cuStreamCreate", ("out", 77), INVALID_VALUE),
    ("cuStreamDestroy", (None,), INVALID_HANDLE),
    ("cuStreamWaitEvent", (None, None, 0), INVALID_HANDLE),
    ("cuLaunchHostFunc", (None, None, None), INVALID_VALUE),
    ("cuEventCreate", (None, 0), INVALID_VALUE),
    ("cuEventCreate", ("out", 0x100), INVALID_VALUE),
    ("cuEventCreate", ("out", 4), INVALID_VALUE),
    ("cuEventDestroy", (None,), INVALID_HANDLE),
    ("cuEventRecord", (None, None), INVALID_HANDLE),
    ("cuEventQuery", (None,), INVALID_HANDLE),
    ("cuEventSynchronize", (None,), INVALID_HANDLE),
    ("cuMemAlloc", (None, 16), INVALID_VALUE),
    ("cuMemAlloc", ("out", 0), INVALID_VALUE),
    ("cuMemAlloc", ("out", 1 << 50), OUT_OF_MEMORY),
    ("cuMemAllocAsync", ("out", 0, None), SUCCESS),
    ("cuMemAllocAsync", ("out", 1 << 50, None), OUT_OF_MEMORY),
    ("cuMemAllocHost", ("out", 0), SUCCESS),
    ("cuMemAllocManaged", ("out", 16, 0), INVALID_VALUE),
    ("cuMemFree", (0x1000,), INVALID_VALUE),
    ("cuMemFreeHost", (None,), SUCCESS),
    ("cuMemFreeAsync", (0x1000, None), INVALID_VALUE),
    ("cuMemHostRegister", (None, 4096, 0), INVALID_VALUE),
    ("cuMemcpyDtoD", (0x1000, 0x2000, 16), INVALID_VALUE),
    ("cuMemcpyDtoD", (0x1000, 0x2000, 0), SUCCESS),
    ("cuMemsetD8", (0x1000, 0, 16), INVALID_VALUE),
    ("cuMemsetD8", (0x1000, 0, 0), SUCCESS),
    ("cuMemPoolCreate", ("out", None), INVALID_VALUE),
    ("cuMemPoolDestroy", (None,), INVALID_VALUE),
    ("cuPointerGetAttribute", ("out", 2, 0x1000), INVALID_VALUE),
    ("cuModuleLoadData", ("out", None), INVALID_VALUE),
    ("cuModuleLoad", ("out", b"/no/such/file.ptx"), FILE_NOT_FOUND),
    ("cuModuleUnload", (None,), INVALID_HANDLE),
    ("cuLibraryUnload", (None,), INVALID_HANDLE),
    ("cuLibraryLoadData", ("out", None, None, None, 0, None, None, 0), INVALID_VALUE),
    ("cuLaunchKernel", (None, 1, 1, 1, 1, 1, 1, 0, None, None, None), INVALID_HANDLE),
    ("cuLaunchKernelEx", (None, None, None, None), INVALID_VALUE),
]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    NULL_AND_RANGE,
    ids=[f"{name}-{index}" for index, (name, *_) in enumerate(NULL_AND_RANGE)],
)
def test_null_and_out_of_range_arguments(driver, name, arguments, code):
    actual = [OUT() if a == "out" else a for a in arguments]
    assert getattr(driver, name)(*actual) == code


# Arguments that create a handle, the function that destroys it, and the functions that use it.
HANDLES = {
    "stream": (("cuStreamCreate", 0), "cuStreamDestroy", [
        ("cuStreamSynchronize", ()), ("cuStreamQuery", ()), ("cuStreamGetFlags", ("out",)),
        ("cuStreamGetPriority", ("out",)), ("cuStreamGetCtx", ("out",)), ("cuStreamDestroy", ()),
    ]),
    "event": (("cuEventCreate", 0), "cuEventDestroy", [
        ("cuEventQuery", ()), ("cuEventSynchronize", ()), ("cuEventRecord", (None,)),
        ("cuEventDestroy", ()),
    ]),
    "module": (("cuModuleLoadData", b".version 8.0\n.target sm_75\n.address_size 64\n"),
               "cuModuleUnload", [("cuModuleUnload", ())]),
}  # fmt: skip
USES = [
    pytest.param(kind, name, args, id=f"{kind}-{name}")
    for kind, (_, _, uses) in HANDLES.items()
    for name, args in uses
]


@pytest.mark.usefixtures("emulated")  # a device may crash here
@pytest.mark.parametrize(("kind", "name", "args"), USES)
class TestHandles:
    def use(self, driver, name, handle, args):
        return getattr(driver, name)(handle, *(OUT() if a == "out" else a for a in args))

    @pytest.mark.cuda_expect_fault("destroyed-handle")
    def test_a_destroyed_handle_is_recognized(self, driver, kind, name, args):
        (create, *options), destroy, _ = HANDLES[kind]
        handle = driver.output(create, *options)
        assert getattr(driver, destroy)(handle) == SUCCESS
        assert self.use(driver, name, handle, args) == INVALID_HANDLE

    @pytest.mark.parametrize("garbage", [0x10, 0xDEADBEEF, 0x7FFF_FFFF_F000, 2**64 - 16])
    def test_garbage_is_recognized(self, driver, kind, name, args, garbage):
        assert self.use(driver, name, garbage, args) == INVALID_HANDLE

    def test_a_handle_of_another_kind_is_recognized(self, driver, kind, name, args):
        assert self.use(driver, name, driver.context, args) == INVALID_HANDLE


@pytest.mark.usefixtures("emulated")
class TestContextHandles:
    @pytest.mark.parametrize("garbage", [0x10, 0xDEADBEEF])
    def test_garbage_is_no_context(self, driver, garbage):
        assert driver.cuCtxSetCurrent(garbage) == INVALID_CONTEXT
        assert driver.cuCtxPushCurrent(garbage) == INVALID_CONTEXT

    @pytest.mark.cuda_expect_fault("destroyed-handle", "double-free")
    def test_objects_of_a_destroyed_context_are_destroyed(self, driver):
        context = driver.output("cuCtxCreate_v2", 0, 0)
        stream = driver.output("cuStreamCreate", 0)
        memory = driver.output("cuMemAlloc", 64)
        assert driver.cuCtxDestroy(context) == SUCCESS
        assert driver.cuStreamSynchronize(stream) in (INVALID_HANDLE, CONTEXT_IS_DESTROYED)
        assert driver.cuMemFree(memory) == INVALID_VALUE
        assert driver.cuCtxSetCurrent(context) in (INVALID_CONTEXT, CONTEXT_IS_DESTROYED)

    def test_a_primary_context_cannot_be_destroyed(self, driver):
        assert driver.cuCtxDestroy(driver.context) == INVALID_CONTEXT


def test_a_handle_is_never_reused(driver, emulated):
    seen = set()
    for _ in range(100):
        handle = driver.output("cuStreamCreate", 0)
        assert handle not in seen
        seen.add(handle)
        driver.cuStreamDestroy(handle)


class TestContextStack:
    def test_push_and_pop_keep_the_order(self, driver):
        other = driver.output("cuCtxCreate_v2", 0, 0)
        assert driver.output("cuCtxGetCurrent") == other
        driver.cuCtxPushCurrent(driver.context)
        assert driver.output("cuCtxPopCurrent") == driver.context
        assert driver.output("cuCtxPopCurrent") == other
        assert driver.output("cuCtxGetCurrent") == driver.context
        assert driver.cuCtxDestroy(other) == SUCCESS

    def test_calls_without_a_context_report_it(self, driver):
        driver.cuCtxSetCurrent(None)
        assert driver.output("cuCtxGetCurrent") == 0
        assert driver.cuCtxGetDevice(OUT()) == INVALID_CONTEXT
        assert driver.cuCtxPopCurrent(OUT()) == INVALID_CONTEXT
        assert driver.cuStreamCreate(OUT(), 0) == INVALID_CONTEXT
        assert driver.cuMemAlloc(OUT(), 16) == INVALID_CONTEXT
        assert driver.cuCtxSynchronize() == INVALID_CONTEXT


class TestPrimaryContext:
    def test_state_follows_the_retain_count(self, driver):
        flags, active = ctypes.c_uint(), ctypes.c_int()
        state = (ctypes.byref(flags), ctypes.byref(active))
        assert driver.cuDevicePrimaryCtxGetState(0, *state) == SUCCESS
        assert active.value == 1
        assert driver.output("cuDevicePrimaryCtxRetain", 0) == driver.context
        assert driver.cuDevicePrimaryCtxRelease(0) == SUCCESS
        assert driver.cuDevicePrimaryCtxGetState(0, *state) == SUCCESS
        assert active.value == 1


class TestLookUps:
    def test_names_and_texts_of_errors(self, driver):
        name = driver.output("cuDriverGetVersion", kind=ctypes.c_int)
        assert name >= 12000
        text = ctypes.c_char_p()
        assert driver.cuGetErrorName(700, ctypes.byref(text)) == SUCCESS
        assert text.value == b"CUDA_ERROR_ILLEGAL_ADDRESS"
        assert driver.cuGetErrorString(1, ctypes.byref(text)) == SUCCESS
        assert text.value == b"invalid argument"

    def test_a_short_buffer_cuts_the_name(self, driver):
        buffer = ctypes.create_string_buffer(b"xxxxxxxx")
        assert driver.cuDeviceGetName(buffer, 4, 0) == SUCCESS
        assert len(buffer.value) == 3

    def test_undocumented_tables_do_not_exist(self, driver, emulated):
        table, key = ctypes.c_void_p(1), (ctypes.c_ubyte * 16)()
        assert driver.cuGetExportTable(ctypes.byref(table), key) == NOT_FOUND


@pytest.mark.usefixtures("emulated")
class TestIdentity:
    def test_the_device_reports_that_it_is_emulated(self, driver):
        name, uuid = ctypes.create_string_buffer(64), (ctypes.c_char * 16)()
        assert driver.cuDeviceGetName(name, 64, 0) == SUCCESS
        assert name.value == b"Emulated CUDA device (CPU)"
        assert driver.cuDeviceGetUuid(uuid, 0) == SUCCESS
        assert uuid.raw[:8] == b"EMULATED"
        assert driver.output("cuDeviceGetAttribute", 50, 0, kind=ctypes.c_int) == 0xE000

    def test_unsupported_features_read_as_absent(self, driver):
        absent = {"pageable access": 88, "multicast": 132, "fabric handles": 128}
        for feature, attribute in absent.items():
            assert driver.output("cuDeviceGetAttribute", attribute, 0, kind=ctypes.c_int) == 0, (
                feature
            )

    def test_unsupported_functions_are_refused(self, driver):
        assert driver.cuMulticastUnbind(0, 0, 0, 0) == 801
