# SPDX-License-Identifier: Apache-2.0
"""String enums, protocols and aliases."""

import enum

import pytest
from cuda.bindings import driver
from cuda.core import typing as names

ENUMS = [v for v in vars(names).values() if isinstance(v, type) and issubclass(v, enum.StrEnum)]
ENUMS.remove(enum.StrEnum)

EXPECTED = {
    "SourceCodeType": {"CXX": "c++", "PTX": "ptx", "NVVM": "nvvm"},
    "CompilerBackendType": {
        "NVRTC": "NVRTC", "NVVM": "NVVM", "NVJITLINK": "nvJitLink", "DRIVER": "driver"
    },
    "VirtualMemoryAccessType": {"READ_WRITE": "rw", "READ": "r"},
}  # fmt: skip


@pytest.mark.parametrize("cls", ENUMS, ids=lambda cls: cls.__name__)
def test_members_equal_their_strings(cls):
    for member in cls:
        assert member == member.value == str(member)
        assert hash(member) == hash(member.value)
        assert cls(member.value) is member
    expected = EXPECTED.get(cls.__name__, {m.name: m.name.lower() for m in cls})
    assert {m.name: m.value for m in cls} == expected


def test_there_are_eighteen_enums_all_listed():
    assert {cls.__name__ for cls in ENUMS} < set(names.__all__)
    assert len(ENUMS) == 18


def test_every_listed_name_exists():
    for name in names.__all__:
        assert getattr(names, name) is not None


def test_a_device_pointer_is_an_object_an_int_or_none():
    assert names.DevicePointerType == driver.CUdeviceptr | int | None


@pytest.mark.parametrize(("old", "new"), names._OLD_NAMES.items())
def test_old_names_are_silent_aliases(old, new, recwarn):
    assert getattr(names, old) is getattr(names, new)
    assert not recwarn


@pytest.mark.parametrize(
    ("cls", "members"),
    [
        (names.VirtualMemoryLocationType, "CUmemLocationType"),
        (names.ArrayFormatType, "CUarray_format"),
        (names.AddressModeType, "CUaddress_mode"),
        (names.FilterModeType, "CUfilter_mode"),
        (names.GraphConditionalType, "CUgraphConditionalNodeType"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_an_enum_names_members_of_the_drivers(cls, members):
    mirrored = {m.name for m in getattr(driver, members)}
    spelt = {"FLOAT16": "HALF", "FLOAT32": "FLOAT", "UINT": "UNSIGNED_INT", "INT": "SIGNED_INT"}
    for member in cls:
        name = member.name
        for core_name, driver_name in spelt.items():
            if name.startswith(core_name):
                name = name.replace(core_name, driver_name)
                break
        assert any(each.endswith(f"_{name}") for each in mirrored), (name, mirrored)
