# SPDX-License-Identifier: Apache-2.0
"""Output of `help()` and `inspect.signature` for every public name of the low layer."""

import importlib
import inspect
import pydoc
import re

import pytest

from generator import libraries
from generator.descriptions import section_of

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
        text = function.doc + section_of(function)
        if defaults_shown != expected or built.__doc__ != text:
            wrong[function.name] = (str(signature), built.__doc__)
    assert wrong == {}


def test_every_parameter_is_described(library, module):
    """Read as a user would: a line with the name, then an indented sentence."""
    members = (getattr(module, name) for name in dir(module) if name[0] != "_")
    functions = [each for each in members if inspect.isbuiltin(each)]
    assert len(functions) >= sum(f.in_python for f in library.functions)
    for built in functions:
        lines = built.__doc__.partition("----------\n")[2].splitlines()
        names, sentences = lines[::2], lines[1::2]
        assert names == [*inspect.signature(built).parameters], built
        for sentence in sentences:
            assert re.fullmatch(r"    [A-Zv].*\.", sentence), (built, sentence)


HELP = {
    "cuda.bindings.driver.cuMemcpyHtoDAsync": """\
cuMemcpyHtoDAsync(dstDevice, srcHost, ByteCount, hStream)
    Copies from host memory to device memory in stream order. Returns (CUresult).

    Parameters
    ----------
    dstDevice
        Destination: an address, or the ordinal of its device.
    srcHost
        Address of the source in host memory.
    ByteCount
        Number of bytes.
    hStream
        Stream in whose order the call works.
""",
    "cuda.bindings.runtime.cudaDeviceSynchronize": """\
cudaDeviceSynchronize()
    Waits for all work of the current device. Returns (cudaError_t).
""",
    "cuda.bindings.nvml.system_event_set_wait": """\
system_event_set_wait(event_set, timeout_ms, buffer_size)
    Waits for events of the system. Returns request.

    Parameters
    ----------
    event_set
        Event set.
    timeout_ms
        Most milliseconds to wait.
    buffer_size
        Most events to return.
""",
    "cuda.bindings.driver.cuGraphGetNodes": """\
cuGraphGetNodes(hGraph, numNodes=0)
    Returns the nodes of a graph. Returns (CUresult, nodes, numNodes).

    Parameters
    ----------
    hGraph
        Graph.
    numNodes
        Most elements to return.
""",
    "cuda.bindings._v2.nvrtc.compile_program": """\
compile_program(prog, options=None)
    Compiles a program. Returns None.

    Parameters
    ----------
    prog
        Program.
    options
        Options.
""",
}


def test_a_check_of_a_status_says_what_it_returns():
    from cuda.bindings import cufile, nvml

    assert cufile.op_status_error.__doc__.startswith("Returns the text that belongs to a status.")
    assert nvml.check_status.__doc__.startswith("Returns 0, and raises the exception of a status")


@pytest.mark.parametrize("path", HELP)
def test_help_of_a_function(path):
    module, _, name = path.rpartition(".")
    function = getattr(importlib.import_module(module), name)
    title, text = pydoc.plain(pydoc.render_doc(function)).split("\n\n", 1)
    assert title.endswith(f"function {name} in module {module}")
    assert re.sub(r" +$", "", text, flags=re.MULTILINE) == HELP[path]


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
        keywords = [] if struct.view_only else [f.name for f in struct.fields if f.is_settable]
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
