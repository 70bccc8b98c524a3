# SPDX-License-Identifier: Apache-2.0
"""The convention "exceptions": facts and decisions -> names, kinds, results."""

import pytest

from generator import api_file, decisions
from generator.emit.cimport import c_headers, function_pxd
from generator.libraries import library_names, load
from generator.resolution import resolve

API = """\
library toy
headers toy.h
guard toy.h = TOY_H

[constants of toy.h]
const TOY_LIMIT = 7

[types of toy.h]
typedef enum toyResult {
    TOY_SUCCESS = 0
    TOY_ERROR_LOST = 4
}
opaque toyBox = _toyBox *
number toyId = unsigned int
callback toyListener = void (*)(void *)
struct toyPair {
    int first
    toyBox boxes[2]
    union {
        double wide
        void (*)(int) call
    } inner
}
struct toyPair_t = toyPair

[functions]
fn toyBoxClose(toyBox *box: ptr) -> toyResult  toy.h
fn toyBoxGetLog(toyBox box, char *log: out buffer) -> toyResult  toy.h
fn toyBoxGetLogSize(toyBox box, size_t *size: out) -> toyResult  toy.h
fn toyBoxName(toyBox box, char *name: out text[length], unsigned int length) -> toyResult  toy.h
fn toyBoxOpen(toyBox *box: out, toyId id, const char *label) -> toyResult  toy.h
fn toyErrorText(toyResult result) -> const char *  toy.h
fn toyListen(toyListener fn, toyResult *last: out, toyId *id: out) -> toyResult  toy.h
fn toyRun(int n, const char **options: list[n], const void *data: buffer[size], size_t size) -> \
toyResult  toy.h
fn toyStop() -> void  toy.h
"""
DECISIONS = """\
[library]
name = "toy"
convention = "exceptions"
headers = ["toy.h"]
prefixes = ["toy"]
declares_itself = true
result_enum = "toyResult"
success = "TOY_SUCCESS"
not_found = "_TOY_NOT_LOADED"
not_found_value = -42
exception = "toyError"

[exceptions]
reason = "Asked for by name."
LostError = "TOY_ERROR_LOST"

[reasons]
name = "Reads better."
text_size = "The header states them in prose."

[functions]
toyStop = { name = "halt" }
toyBoxName = { text_size = 80 }

[numpy_structs.anonymous]
"toyPair_t.inner" = "PairInner"
"""


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "toy.api").write_text(API)
    (tmp_path / "toy.toml").write_text(DECISIONS)
    return resolve.resolve(
        api_file.read(tmp_path / "toy.api"), decisions.read(tmp_path / "toy.toml")
    )


@pytest.fixture
def functions(toy):
    return {f.name: f for f in toy.functions}


def kinds(function):
    return [p.words for p in function.params]


def test_names_lose_the_prefix(toy, functions):
    assert functions["toyBoxGetLog"].python_name == "box_get_log"
    assert functions["toyStop"].python_name == "halt"
    assert toy.result_class == "Result"
    assert [m.name for m in toy.enums[0].members] == ["SUCCESS", "ERROR_LOST"]


def test_handles_and_enumerations_are_ints(toy, functions):
    assert kinds(functions["toyBoxOpen"]) == ["out:intptr", "in", "in:str"]
    assert kinds(functions["toyBoxClose"]) == ["in:intptr*"]
    assert kinds(functions["toyListen"]) == ["in:intptr", "out:int", "out"]
    assert toy.handles == []


def test_dereferenced_handles_must_not_be_null(tmp_path):
    refused = '\n[refuses_null]\nstatus = "TOY_ERROR_LOST"\nhandles = ["toyBox"]\n'
    (tmp_path / "toy.api").write_text(API)
    (tmp_path / "toy.toml").write_text(DECISIONS + refused)
    library = resolve.resolve(
        api_file.read(tmp_path / "toy.api"), decisions.read(tmp_path / "toy.toml")
    )
    functions = {f.name: f for f in library.functions}
    assert library.decisions.refuses_null["status"] == "TOY_ERROR_LOST"
    assert kinds(functions["toyBoxName"])[0] == "in:nonnull"
    assert kinds(functions["toyBoxClose"]) == ["in:intptr*"]
    assert kinds(functions["toyBoxOpen"])[0] == "out:intptr"


def test_a_text_of_fixed_size_needs_no_length(functions):
    name = functions["toyBoxName"]
    assert kinds(name) == ["in:intptr", "out:str[80]", "const:80"]
    assert (name.py, name.returns) == (["box"], ["name"])


def test_options_and_buffers_have_sizes(functions):
    run = functions["toyRun"]
    assert kinds(run) == ["in", "in:options", "in:buffer", "in"]
    assert [p.aux for p in run.params] == ["", "n", "size", ""]
    assert run.py == ["n", "options", "data", "size"]


def test_the_size_of_a_buffer_is_queried_from_its_size_function(functions):
    assert functions["toyBoxGetLog"].size_function == "toyBoxGetLogSize"
    assert functions["toyBoxName"].size_function == ""


def test_a_return_value_that_is_no_code_is_a_result(functions):
    assert functions["toyErrorText"].returns == ["result"]
    assert functions["toyStop"].returns == []


def test_an_unknown_role_names_the_function(tmp_path):
    (tmp_path / "toy.api").write_text(API.replace("out buffer", "sideways"))
    (tmp_path / "toy.toml").write_text(DECISIONS)
    with pytest.raises(ValueError, match="toyBoxGetLog: unknown role 'sideways'"):
        resolve.resolve(api_file.read(tmp_path / "toy.api"), decisions.read(tmp_path / "toy.toml"))


@pytest.mark.parametrize("name", library_names())
def test_the_documentation_names_the_outputs(name):
    """Decisions about structs change the outputs after the roles are known."""
    library = load(name)
    written = {name for name, decided in library.decisions.functions.items() if decided.doc}
    for function in library.functions:
        if library.raises and function.name not in written:
            outputs = ", ".join(function.returns) or "None"
            outputs = f"({outputs})" if len(function.returns) > 1 else outputs
            assert function.doc == f"{function.sentence} Returns {outputs}.", function.name


def test_guards_survive_the_round_trip(tmp_path):
    (tmp_path / "toy.api").write_text(API)
    facts = api_file.read(tmp_path / "toy.api")
    assert facts.guards == {"toy.h": "TOY_H"}
    assert "guard toy.h = TOY_H\n" in api_file.write(facts)


def test_declarations_are_c_as_in_a_header(toy):
    text = c_headers.verbatim(toy)
    assert text.startswith("#ifndef TOY_H\n#define TOY_H\n")
    for line in (
        "#define TOY_LIMIT 7",
        "typedef struct _toyBox *toyBox;",
        "typedef unsigned int toyId;",
        "typedef void (*toyListener)(void *);",
        "typedef struct toyPair toyPair_t;",
        "  toyBox boxes[2];",
        "    void (*call)(int);",
        "const char *toyErrorText(toyResult result);",
        "void toyStop(void);",
    ):
        assert f"{line}\n" in text, line


@pytest.mark.parametrize("language", ["c", "c++"])
def test_declarations_compile(toy, language, compile_only):
    compile_only(c_headers.verbatim(toy), language)


def test_functions_for_cimport_have_c_types(toy):
    text = function_pxd.declarations(toy)
    for line in (
        "cdef inline intptr_t box_open(unsigned int id, label) except? 0:",
        "cdef inline box_close(intptr_t box):",
        "cdef inline size_t box_get_log_size(intptr_t box) except? 0:",
        "cdef inline error_text(int result):",
        "cdef inline halt():",
    ):
        assert f"\n{line}\n" in text, line
    assert "from libc.stdint cimport intptr_t\n" in text
