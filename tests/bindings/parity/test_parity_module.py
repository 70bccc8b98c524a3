# SPDX-License-Identifier: Apache-2.0
"""The built modules equal the reference: names, signatures, members, attributes."""

import inspect

from .suite import ModuleSuite


class TestModule(ModuleSuite):
    pass


def test_every_public_name_of_the_reference_exists(reference, module):
    expected = {*reference.functions, *reference.enums, *reference.constants, "sizeof"}
    expected |= reference.base["classes"].keys() - set(reference.deviation("classes", "names", ()))
    missing = {name for name in expected if not hasattr(module, name)}
    # 13.5 renumbered the anonymous types
    assert {name for name in missing if not name.startswith("anon_")} == set()


def test_dir_lists_the_functions_and_classes(reference, module):
    assert {*reference.functions, *reference.enums} <= set(dir(module))


def test_every_signature_is_exact(reference, module):
    different = {}
    for name, record in reference.functions.items():
        parameters = inspect.signature(getattr(module, name)).parameters.values()
        actual = [str(p) for p in parameters]
        if actual != record["py"]:
            different[name] = (actual, record["py"])
        assert {p.kind for p in parameters} <= {inspect.Parameter.POSITIONAL_OR_KEYWORD}, name
    assert different == {}


def test_names_of_equal_value_are_one_member_with_the_first_name(reference, module):
    for name, change in reference.of_kind("enum"):
        enum = getattr(module, name)
        for alias, member in change.get("now_alias_of", {}).items():
            assert getattr(enum, alias) is getattr(enum, member), (name, alias)
            assert enum(int(getattr(enum, alias))).name == member


def test_every_class_has_its_base(reference, module):
    different = {}
    for name, record in classes_of(reference):
        library, _, base = record.get("base", "object").rpartition(".")
        actual = getattr(module, name).__base__
        owner = f"cuda.bindings.{library}" if library else actual.__module__
        if (actual.__module__, actual.__name__) != (owner, base):
            different[name] = actual
    assert different == {}


def test_every_field_is_an_attribute(reference, module):
    missing = []
    for name, record in classes_of(reference):
        fields = [text.partition("|")[0] for text in record.get("fields", ())]
        fields += reference.changes.get(name, {}).get("added_fields", {})
        missing += [f"{name}.{f}" for f in fields if not hasattr(getattr(module, name), f)]
    assert missing == list(reference.dropped_fields)


def test_every_member_added_in_13_5_exists(reference, module):
    missing = []
    for name, record in reference.of_kind("class"):
        members = [*record.get("members", ()), *record.get("added_members", ())]
        missing += [f"{name}.{m}" for m in members if not hasattr(getattr(module, name), m)]
    assert missing == []


def classes_of(reference):
    skipped = set(reference.deviation("classes", "names", ()))
    return [
        (n, r)
        for n, r in reference.classes.items()
        if not n.startswith("anon_") and n not in skipped
    ]


def test_every_class_of_13_5_has_its_c_size(reference, module):
    different = {}
    for name, record in reference.of_kind("class"):
        if "size" in record and hasattr(module, name):
            size = module.sizeof(getattr(module, name))
            if size != record["size"]:
                different[name] = (size, record["size"])
    assert different == {}


def test_every_result_code_is_explained(library, module):
    for member in getattr(module, library.decisions.result_enum):
        assert member.__doc__.endswith("."), member
