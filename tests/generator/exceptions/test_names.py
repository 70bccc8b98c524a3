# SPDX-License-Identifier: Apache-2.0
"""Python names of libraries whose functions raise."""

import pytest

from generator.decisions import EnumNames
from generator.facts import FactEnum
from generator.resolution.names import enum_members, snake_case

MODES = FactEnum("Mode", [("TOY_MODE_FAST", 0), ("TOY_MODE_SLOW", 1), ("TOY_MODE_SLOWER", 1)])


@pytest.mark.parametrize(
    "c_name, name",
    [
        ("GetLinkedLTOIRSize", "get_linked_ltoir_size"),
        ("IRVersion", "ir_version"),
        ("AddTileIR", "add_tile_ir"),
        ("DeviceGetPciInfo_v3", "device_get_pci_info_v3"),
        ("optionsCmdLine", "options_cmd_line"),
        ("Size", "size"),
        ("LLVMVersion", "llvm_version"),
    ],
)
def test_words_are_split_at_capitals(c_name, name):
    assert snake_case(c_name) == name


def values(members):
    return {m.name: m.value for m in members}


def test_members_lose_their_common_prefix():
    members = enum_members(MODES, EnumNames(), {"TOY_MODE_SLOW": "Takes its time."})
    assert values(members) == {"FAST": 0, "SLOW": 1, "SLOWER": 1}
    assert [(m.c_name, m.doc) for m in members][1] == ("TOY_MODE_SLOW", "Takes its time.")


def test_a_prefix_may_be_set_by_a_decision():
    assert values(enum_members(MODES, EnumNames(prefix="TOY_"), {})).keys() == {
        "MODE_FAST",
        "MODE_SLOW",
        "MODE_SLOWER",
    }


def test_names_with_a_longer_prefix_are_aliases():
    members = enum_members(MODES, EnumNames(short_prefix="TOY_"), {})
    assert [m.name for m in members[:3]] == ["FAST", "SLOW", "SLOWER"]
    assert values(members)["MODE_SLOW"] == 1
    assert members[3].c_name == "TOY_MODE_FAST"


def test_members_are_renamed_and_get_aliases():
    names = EnumNames(renames={"TOY_MODE_FAST": "QUICK"}, aliases={"SWIFT": "QUICK"})
    assert values(enum_members(MODES, names, {})) == {
        "QUICK": 0,
        "SLOW": 1,
        "SLOWER": 1,
        "SWIFT": 0,
    }


def test_a_member_that_is_the_prefix_of_another_keeps_its_last_word():
    item = FactEnum("Two", [("TOY_TWO", 1), ("TOY_TWO_MORE", 2)])
    assert values(enum_members(item, EnumNames(), {})) == {"TWO": 1, "TWO_MORE": 2}


def test_a_single_member_has_no_common_prefix():
    assert values(enum_members(FactEnum("One", [("TOY_ONE", 1)]), EnumNames(), {})) == {
        "TOY_ONE": 1
    }
