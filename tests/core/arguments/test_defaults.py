# SPDX-License-Identifier: Apache-2.0
"""The default of every option: a field that is not listed here is None."""

import dataclasses

import pytest

from .test_option_values import CLASSES

REQUIRED = dataclasses.MISSING
ARRAY = {"shape": REQUIRED, "format": REQUIRED, "num_channels": REQUIRED}
DEFAULTS = {
    "ContextOptions": {"resources": REQUIRED},
    "DeviceMemoryResourceOptions": {"ipc_enabled": False, "max_size": 0},
    "EventOptions": {"timing_enabled": False, "blocking_sync": False, "ipc_enabled": False},
    "GraphCompleteOptions": {
        "auto_free_on_launch": False,
        "device_launch": False,
        "use_node_priority": False,
    },
    "GraphDebugPrintOptions": False,  # all fields
    "LinkerOptions": {"name": "<default linker>"},
    "MipmappedArrayOptions": {
        **ARRAY,
        "num_levels": REQUIRED,
        "is_surface_load_store": False,
    },
    "OpaqueArrayOptions": {**ARRAY, "is_surface_load_store": False},
    "PinnedMemoryResourceOptions": {"ipc_enabled": False, "max_size": 0},
    "ProgramOptions": {"name": "default_program"},
    "SMResourceOptions": {"backfill": False},
    "StreamOptions": {"nonblocking": True},
    "TensorMapDescriptorOptions": {
        "box_dim": REQUIRED,
        "interleave": 0,
        "swizzle": 0,
        "l2_promotion": 0,
        "oob_fill": 0,
    },
    "TextureObjectOptions": {
        "address_mode": "clamp",
        "filter_mode": "point",
        "read_mode": "element_type",
        "normalized_coords": False,
        "srgb": False,
        "disable_trilinear_optimization": False,
        "seamless_cubemap": False,
        "max_anisotropy": 0,
        "mipmap_filter_mode": "point",
        "mipmap_level_bias": 0.0,
        "min_mipmap_level_clamp": 0.0,
        "max_mipmap_level_clamp": 0.0,
    },
    "VirtualMemoryResourceOptions": {
        "allocation_type": "pinned",
        "location_type": "device",
        "handle_type": "posix_fd",
        "granularity": "recommended",
        "gpu_direct_rdma": False,
        "addr_hint": 0,
        "peers": (),
        "self_access": "rw",
        "peer_access": "rw",
    },
}


@pytest.mark.parametrize("cls", dict.fromkeys(CLASSES), ids=lambda cls: cls.__name__)
def test_options_have_their_documented_defaults(cls):
    fields = {field.name: field.default for field in dataclasses.fields(cls)}
    changed = {name: value for name, value in fields.items() if value is not None}
    expected = DEFAULTS.get(cls.__name__, {})
    expected = dict.fromkeys(fields, False) if expected is False else expected
    assert changed == expected
    assert {name for name in changed if changed[name] is False} == {
        name for name in expected if expected[name] is False
    }  # 0 is no flag
