# SPDX-License-Identifier: Apache-2.0
"""Resources of a device: multiprocessors that can be divided, and workqueues."""

import ctypes
import weakref

import pytest
from cuda.bindings import driver
from cuda.core import (
    Context,
    ContextOptions,
    CUDAError,
    Device,
    DeviceResources,
    SMResource,
    SMResourceOptions,
    WorkqueueResource,
    WorkqueueResourceOptions,
)
from cuda.core.execution.resources.options import require_counts
from cuda.core.typing import WorkqueueSharingScopeType


@pytest.fixture
def sm(device):
    return device.resources.sm


@pytest.fixture
def unit(sm):
    return sm.coscheduled_alignment


def since_13_1():
    error, version = driver.cuDriverGetVersion()
    return error == driver.CUresult.CUDA_SUCCESS and version >= 13010


@pytest.fixture
def structured():
    if not since_13_1():
        pytest.skip("a driver before CUDA 13.1 creates only groups of one size")


@pytest.fixture
def workqueue(device):
    """A new workqueue resource per test; drivers before CUDA 13.1 refuse it with a message."""
    if since_13_1():
        return device.resources.workqueue
    with pytest.raises(RuntimeError, match=r"workqueue .* needs a driver of CUDA 13\.1 or newer"):
        device.resources.workqueue  # noqa: B018
    pytest.skip("a driver before CUDA 13.1 has no workqueues")


@pytest.mark.parametrize("cls", [DeviceResources, SMResource, WorkqueueResource])
def test_the_classes_cannot_be_called(cls):
    with pytest.raises(RuntimeError, match=f"^{cls.__name__} cannot be instantiated directly"):
        cls()


def test_resources_of_a_device_are_one_object(device):
    assert device.resources is device.resources
    assert device.resources.sm is not device.resources.sm


def test_the_device_requires_no_context(in_new_thread):
    counts = in_new_thread(lambda: Device(0).resources.sm.sm_count)
    assert counts == Device(0).properties.multiprocessor_count


def test_a_primary_context_has_the_whole_device(device, stream, sm):
    for of in (device.context.resources, stream.resources):
        assert of.sm.sm_count == sm.sm_count


def test_resources_of_a_closed_context_are_refused(in_new_thread):
    def use():
        device = Device(0)
        device.set_current()
        with device.create_stream() as stream:
            context = stream.context
        from cuda.bindings import driver

        driver.cuCtxPopCurrent()
        context.close()
        with pytest.raises(RuntimeError, match="Context has been closed"):
            context.resources  # noqa: B018

    in_new_thread(use)


def test_the_handle_is_the_address_of_the_struct(sm):
    kind = ctypes.c_int.from_address(sm.handle).value
    assert kind == 1  # CU_DEV_RESOURCE_TYPE_SM


def test_numbers_of_the_driver(sm):
    assert sm.sm_count >= sm.min_partition_size >= 1
    assert sm.coscheduled_alignment >= 1
    assert isinstance(sm.flags, int)


def test_a_count_gives_one_group_and_a_remainder(sm, unit):
    groups, remainder = sm.split(SMResourceOptions(count=unit))
    assert [g.sm_count for g in groups] == [unit]
    assert remainder.sm_count == sm.sm_count - unit


@pytest.mark.usefixtures("structured")
def test_none_selects_the_largest_possible_count(sm, unit):
    groups, remainder = sm.split(SMResourceOptions(count=[unit, None]))
    assert groups[0].sm_count == unit
    assert groups[1].sm_count % unit == 0
    assert sum(g.sm_count for g in groups) + remainder.sm_count == sm.sm_count


@pytest.mark.usefixtures("structured")
def test_a_scalar_applies_to_all_groups(sm, unit):
    groups, _ = sm.split(SMResourceOptions(count=[unit, unit], coscheduled_sm_count=2))
    assert [g.coscheduled_alignment for g in groups] == [2, 2]


def test_a_dict_is_accepted(sm, unit):
    groups, _ = sm.split({"count": unit})
    assert groups[0].sm_count == unit


def test_a_dry_run_returns_the_counts_of_a_real_split(sm, unit):
    options = SMResourceOptions(count=[unit, None] if since_13_1() else [unit, unit])
    dry, dry_rest = sm.split(options, dry_run=True)
    real, remainder = sm.split(options)
    assert [g.sm_count for g in dry] == [g.sm_count for g in real]
    assert dry_rest.sm_count == remainder.sm_count


def test_results_inherit_unset_fields(sm, unit):
    groups, remainder = sm.split({"count": unit})
    assert all(g.min_partition_size == sm.min_partition_size for g in (*groups, remainder))


@pytest.fixture
def old_driver(monkeypatch):
    """Drivers before CUDA 13.1 are queried through their older function."""
    monkeypatch.setattr("cuda.core._utils.version.driver_version", lambda: (13, 0, 0))


def test_older_drivers_create_groups_of_one_size(old_driver, device, sm, unit):
    groups, remainder = sm.split({"count": [unit, unit]})
    assert [g.sm_count for g in groups] == [unit, unit]
    assert remainder.sm_count == sm.sm_count - 2 * unit
    with device.create_context(ContextOptions(groups[:1])) as context:
        assert context.resources.sm.sm_count == unit
    with pytest.raises(RuntimeError, match=r"before CUDA 13\.1 supports homogeneous groups"):
        sm.split({"count": [unit, None]})
    with pytest.raises(RuntimeError, match=r"need a driver of CUDA 13\.1 or newer"):
        sm.split({"count": unit, "coscheduled_sm_count": 2})


def test_groups_of_one_size_must_all_fit(old_driver, sm, unit):
    count = sm.sm_count // unit + 1
    text = rf"cannot split {sm.sm_count} multiproc.* into {count} groups .*{unit}: only {count - 1}"
    with pytest.raises(ValueError, match=text):
        sm.split({"count": [unit] * count})


@pytest.mark.parametrize(
    ("version", "resource", "text"),
    [
        ((12, 3, 0), "sm", "querying the multiprocessors .* needs a driver of CUDA 12.4 or newer"),
        ((13, 0, 2), "workqueue", "querying the workqueue .* needs a driver of CUDA 13.1 or newer"),
    ],
)
def test_a_driver_without_a_resource_is_named(device, monkeypatch, version, resource, text):
    monkeypatch.setattr("cuda.core._utils.version.driver_version", lambda: version)
    major, minor, _ = version
    with pytest.raises(RuntimeError, match=f"{text}; this driver supports CUDA {major}.{minor}$"):
        getattr(device.resources, resource)


@pytest.mark.parametrize(
    ("version", "function"),
    [
        ((12, 4, 0), "cuDevSmResourceSplitByCount"),
        ((13, 0, 9), "cuDevSmResourceSplitByCount"),
        ((13, 1, 0), "cuDevSmResourceSplit"),
    ],
)
def test_a_split_uses_the_function_of_the_driver(
    device, monkeypatch, emulation, unit, version, function
):
    monkeypatch.setattr("cuda.core._utils.version.driver_version", lambda: version)
    whole = device.resources.sm
    with (
        emulation.inject(function, error="CUDA_ERROR_UNKNOWN"),
        pytest.raises(CUDAError, match=rf"\[{function}\]"),
    ):
        whole.split({"count": unit})


def test_the_workqueue_is_known_to_drivers_of_13_1(device, monkeypatch):
    monkeypatch.setattr("cuda.core._utils.version.driver_version", lambda: (13, 1, 0))
    assert device.resources.workqueue is not None


def test_the_driver_refuses_a_modified_struct(device, sm, unit):
    groups, _ = sm.split({"count": unit})
    numbers = (ctypes.c_uint * 3).from_address(groups[0].handle + 96)  # of CUdevSmResource
    assert numbers[0] == unit
    before, numbers[0] = numbers[0], unit - 1
    with pytest.raises(CUDAError, match="INVALID_RESOURCE_CONFIGURATION"):
        device.create_context(ContextOptions(groups))
    numbers[0] = before
    device.create_context(ContextOptions(groups)).close()


REFUSED = {
    "nothing": (None, TypeError, "needs options"),
    "another type": (3, TypeError, "SMResourceOptions"),
    "an empty sequence": ({"count": []}, ValueError, "must not be empty"),
    "a str": ({"count": "8"}, TypeError, "count must be int, Sequence, or None"),
    "a float": ({"count": 8.0}, TypeError, "count must be int, Sequence, or None"),
    "a sequence beside a scalar": (
        {"count": 8, "backfill": [True]},
        ValueError,
        "count is scalar",
    ),
    "sequences that differ": (
        {"count": [8, 8], "coscheduled_sm_count": [2]},
        ValueError,
        "expected 2",
    ),
    "a negative count": ({"count": -1}, ValueError, "count must be non-negative"),
    "a huge count": ({"count": 1 << 40}, ValueError, r"2\*\*32"),
    "an unknown field": ({"sms": 8}, TypeError, "sms"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_splits_name_the_cause(sm, case):
    options, error, text = REFUSED[case]
    with pytest.raises(error, match=text):
        sm.split(options)


@pytest.mark.parametrize(
    ("name", "place"),
    [("count", 0), ("coscheduled_sm_count", 1), ("preferred_coscheduled_sm_count", 2)],
)
def test_each_count_has_32_bits(name, place):
    def groups_of(number):
        group = [8, 2, 2, 0]
        group[place] = number
        return [(8, 2, 2, 0), tuple(group)]

    for number in (0, 2**32 - 1):
        require_counts(groups_of(number))
    for number, text in ((-1, "non-negative"), (2**32, r"less than 2\*\*32")):
        with pytest.raises(ValueError, match=f"^{name} must be .*{text}"):
            require_counts(groups_of(number))


def test_too_many_multiprocessors_are_an_error_of_the_driver(sm):
    with pytest.raises(CUDAError, match=r"INVALID_RESOURCE_CONFIGURATION.*") as raised:
        sm.split({"count": sm.sm_count + sm.coscheduled_alignment})
    assert raised.value.where in ("cuDevSmResourceSplit", "cuDevSmResourceSplitByCount")


def test_a_failed_split_keeps_the_source(sm, unit, emulation):
    with (
        emulation.inject("cuDevSmResourceSplit", error="CUDA_ERROR_INVALID_VALUE"),
        pytest.raises(CUDAError, match="cuDevSmResourceSplit"),
    ):
        sm.split({"count": unit})
    assert sm.split({"count": unit})[0][0].sm_count == unit


def test_a_workqueue_describes_itself(device, workqueue):
    queue = workqueue
    assert queue.sharing_scope in WorkqueueSharingScopeType
    assert queue.concurrency_limit >= 1
    assert queue.device is device
    assert isinstance(queue.handle, int)


def test_a_context_gets_the_configured_workqueue(device, sm, workqueue):
    queue = workqueue
    queue.configure(WorkqueueResourceOptions("green_ctx_balanced", 3))
    assert queue.sharing_scope is WorkqueueSharingScopeType.GREEN_CTX_BALANCED
    with device.create_context(ContextOptions([sm, queue])) as context:
        assert isinstance(context, Context)
        assert context.resources.workqueue.concurrency_limit == 3
        assert context.resources.workqueue.sharing_scope == "green_ctx_balanced"


def test_the_limit_of_a_workqueue_has_32_bits():
    assert WorkqueueResourceOptions(concurrency_limit=2**32 - 1).concurrency_limit == 2**32 - 1
    for wrong in (0, 2**32):
        with pytest.raises(ValueError, match=f"concurrency_limit must be .*, got {wrong}$"):
            WorkqueueResourceOptions(concurrency_limit=wrong)


def test_none_keeps_a_setting(workqueue):
    queue = workqueue
    before = queue.sharing_scope, queue.concurrency_limit
    queue.configure(WorkqueueResourceOptions())
    assert (queue.sharing_scope, queue.concurrency_limit) == before


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"sharing_scope": "x"}, ValueError, "is not a valid WorkqueueSharingScopeType. Must be"),
        ({"concurrency_limit": 0}, ValueError, "concurrency_limit must be >= 1"),
        ({"concurrency_limit": "4"}, TypeError, "str"),
    ],
)
def test_workqueue_options_are_checked_at_construction(keywords, error, text):
    with pytest.raises(error, match=text):
        WorkqueueResourceOptions(**keywords)


def test_assigned_fields_are_checked(workqueue):
    options = WorkqueueResourceOptions()
    options.concurrency_limit = -5
    with pytest.raises(ValueError, match="must be >= 1"):
        workqueue.configure(options)


@pytest.mark.parametrize("options", [None, 3])
def test_configure_requires_options(workqueue, options):
    with pytest.raises(TypeError, match="WorkqueueResourceOptions"):
        workqueue.configure(options)


def test_options_are_mutable_values():
    assert SMResourceOptions(count=8) == SMResourceOptions(8, None, None, False)
    assert repr(WorkqueueResourceOptions("device_ctx")) == (
        "WorkqueueResourceOptions(sharing_scope='device_ctx', concurrency_limit=None)"
    )
    with pytest.raises(TypeError, match="unhashable"):
        hash(SMResourceOptions())


def test_they_can_be_weakly_referenced(device, sm):
    assert weakref.ref(sm)() is sm
    resources = device.resources
    assert weakref.ref(resources)() is resources


def test_private_module_paths():
    from cuda.core import _context, _device_resources

    assert _device_resources.SMResource is SMResource
    assert _device_resources.WorkqueueResourceOptions is WorkqueueResourceOptions
    assert _context.ContextOptions is ContextOptions
    assert _context.DeviceResourcesType is not None
