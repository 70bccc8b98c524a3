# SPDX-License-Identifier: Apache-2.0
"""Launch attributes: values, refusals, native values, nodes, streams, captures."""

import copy
import pickle

import pytest
from cuda.bindings import driver
from cuda.core import (
    AccessPolicyWindow,
    CUDAError,
    EventOptions,
    LaunchConfig,
    ObjectCode,
    launch,
)
from cuda.core._launch_config import _to_native_launch_config
from cuda.core.graph import GraphDefinition

from ....programs.forking import FORK

EMPTY = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }\n"
WINDOW = AccessPolicyWindow(0x7F0000000000, 4096, 0.5, "streaming", "normal")

# name: (value, stored value, member of the union, driver value)
VALUES = {
    "access_policy_window": (WINDOW, WINDOW, "accessPolicyWindow.num_bytes", 4096),
    "cluster_scheduling_policy_preference": (
        "spread",
        "spread",
        "clusterSchedulingPolicyPreference",
        1,
    ),
    "priority": (-3, -3, "priority", -3),
    "mem_sync_domain_map": ([2, 3], (2, 3), "memSyncDomainMap.remote", 3),
    "mem_sync_domain": ("remote", "remote", "memSyncDomain", 1),
    "preferred_cluster_dimension": ((4, 2), (4, 2, 1), "preferredClusterDim.y", 2),
    "device_updatable_kernel_node": (True, True, "deviceUpdatableKernelNode.deviceUpdatable", 1),
    "preferred_shared_memory_carveout": (50, 50, "sharedMemCarveout", 50),
    "nvlink_util_centric_scheduling": (1, True, "nvlinkUtilCentricScheduling", 1),
    "portable_cluster_size_mode": (
        "allow_non_portable",
        "allow_non_portable",
        "portableClusterSizeMode",
        2,
    ),
    "shared_memory_mode": (3, "allow_oversized_shared_memory", "sharedMemoryMode", 3),
}
EVENTS = ("programmatic_event", "launch_completion_event")
# Attributes that the emulated device and every device of compute capability 9.0 support.
OF_NODES = {
    "cluster_scheduling_policy_preference": "load_balancing",
    "priority": -1,
    "mem_sync_domain_map": (1, 0),
    "mem_sync_domain": "remote",
    "preferred_shared_memory_carveout": 25,
}


@pytest.fixture
def kernel(device):
    return ObjectCode.from_ptx(EMPTY).get_kernel("f")


@pytest.fixture
def event(device):
    with device.create_event() as event:
        yield event


def native(config):
    """Return the driver's attributes of a configuration by their numbers."""
    return {int(a.id): a.value for a in _to_native_launch_config(config).attrs}


def number_of(name):
    return int(getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name.upper()}"))


@pytest.mark.parametrize("subclass", [False, True])
@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_stored_and_passed_to_the_driver(name, subclass):
    argument, read, member, number = VALUES[name]
    cls = type("Derived", (LaunchConfig,), {}) if subclass else LaunchConfig
    config = cls(grid=1, block=1, **{name: argument})
    assert getattr(config, name) == read
    value = native(config)[number_of(name)]
    for part in member.split("."):
        value = getattr(value, part)
    assert int(value) == number
    assert repr(config).endswith(f"programmatic_stream_serialization=False, {name}={read!r})")


def test_every_attribute_of_the_driver_is_covered():
    covered = {*VALUES, *EVENTS}
    fields = {"cluster_dimension", "cooperative", "programmatic_stream_serialization"}
    elsewhere = {"ignore", "synchronization_policy"}  # no attribute; stream-only attributes
    names = {
        member.name.removeprefix("CU_LAUNCH_ATTRIBUTE_").lower()
        for member in driver.CUlaunchAttributeID
    }
    assert names == covered | fields | elsewhere
    assert len(names) == 18
    for name in covered:
        assert getattr(LaunchConfig(1, None, 1), name) is None
        assert getattr(LaunchConfig, name).__doc__.endswith("None if unset. Host only.")


def test_the_native_order_is_fields_then_table():
    config = LaunchConfig(1, None, 1, 0, True, True, shared_memory_mode=1, priority=-2)
    assert list(native(config)) == [2, 6, 8, 18]


def test_a_configuration_without_attributes_is_unchanged():
    config = LaunchConfig(grid=1, block=1)
    fields = ((1, 1, 1), None, (1, 1, 1), 0, False, False)
    assert hash(config) == hash(fields)
    assert "priority" not in repr(config)


@pytest.mark.parametrize("name", VALUES)
def test_equality_hash_copies_and_pickles_include_them(name):
    config = LaunchConfig(2, None, 3, **{name: VALUES[name][0]})
    plain = LaunchConfig(2, None, 3)
    for other in (copy.copy(config), pickle.loads(pickle.dumps(config))):
        assert (other, hash(other)) == (config, hash(config))
    assert config != plain
    setattr(config, name, None)
    assert (config, hash(config)) == (plain, hash(plain))


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("priority", "high", TypeError),
        ("priority", 2**31, ValueError),
        ("priority", 1, ValueError),  # positive numbers are below the least priority
        ("priority", -6, ValueError),
        ("priority", 1.5, TypeError),
        ("mem_sync_domain", "far", ValueError),
        ("mem_sync_domain", 2, ValueError),
        ("mem_sync_domain_map", 3, TypeError),
        ("mem_sync_domain_map", (1, 256), ValueError),
        ("mem_sync_domain_map", (1, 2, 3), TypeError),
        ("cluster_scheduling_policy_preference", -1, ValueError),
        ("preferred_cluster_dimension", 0, ValueError),
        ("preferred_cluster_dimension", (1, 2, 3, 4), ValueError),
        ("preferred_cluster_dimension", "2", TypeError),
        ("preferred_shared_memory_carveout", 101, ValueError),
        ("preferred_shared_memory_carveout", float("nan"), TypeError),
        ("programmatic_event", 1, TypeError),
        ("launch_completion_event", (None, True), TypeError),
        ("access_policy_window", 1, TypeError),
        ("access_policy_window", {"base": 1}, TypeError),
        ("access_policy_window", {"base": 1, "num_bytes": -1}, ValueError),
        ("access_policy_window", {"base": 1, "num_bytes": 1 << 64}, ValueError),
        ("access_policy_window", {"base": -1, "num_bytes": 1}, ValueError),
        ("access_policy_window", {"base": 1 << 64, "num_bytes": 1}, ValueError),
        ("access_policy_window", {"base": 1, "num_bytes": 1, "hit_ratio": 2}, ValueError),
        ("access_policy_window", {"base": 1, "num_bytes": 1, "miss": "persisting"}, ValueError),
    ],
)
@pytest.mark.usefixtures("device")  # the device tells the range of priorities
def test_invalid_values_are_refused_by_name_and_change_nothing(name, value, error):
    config = LaunchConfig(1, None, 1, priority=-1)
    with pytest.raises(error, match=name if name != "access_policy_window" else "(?i)policy"):
        setattr(config, name, value)
    assert config == LaunchConfig(1, None, 1, priority=-1)
    with pytest.raises(error):
        LaunchConfig(1, None, 1, **{name: value})


def test_the_range_of_priorities_is_the_range_of_the_device(device, stream):
    greatest = driver.cuCtxGetStreamPriorityRange()[2]
    text = f"must be from {greatest} to 0 on device {device.device_id}, got {greatest - 1}: a lower"
    with pytest.raises(ValueError, match=f"LaunchConfig.priority {text}"):
        LaunchConfig(1, None, 1, priority=greatest - 1)
    with pytest.raises(ValueError, match=f"Stream attribute 'priority' {text}"):
        stream.set_attributes(priority=greatest - 1)
    assert LaunchConfig(1, None, 1, priority=greatest).priority == greatest


def test_a_launch_checks_a_priority_that_was_set_without_a_context(device, kernel, stream):
    context = driver.cuCtxPopCurrent()[1]
    try:
        config = LaunchConfig(1, None, 1, priority=-100)
        valid = LaunchConfig(1, None, 1, priority=-1)
    finally:
        driver.cuCtxPushCurrent(context)
    for act in (launch, lambda stream, config, kernel: kernel.prepare(config)(stream)):
        with pytest.raises(ValueError, match="LaunchConfig.priority must be from"):
            act(stream, config, kernel)
        act(stream, valid, kernel)
    stream.sync()


def test_names_of_other_attributes_are_refused():
    for name in ("synchronization_policy", "ignore", "Priority"):
        with pytest.raises(TypeError, match=f"unexpected .*'{name}'"):
            LaunchConfig(1, None, 1, **{name: 1})


def test_events_without_timing_that_are_open_are_required(device):
    timed = device.create_event(EventOptions(timing_enabled=True))
    with pytest.raises(ValueError, match="timing_enabled=False"):
        LaunchConfig(1, None, 1, programmatic_event=timed)
    closed = device.create_event()
    closed.close()
    with pytest.raises(RuntimeError, match="Event has been closed"):
        LaunchConfig(1, None, 1, launch_completion_event=closed)


@pytest.mark.parametrize("name", EVENTS)
def test_a_launch_records_its_event_even_if_that_was_closed(device, stream, kernel, event, name):
    config = LaunchConfig(1, None, 1, **{name: event})
    launch(stream, config, kernel)
    event.sync()
    assert event.is_done
    event.close()
    assert not getattr(config, name).is_closed  # the configuration holds its own reference
    kernel.prepare(config)(stream)
    launch(stream, config, kernel)
    stream.sync()
    getattr(config, name).close()


def test_an_event_can_be_triggered_by_each_block(event):
    config = LaunchConfig(1, None, 1, programmatic_event=(event, True))
    assert config.programmatic_event == (event, True)
    assert native(config)[7].programmaticEvent.triggerAtBlockStart == 1


def test_a_window_accepts_the_range_of_a_buffer(device, stream):
    with device.allocate(512, stream=stream) as buffer:
        window = AccessPolicyWindow(buffer)
        assert (window.base, window.num_bytes) == (int(buffer.handle), 512)


@pytest.mark.parametrize("number", [0, 2**64 - 1])
def test_a_window_has_64_bits(number):
    window = AccessPolicyWindow(number, number, 0)
    assert (window.base, window.num_bytes, window.hit_ratio) == (number, number, 0)


def test_an_argument_that_changes_the_configuration_during_a_launch_is_safe(stream, kernel, device):
    store = ObjectCode.from_ptx(EMPTY.replace(b"f()", b"f(.param .u64 x)")).get_kernel("f")

    class Meddler:
        def __cuda_kernel_arg__(self):
            config.priority = None
            config.mem_sync_domain = "remote"
            return 0

    for _ in range(50):
        config = LaunchConfig(1, None, 1, priority=0)
        launch(stream, config, store, Meddler())
        store.prepare(config, Meddler())(stream)
    stream.sync()
    assert config == LaunchConfig(1, None, 1, mem_sync_domain="remote")


def captured_node(stream, *launches):
    builder = stream.create_graph_builder().begin_building()
    for config, kernel in launches:
        launch(stream, config, kernel)
    return builder.end_building()


@pytest.mark.parametrize("name", OF_NODES)
def test_a_captured_launch_has_its_attributes(stream, kernel, name):
    builder = stream.create_graph_builder().begin_building()
    config = LaunchConfig(1, None, 1, **{name: OF_NODES[name]})
    launch(stream, config, kernel)
    kernel.prepare(config)(stream)
    builder.end_building()
    definition = builder.graph_definition
    for node in definition.nodes():
        assert node.attributes[name] == OF_NODES[name]
        assert getattr(node.config, name) == OF_NODES[name]
    with builder.complete() as graph:
        graph.launch(stream)
        stream.sync()


@pytest.mark.parametrize("name", OF_NODES)
def test_a_kernel_node_has_the_attributes_of_its_configuration(stream, kernel, name):
    definition = GraphDefinition()
    node = definition.launch(LaunchConfig(1, None, 1, **{name: OF_NODES[name]}), kernel)
    assert node.attributes[name] == OF_NODES[name]
    node.update(config=LaunchConfig(2, None, 1))
    assert node.attributes[name] != OF_NODES[name]  # no longer requested: reset
    node.set_attributes(**{name: OF_NODES[name]})
    assert node.attributes[name] == OF_NODES[name]
    assert node.config == LaunchConfig(2, None, 1, **{name: OF_NODES[name]})
    node.set_attributes(**{name: None})
    assert node.config == LaunchConfig(2, None, 1)
    with definition.instantiate() as graph:
        graph.launch(stream)
        stream.sync()


def test_kernel_nodes_refuse_attributes_of_launches_and_streams_only(kernel, event):
    definition = GraphDefinition()
    with pytest.raises(TypeError, match="kernel nodes have no attribute 'programmatic_event'"):
        definition.launch(LaunchConfig(1, None, 1, programmatic_event=event), kernel)
    node = definition.launch(LaunchConfig(1, None, 1), kernel)
    for name in ("launch_completion_event", "synchronization_policy", "nonsense"):
        with pytest.raises(TypeError, match=f"kernel nodes have no attribute '{name}'"):
            node.set_attributes(**{name: event})
    with pytest.raises(ValueError, match="mem_sync_domain"):
        node.set_attributes(mem_sync_domain="far")
    assert node.config == LaunchConfig(1, None, 1)


def test_stream_attributes_are_stored_and_apply_to_launches(device, stream, kernel):
    before = stream.attributes
    assert before["mem_sync_domain"] == "default"
    stream.set_attributes(mem_sync_domain="remote", synchronization_policy="yield")
    assert stream.attributes == before | {
        "mem_sync_domain": "remote",
        "synchronization_policy": "yield",
    }
    builder = captured_node(stream, (LaunchConfig(1, None, 1), kernel))
    (node,) = builder.graph_definition.nodes()
    assert node.attributes["mem_sync_domain"] == "remote"
    builder.close()


def test_invalid_stream_attributes_change_nothing(stream):
    before = stream.attributes
    for values, error in (
        ({"mem_sync_domain": "remote", "cluster": 2}, TypeError),
        ({"mem_sync_domain": "remote", "synchronization_policy": 0}, ValueError),
        ({"mem_sync_domain": "remote", "priority": None}, TypeError),
    ):
        with pytest.raises(error):
            stream.set_attributes(**values)
    assert stream.attributes == before
    stream.close()
    for act in (lambda: stream.attributes, lambda: stream.set_attributes(priority=0)):
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            act()


def test_an_attribute_unknown_to_the_driver_names_the_required_driver(run_python):
    code = f"""
from cuda.bindings import _low
_low._answer_as_driver_of(12040)
from cuda.core import Device, LaunchConfig, ObjectCode, launch
from cuda.core.graph import GraphDefinition
device = Device(0)
device.set_current()
stream = device.create_stream()
kernel = ObjectCode.from_ptx({EMPTY!r}).get_kernel("f")
config = LaunchConfig(1, None, 1, priority=0, shared_memory_mode="default")
for act in (lambda: launch(stream, config, kernel), lambda: kernel.prepare(config),
            lambda: GraphDefinition().launch(config, kernel),
            lambda: stream.set_attributes(nvlink_util_centric_scheduling=True)):
    try:
        act()
    except RuntimeError as error:
        print(error)
config.shared_memory_mode = None
launch(stream, config, kernel)
stream.sync()
"""
    printed = run_python(code, "-W", "ignore")
    needs = "LaunchConfig.shared_memory_mode needs a driver of CUDA 13.2 or newer; this driver"
    assert printed.splitlines() == [f"{needs} supports CUDA 12.4"] * 3 + [
        "attribute 'nvlink_util_centric_scheduling' needs a driver of CUDA 13.0 or newer; this "
        "driver supports CUDA 12.4"
    ]


# The first CUDA version whose cuda.h has the attribute, with a value of it.
FIRST_VERSIONS = {
    "mem_sync_domain_map": (12000, "(0, 1)"),
    "mem_sync_domain": (12000, "'remote'"),
    "launch_completion_event": (12030, "device.create_event()"),
    "device_updatable_kernel_node": (12040, "True"),
    "preferred_shared_memory_carveout": (12050, "50"),
    "preferred_cluster_dimension": (12080, "1"),
    "nvlink_util_centric_scheduling": (13000, "True"),
    "portable_cluster_size_mode": (13020, "'default'"),
    "shared_memory_mode": (13020, "'default'"),
}


def test_each_attribute_needs_the_driver_that_introduced_it(run_python):
    values = ", ".join(f"{name!r}: {value}" for name, (_, value) in FIRST_VERSIONS.items())
    versions = sorted({version for version, _ in FIRST_VERSIONS.values()})
    code = f"""
from cuda.bindings import _low
from cuda.core import Device, LaunchConfig, ObjectCode
{FORK}
def check():
    _low._answer_as_driver_of(version)
    device = Device(0)
    device.set_current()
    kernel = ObjectCode.from_ptx({EMPTY!r}).get_kernel("f")
    for name, value in {{{values}}}.items():
        try:
            kernel.prepare(LaunchConfig(1, None, 1, **{{name: value}}))
        except RuntimeError as error:
            assert f"LaunchConfig.{{name}} needs a driver of CUDA" in str(error), error
        else:
            print(version, name, flush=True)
for version in {versions}:
    in_child(check)
"""
    accepted = [line.split() for line in run_python(code, "-W", "ignore").splitlines()]
    assert accepted == [
        [str(version), name]
        for version in versions
        for name, (first, _) in FIRST_VERSIONS.items()
        if first <= version
    ]


def test_the_emulator_refuses_the_same_values_as_a_driver(emulation, device, stream, kernel):
    def refused(text, **attributes):
        with pytest.raises(CUDAError, match=text):
            launch(stream, LaunchConfig(grid=4, block=32, **attributes), kernel)

    refused("not a multiple", cluster=2, preferred_cluster_dimension=3)
    refused("captured", device_updatable_kernel_node=True)
    refused("too large", cluster=16)
    refused("dynamic shared memory", shmem_size=50000, shared_memory_mode="require_portable")
    many = LaunchConfig(
        grid=1, cluster=16, block=32, portable_cluster_size_mode="allow_non_portable"
    )
    launch(stream, many, kernel)
    too_large = LaunchConfig(
        grid=17, cluster=17, block=32, portable_cluster_size_mode="allow_non_portable"
    )
    with pytest.raises(CUDAError, match="too large"):
        launch(stream, too_large, kernel)
    stream.sync()
