# SPDX-License-Identifier: Apache-2.0
"""Output of `help()` and `inspect.signature` for every public name of the low layer."""

import importlib
import inspect
import pydoc

import pytest

from generator import libraries

LIBRARIES = libraries.load_all()


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


@pytest.fixture(scope="module")
def module(library):
    return importlib.import_module(f"{library.package}.{library.module}")


def classes_of(module):
    public = (getattr(module, name) for name in dir(module) if name[0] != "_")
    return [each for each in public if isinstance(each, type)]


def test_the_module_is_described_in_one_sentence(module):
    first, _, remainder = module.__doc__.partition("\n")
    assert first.endswith(".") and (not remainder or remainder.startswith("\n"))


def test_every_function_has_its_signature_and_a_description(library, module):
    wrong = {}
    for function in library.functions:
        if not function.in_python:
            continue
        built = getattr(module, function.python_name or function.name)
        signature = inspect.signature(built)
        defaults = {n: p.default for n, p in signature.parameters.items()}
        expected = {text.partition("=")[0]: text.partition("=")[2] for text in function.py}
        defaults_shown = {
            n: "" if d is inspect.Parameter.empty else str(d) for n, d in defaults.items()
        }
        if defaults_shown != expected or built.__doc__ != function.doc:
            wrong[function.name] = (str(signature), built.__doc__)
    assert wrong == {}


def test_every_class_is_documented(module):
    assert [each.__name__ for each in classes_of(module) if not inspect.getdoc(each)] == []


def test_an_enumeration_lists_its_members_and_their_meaning(library, module):
    for enum in library.enums:
        text = getattr(module, enum.name).__doc__
        first = {m.value: m for m in reversed(enum.members)}  # the others are their aliases
        for member in first.values():
            explained = f": {member.doc}" if member.doc else ""
            assert f"    {member.name} = {member.value}{explained}" in text, enum.name
        if not library.decisions.python_enums:  # Python's own text changes with its version
            assert str(inspect.signature(getattr(module, enum.name))) == "(value)"


def test_a_struct_lists_its_fields_and_accepts_them_as_keywords(library, module):
    if library.raises:
        pytest.skip("structs of this module are data types")
    for struct in library.structs:
        if struct.base:
            continue
        cls = getattr(module, struct.name)
        listed = [line.split(" : ")[0].strip() for line in cls.__doc__.splitlines()[3:]]
        assert listed == [f.name for f in struct.fields], struct.name
        keywords = [] if struct.view_only else [f.name for f in struct.fields if not f.readonly]
        assert list(inspect.signature(cls).parameters) == ["_ptr", *keywords], struct.name


def test_a_typedef_has_the_documentation_of_its_struct():
    from cuda.bindings import driver

    assert driver.CUmemLocation.__doc__ == driver.CUmemLocation_st.__doc__
    location = inspect.signature(driver.CUmemLocation)
    assert location == inspect.signature(driver.CUmemLocation_st)


def test_a_user_subclass_has_its_own_documentation():
    from cuda.bindings import driver

    class Mine(driver.CUmemLocation):
        def __init__(self, place):
            self.id = place

    assert Mine.__doc__ is None
    assert list(inspect.signature(Mine).parameters) == ["place"]
    assert not hasattr(driver.CUmemLocation(), "__signature__")


def test_help_of_a_whole_module_can_be_written(module):
    text = pydoc.plain(pydoc.render_doc(module))
    assert module.__name__ in text and len(text) > 1000
