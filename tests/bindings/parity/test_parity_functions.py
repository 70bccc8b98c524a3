# SPDX-License-Identifier: Apache-2.0
"""The functions of the low layer equal the reference: names, parameters, results, kinds."""

import re


def python_functions(library):
    return {f.name: f for f in library.functions if f.in_python}


def test_the_same_functions_exist_in_python(reference, library):
    assert python_functions(library).keys() ^ reference.functions.keys() == set()


def test_every_parameter_list_is_the_same(reference, library):
    different = {
        name: (f.py, reference.functions[name]["py"])
        for name, f in python_functions(library).items()
        if f.py != reference.functions[name]["py"]
    }
    assert different == {}


def test_every_result_has_the_same_parts(reference, library):
    different = {}
    for name, f in python_functions(library).items():
        expected = reference.deviation("results", name, reference.functions[name]["ret"])
        if f.returns != ([expected] if expected == "object" else expected):
            different[name] = (f.returns, expected)
    assert different == {}


def test_every_parameter_is_converted_the_same_way(reference, library):
    different = {}
    for name, f in python_functions(library).items():
        for ours, theirs in zip(f.params, reference.functions[name].get("a", ()), strict=False):
            expected = theirs.split("|")
            key = f"{name}.{ours.c_name}"
            expected[2] = reference.deviation("kinds", key, expected[2])
            expected[1] = expected[1] or ours.c_type  # of a function without a prototype
            actual = [ours.c_name, without_macros(ours.c_type, library), ours.words]
            if [normalized(part) for part in actual] != [normalized(p) for p in expected]:
                different[key] = (actual, expected)
    assert different == {}


def without_macros(c_type, library):
    """Expand the macros, since the reference's data has preprocessed types."""
    for item in library.facts.types:
        if getattr(item, "word", "") == "define":
            c_type = re.sub(rf"\b{item.name}\b", item.target, c_type)
    return c_type


def normalized(part):
    """Drop the words that typedefs make redundant, and the base class that is accepted too."""
    return re.sub(r"\b(struct|enum|union) |,driver\.\w+$", "", without_count(part))


def test_handles_of_another_library_are_accepted_as_in_the_reference(reference, library):
    bases = {h.name: h.base for h in library.handles}
    different = set()
    for name in python_functions(library):
        for param in reference.functions[name].get("a", ()):
            actual = re.search(r":(?:list|ptr|handle):(\w+),([\w.]+)$", param)
            if actual and bases[actual[1]] != actual[2]:
                different.add((name, *actual.groups()))
    assert different == set()


def without_count(kind):
    """Drop the internal name that the reference has where a parameter gives the capacity."""
    return re.sub(r"\[_?[a-zA-Z]\w*\]$", "[]", kind)


def test_every_function_calls_the_same_symbol(reference, library):
    functions = python_functions(library)
    different = {
        name: (functions[name].c_name, record.get("c", name))
        for name, record in reference.base["functions"].items()
        if functions[name].c_name != record.get("c", name)
    }
    assert different == {}


def test_every_function_is_found_in_the_same_header(reference, library):
    functions = python_functions(library)
    different = {
        name: (functions[name].header, record["h"])
        for name, record in reference.base["functions"].items()
        if "h" in record and functions[name].header != record["h"]
    }
    assert different == {}


def test_cimport_only_functions_have_no_python_counterpart(reference, library):
    hidden = {f.name for f in library.functions if not f.in_python}
    assert hidden == reference.capsules.keys() - reference.functions.keys()


def test_every_exception_of_parity_is_needed(reference, library):
    functions = python_functions(library)
    for name in reference.deviations["results"].get(reference.library, {}).keys() - {"reason"}:
        assert functions[name].returns != reference.functions[name]["ret"]
    for key in reference.deviations["kinds"].get(reference.library, {}).keys() - {"reason"}:
        name, _, parameter = key.partition(".")
        kinds = [p.words for p in functions[name].params if p.c_name == parameter]
        assert not any(a.endswith(f"|{k}") for k in kinds for a in reference.functions[name]["a"])
