# SPDX-License-Identifier: Apache-2.0
"""The type stubs describe the built modules: names, parameters, members, results."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import cuda.bindings
import pytest

from generator import libraries

ROOT = Path(cuda.bindings.__path__[0]).parents[1]


@pytest.fixture(scope="module", params=list(libraries.load_all()))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def library(name):
    return libraries.load(name)


@pytest.fixture(scope="module")
def module(library):
    return importlib.import_module(f"{library.package}.{library.module}")


@pytest.fixture(scope="module")
def path(library):
    return ROOT / library.folder / f"{library.module}.pyi"


@pytest.fixture(scope="module")
def stub(path):
    return ast.parse(path.read_text()).body


def functions(stub):
    """Map each name to its definition; for overloads to the last, which is the general one."""
    return {n.name: n for n in stub if isinstance(n, ast.FunctionDef)}


def classes(stub):
    hidden = {n.name for n in stub if isinstance(n, ast.ClassDef) and n.decorator_list}
    return {n.name: n for n in stub if isinstance(n, ast.ClassDef) and n.name not in hidden}


def aliases(stub):
    """Return further names of classes: assigned here, or imported from another module."""
    assigned = (n for n in stub if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name))
    result = {n.targets[0].id: n for n in assigned}
    imported = (n for n in stub if isinstance(n, ast.ImportFrom) and "cuda" in n.module)
    return result | {a.asname: n for n in imported for a in n.names if a.asname}


def numbers(stub):
    """Map each annotated name to its annotation."""
    typed = (n for n in stub if isinstance(n, ast.AnnAssign) and n.target.id[0] != "_")
    return {n.target.id: ast.unparse(n.annotation) for n in typed}


def test_every_function_of_the_module_is_typed(stub, module):
    built = {n for n in dir(module) if inspect.isroutine(getattr(module, n)) and n[0] != "_"}
    assert functions(stub).keys() ^ built == set()


def test_every_class_of_the_module_is_typed(stub, module):
    built = {n for n in dir(module) if inspect.isclass(getattr(module, n)) and n[0] != "_"}
    typed = {n for n in classes(stub) | aliases(stub) if n[0] != "_"}
    assert typed ^ built == set()


def test_every_constant_of_the_module_is_typed(stub, module):
    typed = {name for name, annotation in numbers(stub).items() if annotation == "int"}
    built = {n for n in dir(module) if type(getattr(module, n)) is int and n[0] != "_"}
    assert typed ^ built == set()


def test_every_numpy_type_of_the_module_is_typed(stub, library):
    typed = {name for name, annotation in numbers(stub).items() if annotation == "Any"}
    public = {t.dtype for t in library.numpy_structs if t.dtype and t.dtype[0] != "_"}
    assert typed == public


def test_every_function_is_typed_with_its_parameters(stub, module):
    different = {}
    for name, definition in functions(stub).items():
        typed = [a.arg for a in definition.args.args]
        built = list(inspect.signature(getattr(module, name)).parameters)
        if typed != built:
            different[name] = (typed, built)
    assert different == {}


def test_every_result_is_a_tuple_of_the_code_and_the_outputs(stub, library):
    if library.raises:
        pytest.skip("functions of this module return their outputs alone")
    typed = functions(stub)
    for function in library.functions:
        if not function.in_python or "inline" in function.flags:
            continue
        annotation = typed[function.name].returns
        assert ast.unparse(annotation).startswith(f"tuple[{library.decisions.result_enum}"), (
            function.name
        )
        parts = getattr(annotation.slice, "elts", [annotation.slice])
        assert len(parts) == 1 + len(function.returns), function.name
        # code that checks the output instead of the code type-checks as well
        assert all("NoneOnError" in ast.unparse(p) or ast.unparse(p) == "Any" for p in parts[1:])


def test_every_result_of_a_raising_function_is_its_outputs(stub, library):
    if not library.raises:
        pytest.skip("functions of this module return a code")
    typed = functions(stub)
    for function in library.functions:
        if function.in_python:
            annotation = typed[function.python_name].returns
            count = len(function.returns)
            if count > 1:
                assert len(annotation.slice.elts) == count, function.name
            is_none = ast.unparse(annotation) == "None"
            assert is_none == (count == 0 and not function.result), function.name
            assert "Any" not in ast.unparse(annotation), function.name


def test_every_function_is_documented_for_editors(stub, library):
    for name in functions(stub):
        definitions = [n for n in stub if isinstance(n, ast.FunctionDef) and n.name == name]
        (text,) = filter(None, map(ast.get_docstring, definitions))
        lines = text.partition("----------\n")[2].splitlines()
        assert lines[::2] == [argument.arg for argument in definitions[-1].args.args], name
        for sentence in lines[1::2]:
            assert re.fullmatch(r"    [A-Zv].*\.", sentence), (name, sentence)


def test_every_attribute_of_a_class_is_typed(stub, module):
    for name, definition in classes(stub).items():
        bases = set(map(ast.unparse, definition.bases))
        if not bases & {"IntEnum", "Exception"}:
            typed = {n.target.id for n in definition.body if isinstance(n, ast.AnnAssign)}
            typed |= {n.name for n in definition.body if isinstance(n, ast.FunctionDef)}
            built = {n for n in vars(getattr(module, name)) if not n.startswith("__")}
            typed -= {"__new__", "__cuda_stream__"}
            inherited = {"getPtr", "copy", "asdict", "ptr", "from_ptr", "from_buffer", "from_data"}
            assert typed == built - (inherited - typed), name


def test_every_member_of_an_enum_has_its_value(stub, module):
    for name, definition in classes(stub).items():
        if "IntEnum" in map(ast.unparse, definition.bases):
            values = {}
            for line in definition.body:
                if isinstance(line, ast.Expr):
                    continue  # the explanation of the previous member
                text = ast.unparse(line.value)
                values[line.targets[0].id] = values[text] if text in values else int(text)
            members = getattr(module, name).__members__
            assert values == {n: int(m) for n, m in members.items()}, name


def test_attributes_of_pointers_are_typed_individually():
    text = (ROOT / "cuda" / "bindings" / "driver.pyi").read_text()
    variants = re.findall(
        r"def cuPointerGetAttribute\(attribute: (.*?), ptr.* -> (.*?):(?: \.\.\.)?\n", text
    )
    typed = {result: attribute for attribute, result in variants}
    assert "CU_POINTER_ATTRIBUTE_CONTEXT]" in typed["tuple[CUresult, CUcontext | _NoneOnError]"]
    assert typed["tuple[CUresult, Any]"] == "CUpointer_attribute | int"


def test_the_stubs_pass_a_strict_type_checker(path, tmp_path):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed (extra `dev`)")
    options = ["--strict", "--namespace-packages", "--explicit-package-bases"]
    options += ["--follow-imports=silent", f"--cache-dir={tmp_path}"]
    output, errors, _ = api.run([*options, str(path)])
    assert "no issues found" in output, output + errors
