# SPDX-License-Identifier: Apache-2.0
"""Every word and bound of launch attributes, against the enumerations of the driver."""

import pytest
from cuda.bindings import driver
from cuda.core import EventOptions, LaunchConfig
from cuda.core._launch_config import _to_native_launch_config

# attribute: (enumeration, the common start of its names)
ENUMERATIONS = {
    "cluster_scheduling_policy_preference": (
        driver.CUclusterSchedulingPolicy,
        "CU_CLUSTER_SCHEDULING_POLICY_",
    ),
    "mem_sync_domain": (driver.CUlaunchMemSyncDomain, "CU_LAUNCH_MEM_SYNC_DOMAIN_"),
    "portable_cluster_size_mode": (
        driver.CUlaunchAttributePortableClusterMode,
        "CU_LAUNCH_PORTABLE_CLUSTER_MODE_",
    ),
    "shared_memory_mode": (driver.CUsharedMemoryMode, "CU_SHARED_MEMORY_MODE_"),
}


def native(**attributes):
    """Return the value of the last attribute of a launch, as the driver gets it."""
    return _to_native_launch_config(LaunchConfig(1, None, 1, **attributes)).attrs[-1].value


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_words_are_the_enumerators_of_the_driver(name):
    enumeration, prefix = ENUMERATIONS[name]
    for member in enumeration:
        word = member.name.removeprefix(prefix).lower()
        for value in (word, int(member), member):
            config = LaunchConfig(1, None, 1, **{name: value})
            assert getattr(config, name) == word
            assert native(**{name: value}).priority == int(member)  # the first int of the union
    numbers = [int(member) for member in enumeration]
    for wrong in (min(numbers) - 1, max(numbers) + 1):
        with pytest.raises(
            ValueError, match=f"LaunchConfig.{name} has no value {wrong}; it is one"
        ):
            LaunchConfig(1, None, 1, **{name: wrong})


def test_words_of_the_policy_of_streams(stream):
    for member in driver.CUsynchronizationPolicy:
        word = member.name.removeprefix("CU_SYNC_POLICY_").lower()
        for value in (word, int(member)):
            stream.set_attributes(synchronization_policy=value)
            assert stream.attributes["synchronization_policy"] == word
    for wrong in (0, 5):
        with pytest.raises(ValueError, match=f"has no value {wrong}; it is one of 'auto', 'spin'"):
            stream.set_attributes(synchronization_policy=wrong)


@pytest.mark.parametrize("value", [-1, 0, 1, 99, 100])
def test_a_carveout_is_a_percentage_or_a_choice_of_the_driver(value):
    name = "preferred_shared_memory_carveout"
    assert getattr(LaunchConfig(1, None, 1, **{name: value}), name) == value
    assert native(**{name: value}).priority == value  # an int at the same place


@pytest.mark.parametrize("value", [-2, 101])
def test_another_carveout_is_refused(value):
    name = "preferred_shared_memory_carveout"
    with pytest.raises(ValueError, match=f"{name} must be from -1 to 100, got {value}$"):
        LaunchConfig(1, None, 1, **{name: value})


@pytest.mark.parametrize("pair", [(0, 0), (0, 255), (255, 0), (255, 255), [3, 4]])
def test_domains_are_bytes(pair):
    value = native(mem_sync_domain_map=pair).memSyncDomainMap
    assert (value.default_, value.remote) == tuple(pair)


@pytest.mark.parametrize("pair", [(-1, 0), (0, -1), (256, 0), (0, 256)])
def test_a_domain_beyond_a_byte_is_refused(pair):
    with pytest.raises(ValueError, match="mem_sync_domain_map has domains from 0 to 255"):
        LaunchConfig(1, None, 1, mem_sync_domain_map=pair)


@pytest.mark.parametrize(
    ("value", "extents"),
    [(2, (2, 1, 1)), ((2, 3), (2, 3, 1)), ([1, 2, 4], (1, 2, 4)), (2**31 - 1, (2**31 - 1, 1, 1))],
)
def test_extents_of_a_preferred_cluster(value, extents):
    config = LaunchConfig(1, None, 1, preferred_cluster_dimension=value)
    assert config.preferred_cluster_dimension == extents
    member = native(preferred_cluster_dimension=value).preferredClusterDim
    assert (member.x, member.y, member.z) == extents


@pytest.mark.parametrize("value", [0, -1, (1, 0), (1, 1, 2**31), 2**31])
def test_an_extent_beyond_31_bits_is_refused(value):
    with pytest.raises(ValueError, match=">= 1 and <= 2147483647"):
        LaunchConfig(1, None, 1, preferred_cluster_dimension=value)


@pytest.mark.parametrize("is_triggered", [False, True])
def test_the_trigger_of_an_event(device, is_triggered):
    with device.create_event(EventOptions()) as event:
        value = native(programmatic_event=(event, is_triggered)).programmaticEvent
        assert (int(value.event), value.triggerAtBlockStart) == (int(event.handle), is_triggered)


@pytest.mark.parametrize("option", ["timing_enabled", "ipc_enabled"])
@pytest.mark.parametrize("name", ["programmatic_event", "launch_completion_event"])
def test_an_event_with_timing_or_of_another_process_is_refused(stream, name, option):
    with stream.record(options={option: True}) as event:
        with pytest.raises(ValueError, match=f"{name} must be an event of this process without"):
            LaunchConfig(1, None, 1, **{name: event})
