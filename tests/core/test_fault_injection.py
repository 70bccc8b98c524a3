# SPDX-License-Identifier: Apache-2.0
"""Every driver call of a constructor or an operation fails once, and nothing leaks."""

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, EventOptions, Stream


def make_streams(device):
    with device.create_stream() as stream, device.create_stream(options={"priority": -1}):
        stream.sync()


def make_stream_in_another_context(device):
    error, raw = driver.cuCtxCreate(None, 0, 0)
    if error:
        return
    try:
        with device.create_stream() as stream:
            stream.record().close()
    finally:
        if driver.cuCtxDestroy(raw)[0] != 0:
            driver.cuCtxDestroy(raw)


def describe_foreign_stream(device):
    error, raw = driver.cuStreamCreate(0)
    if error:
        return
    try:
        with Stream.from_handle(int(raw)) as stream:
            _ = stream.priority, stream.is_nonblocking, stream.context, stream.device
    finally:
        driver.cuStreamDestroy(raw)


def make_events(device):
    with device.create_stream() as stream, device.create_event() as event:
        stream.record(event)
        stream.wait(event)
        start = stream.record(options=EventOptions(timing_enabled=True))
        end = stream.record(options=EventOptions(timing_enabled=True))
        end.sync()
        _ = end - start, end.is_done


def wait_for_other_stream(device):
    with device.create_stream() as first, device.create_stream() as second:
        first.wait(second)
        second.wait(device.default_stream)


def call_host(device):
    with device.create_stream() as stream:
        stream.launch_host(lambda: None)
        stream.sync()


def switch_contexts(device):
    context = device.context
    device.set_current(context)
    device.sync()
    _ = device.memory_info


def describe_device(device):
    _ = device.name, device.pci_bus_id, device.total_memory
    _ = device.properties.clock_rate, device.can_access_peer(0)


USES = [
    make_streams,
    make_stream_in_another_context,
    describe_foreign_stream,
    make_events,
    wait_for_other_stream,
    call_host,
    switch_contexts,
    describe_device,
]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_each_driver_call_may_fail(device, emulation, use):
    use(device)
    assert emulation.sweep(lambda: use(device)) > 0
    device.set_current()
    use(device)


@pytest.mark.parametrize(
    ("function", "use"),
    [
        ("cuStreamCreateWithPriority", lambda d: d.create_stream()),
        ("cuEventCreate", lambda d: d.create_event()),
        ("cuEventRecord", lambda d: d.default_stream.record()),
        ("cuCtxSetCurrent", lambda d: d.set_current()),
        ("cuStreamSynchronize", lambda d: d.default_stream.sync()),
        ("cuLaunchHostFunc", lambda d: d.default_stream.launch_host(print)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_error_names_the_call_that_failed(device, emulation, function, use):
    with (
        emulation.inject(function, error="CUDA_ERROR_INVALID_VALUE"),
        pytest.raises(CUDAError) as caught,
    ):
        use(device)
    assert (caught.value.where, caught.value.name) == (function, "CUDA_ERROR_INVALID_VALUE")


@pytest.mark.parametrize(
    "function", ["cuDriverGetVersion", "cuDeviceGetCount", "cuDevicePrimaryCtxRetain"]
)
def test_a_failing_first_initialization_can_be_repeated(run_python, function):
    code = """
from cuda.core import CUDAError, Device
try:
    Device(0).set_current()
except CUDAError as error:
    print(error.where)
Device(0).set_current()
Device(0).sync()
"""
    rule = {"HALFWARP_EMULATOR_FAIL": f"{function}:1=CUDA_ERROR_UNKNOWN"}
    assert run_python(code, HALFWARP_BACKEND="emulator", **rule).split() == [function]


FAILING_CLEAN_UP = """
import threading, warnings
from cuda.core import CUDAWarning, Device, emulation
device = Device(0)
device.set_current()
stream = device.create_stream()
handle = hex(int(stream.handle))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter({action!r})
    with emulation.inject("cuStreamDestroy", error="CUDA_ERROR_UNKNOWN"):
        {close}
    for _ in range(100):
        len([])  # the main thread warns when it next runs code
assert stream.is_closed
for each in caught:
    print(each.category is CUDAWarning, str(each.message).replace(handle, "HANDLE"))
"""


@pytest.mark.parametrize(
    "close",
    [
        "stream.close()",
        "t = threading.Thread(target=stream.close); t.start(); t.join()",
    ],
    ids=["main thread", "another"],
)
def test_a_failed_cleanup_is_a_warning(run_python, close):
    code = FAILING_CLEAN_UP.format(action="always", close=close)
    output = run_python(code, HALFWARP_BACKEND="emulator", allowed=("emulator: ",))
    assert output == (
        "True cuStreamDestroy failed during clean-up of HANDLE: CUDA_ERROR_UNKNOWN (999)\n"
    )


def test_a_failed_cleanup_whose_warning_is_an_error_is_reported(run_python):
    code = FAILING_CLEAN_UP.format(action="error", close="stream.close()")
    code = "import sys\nsys.unraisablehook = lambda args: print(args.exc_value)\n" + code
    output = run_python(code, HALFWARP_BACKEND="emulator", allowed=("emulator: ",))
    assert output.startswith("cuStreamDestroy failed during clean-up of 0x")
