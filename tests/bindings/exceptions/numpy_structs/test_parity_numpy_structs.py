# SPDX-License-Identifier: Apache-2.0
"""The struct classes equal the reference: names, fields, lengths, NumPy types."""

import inspect

import pytest

METHODS = {"asdict", "copy", "from_buffer", "from_data", "from_ptr", "ptr"}
OURS = METHODS - {"asdict", "copy"}


@pytest.fixture
def classes(reference):
    """Map each name to its public fields, in 13.5."""
    actual = {
        name: {f.partition("|")[0] for f in record["fields"]}
        for name, record in reference.base["classes"].items()
    }
    for name, record in reference.of_kind("class"):
        if "from_ptr" in record.get("members", ()):
            actual[name] = set(record["members"]) - OURS
        elif name in actual:
            actual[name] |= set(record.get("added_members", ()))
    return actual


def fields_of(cls):
    return {n for n in dir(cls) if not n.startswith("_")} - METHODS


def test_every_class_has_the_same_fields(reference, module, classes):
    different = {}
    for name, fields in classes.items():
        expected = fields | set(reference.deviation("further_fields", name, ()))
        if (actual := fields_of(getattr(module, name))) != expected:
            different[name] = actual ^ expected
    assert different == {}


def test_no_further_classes_exist(reference, module, classes):
    actual = {
        n for n, v in inspect.getmembers(module) if isinstance(v, type) and hasattr(v, "from_ptr")
    }
    assert actual ^ classes.keys() <= set(reference.deviation("further_classes", "names", ()))


def test_the_same_classes_are_arrays(reference, module):
    for name, record in reference.base["classes"].items():
        cls = getattr(module, name)
        if record.get("array"):
            assert len(cls(2)) == 2, name
        elif name not in reference.deviation("arrays", "names", ()):
            with pytest.raises(TypeError):
                cls(2)


def test_every_field_of_a_new_object_can_be_read(module, classes):
    for name, fields in classes.items():
        instance = getattr(module, name)()
        for field in fields:
            getattr(instance, field)
        assert repr(instance)
        assert instance == instance.copy()


def test_numpy_types_are_identical(reference, module):
    numpy = pytest.importorskip("numpy")
    different = {}
    for name, record in reference.of_kind("value"):
        if not name.endswith("_dtype"):
            continue
        expected = eval(record["value"], {"dtype": numpy.dtype})
        if (actual := getattr(module, name)) != expected:
            different[name] = (actual, expected)
    assert different == {}
