# SPDX-License-Identifier: Apache-2.0
"""Wrong values of options: the error names the option, for every class of options."""

import contextlib
import dataclasses

import cuda.core
import numpy as np
import pytest
from cuda.core import (
    Device,
    DeviceMemoryResource,
    EventOptions,
    LaunchConfig,
    LinkerOptions,
    ManagedMemoryResource,
    PinnedMemoryResource,
    ProgramOptions,
    VirtualMemoryResource,
    graph,
    texture,
)
from cuda.core._core import check_or_create_options

CLASSES = [
    cls
    for module in (cuda.core, graph, texture)
    for name in module.__all__
    if name.endswith("Options") and dataclasses.is_dataclass(cls := getattr(module, name))
]
REQUIRED = {
    "ContextOptions": {"resources": ()},
    "MipmappedArrayOptions": {
        "shape": (4,),
        "format": "float32",
        "num_channels": 1,
        "num_levels": 1,
    },
    "OpaqueArrayOptions": {"shape": (4,), "format": "float32", "num_channels": 1},
    "TensorMapDescriptorOptions": {"box_dim": (4,)},
}
TRUTHS = ("bool", "bool | None", "<class 'bool'>")
FLAGS = [
    (cls, field.name)
    for cls in dict.fromkeys(CLASSES)
    for field in dataclasses.fields(cls)
    if str(field.type) in TRUTHS
]
EVENT_FLAGS = [field.name for field in dataclasses.fields(EventOptions)]


class WrongIndex:
    def __index__(self):
        return "1"

    def __repr__(self):
        return "WrongIndex()"


class WrongTruth:
    def __bool__(self):
        return "yes"


def test_many_options_are_flags():
    assert len(FLAGS) > 60
    assert {"StreamOptions", "GraphCompleteOptions"} < {cls.__name__ for cls, _ in FLAGS}


@pytest.mark.parametrize(("cls", "field"), FLAGS, ids=[f"{c.__name__}.{f}" for c, f in FLAGS])
def test_a_value_without_a_truth_is_refused_by_name(cls, field):
    required = REQUIRED.get(cls.__name__, {})
    for value, error in ((np.arange(2), ValueError), (WrongTruth(), TypeError)):
        with pytest.raises(error, match=rf"{cls.__name__}\.{field} must be True or False"):
            check_or_create_options(cls, {**required, field: value})
        options = cls(**required)
        setattr(options, field, value)  # after the construction
        with pytest.raises(error, match=rf"{cls.__name__}\.{field} must be True or False"):
            check_or_create_options(cls, options)


def test_a_user_error_in_a_truth_is_kept():
    class Broken:
        def __bool__(self):
            raise LookupError("the user's own")

    with pytest.raises(LookupError, match="the user's own"):
        check_or_create_options(cuda.core.StreamOptions, {"nonblocking": Broken()})


@pytest.mark.parametrize("value", ["x", "", 1, 0, 0.0, [], np.True_, EventOptions], ids=repr)
@pytest.mark.parametrize("field", EVENT_FLAGS)
def test_event_options_are_bools(device, stream, field, value):
    for create in (device.create_event, lambda options: stream.record(options=options)):
        with pytest.raises(TypeError, match=rf"EventOptions\.{field} must be True or False, got"):
            create({field: value})


@pytest.mark.parametrize("field", ["is_cooperative", "programmatic_stream_serialization"])
def test_flags_of_a_launch_are_named(field):
    with pytest.raises(ValueError, match=rf"LaunchConfig\.{field} must be True or False, got arr"):
        LaunchConfig(grid=1, block=1, **{field: np.arange(2)})


def allocate_virtual(**options):
    VirtualMemoryResource(Device(0), options).allocate(4096)


WHOLE = {
    "numa_id": lambda value: PinnedMemoryResource({"numa_id": value}),
    "preferred_location": lambda value: ManagedMemoryResource({"preferred_location": value}),
    "addr_hint": lambda value: allocate_virtual(addr_hint=value),
    "addr_align": lambda value: allocate_virtual(addr_align=value),
    "peers": lambda value: allocate_virtual(peers=[value]),
    "device_id": Device,
    "count": lambda value: Device(0).create_graph_builder().split(value),
    "num_levels": lambda value: texture.MipmappedArrayOptions((4,), "float32", 1, value),
    "concurrency_limit": lambda value: cuda.core.WorkqueueResourceOptions(concurrency_limit=value),
}


@pytest.mark.parametrize("value", ["x", [], np.arange(2), WrongIndex(), float("nan")], ids=repr)
@pytest.mark.parametrize("name", WHOLE)
def test_what_is_no_int_is_refused_by_name(device, name, value):
    # The number of levels is an argument of int().
    is_converted = name == "num_levels" and isinstance(value, (str, float))
    with pytest.raises(ValueError if is_converted else TypeError, match=name):
        WHOLE[name](value)


@pytest.mark.parametrize("value", [2**31, 2**64, 2**80])
@pytest.mark.parametrize("name", ["numa_id", "preferred_location", "device_id"])
def test_a_large_int_is_shown_as_it_is(device, name, value):
    with pytest.raises((OverflowError, ValueError), match=f"{name}.* got {value}$"):
        WHOLE[name](value)


@pytest.mark.parametrize("name", ["addr_hint", "addr_align"])
@pytest.mark.parametrize("value", [-1, 2**64])
def test_addresses_have_64_bits(device, name, value):
    with pytest.raises(
        OverflowError, match=rf"{name} of \w+Options must be from 0 to .*got {value}"
    ):
        WHOLE[name](value)


@pytest.mark.parametrize("peers", [None, 1, 0.5, object()], ids=["none", "int", "float", "object"])
def test_peers_are_iterable(device, peers):
    with pytest.raises(TypeError, match=r"Options\.peers must be an iterable of Device or int"):
        allocate_virtual(peers=peers)


def set_peers(value):
    with contextlib.closing(DeviceMemoryResource(Device(0), {})) as resource:
        resource.peer_accessible_by = [value]


PEERS = {
    "VirtualMemoryResourceOptions.peers": lambda value: allocate_virtual(peers=[value]),
    "peer_accessible_by": set_peers,
    "peer_access": lambda value: graph.GraphDefinition().allocate(64, peer_access=[value]),
}


@pytest.mark.parametrize("value", [-1, 99, 2**40])
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_that_does_not_exist_is_refused_by_name(device, name, value):
    with pytest.raises(
        ValueError, match=rf"^a member of {name}: device_id must be .* got {value}$"
    ):
        PEERS[name](value)


def test_peers_of_a_node_are_iterable(device):
    with pytest.raises(TypeError, match="^peer_access must be an iterable of Device or int, got 3"):
        graph.GraphDefinition().allocate(64, peer_access=3)


@pytest.mark.parametrize("value", ["gpu", 0.5, object])
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_is_a_device_or_an_int(device, name, value):
    with pytest.raises(TypeError, match=f"^a member of {name} must be a Device or an int, got "):
        PEERS[name](value)


@pytest.mark.parametrize("options", [ProgramOptions, LinkerOptions])
@pytest.mark.parametrize("value", ["a\udc80"])
def test_text_that_is_no_unicode_names_the_flag(options, value):
    field = "std" if options is ProgramOptions else "arch"
    with pytest.raises(UnicodeEncodeError, match=f"in the option -*{field}="):
        options(**{field: value}).as_bytes(*(["nvrtc"] if options is ProgramOptions else []))


@pytest.mark.parametrize(
    "field", ["mipmap_level_bias", "min_mipmap_level_clamp", "max_mipmap_level_clamp"]
)
def test_levels_of_a_texture_are_numbers(device, field):
    options = texture.OpaqueArrayOptions((16, 16), "float32", 1)
    with device.create_opaque_array(options) as array:
        resource = texture.ResourceDescriptor.from_opaque_array(array)
        with pytest.raises(TypeError, match=f"{field} must be a real number, got 'x'"):
            device.create_texture_object(resource=resource, options={field: "x"})
        with pytest.raises(TypeError, match="border_color must be four floats or None, got 5"):
            device.create_texture_object(resource=resource, options={"border_color": 5})
