# SPDX-License-Identifier: Apache-2.0
"""Green contexts: created from parts of a device, with their own streams and events."""

import ctypes
import gc

import pytest
from cuda.bindings import driver
from cuda.core import (
    Context,
    ContextOptions,
    Device,
    DeviceMemoryResource,
    LaunchConfig,
    SMResourceOptions,
    StreamOptions,
    launch,
)


@pytest.fixture
def halves(device):
    """Two groups of multiprocessors of the same size."""
    sm = device.resources.sm
    unit = sm.coscheduled_alignment
    size = sm.sm_count // 2 // unit * unit
    groups, _ = sm.split(SMResourceOptions(count=[size, size]))
    return groups


@pytest.fixture
def green(device, halves):
    context = device.create_context(ContextOptions(halves[:1]))
    yield context
    context.close()


def test_a_green_context_is_green(green):
    assert isinstance(green, Context)
    assert green.is_green is True
    green.close()
    assert green.is_green is False


def test_creating_it_does_not_make_it_current(device, green):
    assert device.context != green
    assert int(driver.cuCtxGetCurrent()[1]) == int(device.context.handle)


def test_it_has_the_resources_that_it_was_created_with(green, halves):
    assert green.resources.sm.sm_count == halves[0].sm_count


def test_its_streams_require_no_current_context(green, in_new_thread):
    stream = in_new_thread(green.create_stream)
    assert stream.context == green
    assert stream.is_nonblocking
    assert stream.resources.sm.sm_count == green.resources.sm.sm_count
    stream.close()


def test_its_streams_cannot_be_blocking(green):
    with pytest.raises(ValueError, match="must be non-blocking"):
        green.create_stream(StreamOptions(nonblocking=False))


def test_a_priority_out_of_range_is_refused(green):
    with pytest.raises(ValueError, match="out of range"):
        green.create_stream({"priority": 100})


def test_set_current_returns_the_same_object(device, green):
    before = device.set_current(green)
    try:
        assert device.context is green
        with device.create_stream() as stream:
            assert stream.context == green
    finally:
        assert device.set_current(before) is green
    assert device.context is before


def test_it_cannot_be_closed_while_it_is_current(device, green):
    before = device.set_current(green)
    with pytest.raises(RuntimeError, match="while it is current"):
        green.close()
    device.set_current(before)
    assert not green.is_closed


def test_a_kernel_runs_in_it(device, green, store, pinned_block):
    with green.create_stream() as stream:
        launch(stream, LaunchConfig(grid=1, block=1), store, pinned_block, 7)
        stream.sync()
    assert ctypes.string_at(pinned_block.handle, 4) == b"\x07\0\0\0"


def test_events_work_between_green_and_primary_contexts(device, green, stream):
    with green.create_stream() as other:
        mark = other.record()
        assert mark.context == green
        stream.wait(mark)
        other.wait(stream.record())
        stream.sync()
        other.sync()
        assert mark.is_done


def test_a_stream_keeps_it_alive(device, halves):
    context = device.create_context({"resources": halves[:1]})
    stream = context.create_stream()
    context.close()
    gc.collect()
    with stream.record() as event:
        event.sync()
    assert stream.context.is_green
    stream.close()


def test_memory_belongs_to_the_device_and_outlives_it(device, green):
    before = device.set_current(green)
    with device.create_stream() as stream:
        buffer = DeviceMemoryResource(device).allocate(64, stream=stream)
        stream.sync()
    device.set_current(before)
    green.close()
    with device.create_stream() as stream:
        buffer.fill(b"\1", stream=stream)
        stream.sync()
        buffer.close(stream)


def test_the_cooperative_limit_is_that_of_its_multiprocessors(device, green, halves, load_kernel):
    kernel = load_kernel()
    blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0)
    fitting = LaunchConfig(grid=blocks * halves[0].sm_count, block=32, is_cooperative=True)
    too_many = LaunchConfig(grid=blocks * halves[0].sm_count + 1, block=32, is_cooperative=True)
    with green.create_stream() as stream:
        launch(stream, fitting, kernel)
        with pytest.raises(ValueError, match="exceeds the limit"):
            launch(stream, too_many, kernel)
        stream.sync()
    with device.create_stream() as primary_stream:
        launch(primary_stream, too_many, kernel)
        primary_stream.sync()


REFUSED = {
    "no options": (None, ValueError, "resources must be provided"),
    "no resources": (ContextOptions(None), ValueError, "resources must be provided"),
    "an empty sequence": (ContextOptions([]), ValueError, "must not be empty"),
    "one resource": (lambda d: ContextOptions(d.resources.sm), TypeError, r"ContextOptions\(\["),
    "another type": (ContextOptions([1]), TypeError, "Unsupported context resource type"),
    "no options at all": (3, TypeError, "must be provided as an object of type ContextOptions"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_contexts_name_the_cause(device, case):
    options, error, text = REFUSED[case]
    with pytest.raises(error, match=text):
        device.create_context(options(device) if callable(options) else options)


def test_counts_of_a_dry_run_create_no_context(device):
    groups, _ = device.resources.sm.split(SMResourceOptions(), dry_run=True)
    with pytest.raises(ValueError, match="dry-run SMResource"):
        device.create_context(ContextOptions(groups))


@pytest.mark.parametrize(
    "function", ["cuDevResourceGenerateDesc", "cuGreenCtxCreate", "cuCtxFromGreenCtx"]
)
def test_a_failure_leaks_nothing(device, halves, emulation, function):
    with (
        emulation.inject(function, error="CUDA_ERROR_OUT_OF_MEMORY"),
        pytest.raises(MemoryError, match=rf"\[{function}\]"),
    ):
        device.create_context(ContextOptions(halves[:1]))
    # Objects created before the failure would be reported as leaks after the test.


def test_a_failed_stream_creation_is_an_error(green, emulation):
    with (
        emulation.inject("cuGreenCtxStreamCreate", error="CUDA_ERROR_OUT_OF_MEMORY"),
        pytest.raises(MemoryError, match=r"\[cuGreenCtxStreamCreate\]"),
    ):
        green.create_stream()


def test_options_that_close_the_context_are_handled(green):
    class Closing:
        def __index__(self):
            green.close()
            return 0

        __int__ = __index__

        def __le__(self, other):
            return True

        __ge__ = __le__

    stream = green.create_stream({"priority": Closing()})
    assert green.is_closed
    assert stream.context.is_green
    stream.close()


def test_a_reset_destroys_it_silently(run_python):
    code = """
from cuda.bindings import driver
from cuda.core import ContextOptions, Device, emulation
device = Device(0)
device.set_current()
groups, _ = device.resources.sm.split({"count": device.resources.sm.coscheduled_alignment})
context = device.create_context(ContextOptions(groups))
stream = context.create_stream()
event = stream.record()
driver.cuDevicePrimaryCtxReset(0)
event.close()
stream.close()
context.close()
print([fault.kind for fault in emulation.faults()] if emulation.is_active() else [])
"""
    assert run_python(code).split() == ["[]"]


def test_a_forked_child_destroys_nothing(run_python):
    code = """
import os
from cuda.core import ContextOptions, Device
device = Device(0)
device.set_current()
groups, _ = device.resources.sm.split({"count": device.resources.sm.coscheduled_alignment})
context = device.create_context(ContextOptions(groups))
stream = context.create_stream()
child = os.fork()
if child == 0:
    stream.close()
    context.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
stream.sync()
print(context.resources.sm.sm_count == groups[0].sm_count)
"""
    assert run_python(code).split() == ["True"]


def test_a_context_that_is_open_at_exit_is_harmless(run_python):
    code = """
from cuda.core import ContextOptions, Device
device = Device(0)
device.set_current()
context = device.create_context(ContextOptions([device.resources.sm]))
stream = context.create_stream()
device.set_current(context)
print("end")
"""
    assert run_python(code).split() == ["end"]


def test_every_device_creates_its_own(device):
    for each in Device.get_all_devices():
        context = each.create_context(ContextOptions([each.resources.sm]))
        assert context.resources.sm.sm_count == each.properties.multiprocessor_count
        context.close()
