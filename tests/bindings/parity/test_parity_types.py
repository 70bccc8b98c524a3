# SPDX-License-Identifier: Apache-2.0
"""The types of the low layer equal the reference: enums, constants, handles, structs."""

import pytest

# spelling of the two non-integer shapes in the reference's data
SHAPES = {"pointer": "void_ptr eq hash index", "function": "void_ptr index"}


@pytest.fixture
def classes(library):
    return {c.name: c for c in [*library.handles, *library.structs]}


def test_every_enum_has_the_same_members_and_values(reference, library):
    ours = {e.name: {m.name: m.value for m in e.members} for e in library.enums}
    assert ours.keys() == reference.enums.keys()
    assert {n: (ours[n], reference.enums[n]) for n in ours if ours[n] != reference.enums[n]} == {}


def test_members_of_an_enum_keep_the_order_of_the_header(library):
    result = next(e for e in library.enums if e.name == library.decisions.result_enum)
    values = [m.value for m in result.members]
    assert values == sorted(values)


def test_every_constant_has_the_same_value(reference, library):
    assert {c.name: c.value for c in library.constants} == reference.constants


def test_every_class_exists(reference, classes):
    expected = {n for n in reference.base["classes"] if not n.startswith("anon_")}
    expected |= {n for n, _ in reference.of_kind("class") if not n.startswith("anon_")}
    expected -= set(reference.deviation("classes", "names", ()))
    assert {n for n in classes if not n.startswith("anon_")} == expected


def test_every_handle_stores_the_same_type_and_compares_alike(reference, library):
    ours = {h.name: SHAPES.get(h.shape, h.c_type) for h in library.handles}
    theirs = {n: c["handle"] for n, c in reference.classes.items() if "handle" in c}
    assert {n: (ours[n], theirs[n]) for n in theirs if ours[n] != theirs[n]} == {}


def test_every_handle_has_the_same_base(reference, library):
    theirs = {n: c.get("base") for n, c in reference.classes.items()}
    ours = {h.name: h.base for h in library.handles}
    assert {n: (ours[n], theirs.get(n)) for n in ours if ours[n] != theirs.get(n)} == {}


def test_every_typedef_of_a_struct_has_the_same_base(reference, classes):
    different = {}
    for name, record in struct_records(reference):
        if classes[name].base != record.get("base"):
            different[name] = (classes[name].base, record.get("base"))
    assert different == {}


def test_every_field_of_the_reference_exists_with_its_kind(reference, classes):
    different = {}
    for name, record in struct_records(reference):
        ours = {f.name: f for f in classes[name].fields}
        for text in record.get("fields", ()):
            field, kind, *readonly = text.split("|")
            key = f"{name}.{field}"
            expected = reference.deviation("fields", key, kind.partition(",")[0])
            if field not in ours:
                if key not in reference.dropped_fields:
                    different[key] = "missing"
            elif not is_same_kind(ours[field], expected, reference, name):
                different[key] = (str(ours[field].kind), expected)
            elif ours[field].readonly != bool(readonly) and expected == kind.partition(",")[0]:
                different[key] = ("readonly", ours[field].readonly)
    assert different == {}


def struct_records(reference):
    skipped = set(reference.deviation("classes", "names", ()))
    return [
        (n, c)
        for n, c in reference.classes.items()
        if "handle" not in c
        and "." not in c.get("base", "")
        and not n.startswith("anon_")
        and n not in skipped
    ]


def is_same_kind(field, expected, reference, struct):
    """Numbers of anonymous types moved in 13.5, as did the extent of reserved members; the
    reference's data lacks the element of a plain array."""
    kind = str(field.kind)
    if kind == expected:
        return True
    if expected == "array/char[]":
        return kind.startswith(("arr:", "text["))
    if "anon_" in expected:
        return kind.startswith("struct:anon_")
    removed = reference.changes.get(struct, {}).get("removed_members", ())
    return field.name in removed and kind.startswith(("bytes[", "arr:"))


def test_no_field_is_invented(reference, classes):
    extra = []
    for name, record in struct_records(reference):
        known = {text.partition("|")[0] for text in record.get("fields", ())}
        known |= set(reference.changes.get(name, {}).get("added_members", ()))
        extra += [f"{name}.{f.name}" for f in classes[name].fields if f.name not in known]
    assert sorted(extra) == sorted(reference.deviation("padding", "fields", ()))


def test_fields_dropped_in_13_5_are_kept(reference, classes):
    for name in (
        f"{prefix}Ipc{object_kind}Handle_st"
        for prefix in ("CU", "cuda")
        for object_kind in ("Mem", "Event")
    ):
        if name.replace("CUIpc", "CUipc") in classes:
            fields = classes[name.replace("CUIpc", "CUipc")].fields
            assert [str(f.kind) for f in fields] == ["bytes[64]"]


def test_every_missing_field_is_missing_in_the_header(reference, classes):
    for key in reference.dropped_fields:
        name, _, field = key.partition(".")
        assert field in reference.changes[name]["removed_members"]
        assert field not in {f.name for f in classes[name].fields}


def test_every_field_added_in_13_5_exists(reference, classes):
    missing = []
    for name, record in reference.of_kind("class"):
        fields = inherited_fields(classes, name) if name in classes else set()
        added = record.get("added_fields") or record.get("fields") or {}
        missing += [f"{name}.{field}" for field in added if field not in fields]
    assert missing == []


def inherited_fields(classes, name):
    fields = set()
    while name:
        fields |= {f.name for f in getattr(classes[name], "fields", ())}
        name = classes[name].base
    return fields


def test_anonymous_types_have_the_numbers_of_13_5(reference, classes):
    for name, record in reference.of_kind("class"):
        if name.startswith("anon_") and record.get("fields"):
            assert record["fields"].keys() <= {f.name for f in classes[name].fields}, name
