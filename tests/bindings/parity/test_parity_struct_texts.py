# SPDX-License-Identifier: Apache-2.0
"""Struct objects list and print like the reference's, since programs compare them."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from ...data.record_struct_texts import record

DATA = Path(__file__).parents[2] / "data"
RECORDED = json.loads((DATA / "struct_texts_13.5.json").read_text())
EXCEPTIONS = tomllib.loads((DATA / "parity_exceptions.toml").read_text())


@pytest.fixture(scope="module")
def recorded_here():
    return record()


def comparable(text):
    """Replace a value without an enumerator, which is an error there and a member here."""
    return re.sub(r"<\w+\.UNKNOWN_\d+: \d+>", "<ValueError>", text)


@pytest.mark.parametrize("module", RECORDED)
def test_every_struct_lists_the_same_names(module, recorded_here):
    excepted = EXCEPTIONS["struct_names"].get(module, {})
    different = {}
    for name, expected in RECORDED[module].items():
        mine = set(recorded_here[module][name]["names"]) - set(excepted.get(name, ()))
        if mine != set(expected["names"]):
            different[name] = mine ^ set(expected["names"])
    assert different == {}


@pytest.mark.parametrize("module", RECORDED)
def test_every_struct_prints_the_same(module, recorded_here):
    different = [
        name
        for name, theirs in RECORDED[module].items()
        if theirs["text"] is not None
        and comparable(recorded_here[module][name]["text"]) != theirs["text"]
    ]
    assert different == EXCEPTIONS["struct_texts"].get(module, {"names": []})["names"]


def test_the_data_has_every_class_and_many_fields(recorded_here):
    for module, classes in RECORDED.items():
        assert set(recorded_here[module]) - set(classes) <= {"anon_struct0"}, module
    assert sum(len(row["names"]) for rows in RECORDED.values() for row in rows.values()) > 3000


def test_unlisted_names_exist():
    from cuda.bindings import driver, nvml

    handle = driver.CUipcMemHandle(reserved=bytes(range(64)))
    assert "reserved" not in dir(handle) and handle.reserved == bytes(range(64))
    assert str(handle) == repr(handle) == ""
    for struct in (handle, nvml.Memory(total=3)):
        assert {"copy", "asdict"}.isdisjoint(dir(struct))
        assert struct.copy().asdict() == struct.asdict()


def test_a_subclass_lists_its_additions():
    from cuda.bindings import driver

    class Mine(driver.CUextent3D):
        kind = "mine"

        def copy(self):
            return self

    extended = Mine(width=3)
    extended.note = 1
    assert {"kind", "copy", "note", "width", "getPtr", "__class__"} <= set(dir(extended))


def test_addresses_identifiers_and_texts_print_as_programs_expect():
    from cuda.bindings import driver, runtime

    lines = str(driver.CUDA_KERNEL_NODE_PARAMS(extra=5)).splitlines()
    assert "extra : 5" in lines and "kernelParams : 0" in lines
    properties = runtime.cudaDeviceProp(name=b"a\xff", luid=[-1, 2, 3, 4, 5, 6, 7, 8])
    lines = str(properties).splitlines()
    assert "name : a\ufffd" in lines and "luid : ff02030405060708" in lines
    config = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()] * 2)
    attribute = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_IGNORE
    assert f"attrs :\n    [id : {attribute}\n    value :\n        pad : " in str(config)
    assert str(config).count(f", id : {attribute}") == 1
