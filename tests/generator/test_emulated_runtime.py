# SPDX-License-Identifier: Apache-2.0
"""Assumptions of the emulated runtime about the APIs, and its generated files."""

import re

import pytest

from generator import libraries
from generator.emit.emulation import front as fronts
from generator.emit.emulation import runtime as emulated_runtime
from generator.emit.slots_hpp import per_thread_suffix

EQUIVALENT = re.compile(r"are_equivalent<(\w+),\s*(\w+)>")


@pytest.fixture(scope="module")
def runtime():
    return libraries.load("runtime")


@pytest.fixture(scope="module")
def driver():
    return libraries.load("driver")


@pytest.fixture(scope="module")
def files():
    return emulated_runtime.emit(libraries.load_all())


def values(library, name):
    for enum in library.enums:
        if name in (enum.name, enum.c_name):
            return {member.value for member in enum.members}
    return None


def pairs():
    header = libraries.HERE.parent / "cpp" / "emulated_runtime" / "process" / "equivalents.hpp"
    return EQUIVALENT.findall(header.read_text())


def test_converted_enums_have_the_same_values(runtime, driver):
    """The driver may have more; the runtime's values mean the same there."""
    pairs_with_values = [(a, b, values(runtime, a), values(driver, b)) for a, b in pairs()]
    enums = [(a, b, mine - theirs) for a, b, mine, theirs in pairs_with_values if mine and theirs]
    assert len(enums) > 20
    assert not [(a, b, missing) for a, b, missing in enums if missing - sentinels(runtime, a)]


def sentinels(library, name):
    """Return the values that only mark the end of an enum."""
    enum = next(e for e in library.enums if name in (e.name, e.c_name))
    return {m.value for m in enum.members if m.name.endswith(("Max", "Count"))}


REFUSED = re.compile(
    r"Ipc|MemPool(Export|Import)|GL|VDPAU|Graphics|External|GreenCtx|ExecutionCtx|Dev(Sm)?Resource"
    r"|Logs|AsyncNotification|Recapture|MemcpyArrayToArray$|ConditionalHandleCreate_v2$"
)
SIZES = {"unsigned char": 1, "unsigned short": 2, "int": 4, "unsigned int": 4, "size_t": 8}
SIZES |= {"unsigned long long": 8, "cuuint64_t": 8, "CUdeviceptr": 8, "float": 4}


def struct_of(library, name):
    """Return the class with the fields of a struct; None without a struct, or with nameless
    parts."""
    structs = {struct.name: struct for struct in library.structs}
    tags = {s.c_type.rpartition("::")[2]: s for s in library.structs if s.fields}
    struct = structs.get(name) or tags.get(name)
    while struct and not struct.fields and struct.base:
        struct = structs.get(struct.base) or tags.get(struct.base)
    return struct


def layout(library, name):
    """Return the sizes of the numbers in a struct, in order; a run of bytes is one entry."""
    sizes = []
    for field in struct_of(library, name).fields:
        kind, _, count = field.c_type.partition("[")
        if struct_of(library, kind):
            sizes += layout(library, kind)
        elif not kind:
            sizes.append(field.c_path)  # nameless: identified by its name
        else:
            pointer = "*" in kind or any(h.name == kind for h in library.handles)
            size = SIZES.get(kind) or (8 if pointer else 4)
            sizes += [size] * int(count.rstrip("]") or 1) if count else [size]
    return sizes


def without_bytes(sizes):
    """Merge reserved bytes, which may be divided differently: only their number counts."""
    return [size for size in sizes if size != 1], sizes.count(1)


def test_converted_structs_have_the_same_layout(runtime, driver):
    both = [(a, b) for a, b in pairs() if struct_of(runtime, a) and struct_of(driver, b)]
    structs = [(a, b) for a, b in both if a != "cudaLaunchAttributeValue"]  # a union
    assert len(structs) > 12
    for mine, theirs in structs:
        assert without_bytes(layout(runtime, mine)) == without_bytes(layout(driver, theirs)), mine


def test_the_values_of_launch_attributes_have_the_same_names(runtime, driver):
    mine = {f.c_path for f in struct_of(runtime, "cudaLaunchAttributeValue").fields}
    assert mine <= {f.c_path for f in struct_of(driver, "CUlaunchAttributeValue").fields}


def test_a_shared_error_number_is_the_same_error(runtime, driver):
    mine = {m.value: m.name for e in runtime.enums if e.name == "cudaError_t" for m in e.members}
    theirs = {m.value: m.name for e in driver.enums if e.name == "CUresult" for m in e.members}
    alone = {name for value, name in theirs.items() if value not in mine}
    assert alone == {
        "CUDA_ERROR_MULTICAST_RESOURCE_FULL",
        "CUDA_ERROR_CONTEXT_ALREADY_CURRENT",
        "CUDA_ERROR_KEY_ROTATION",
    }
    for value in (0, 1, 100, 101, 400, 500, 600, 700, 719, 801, 900, 999):
        assert value in mine and value in theirs


def test_every_function_of_the_library_is_exported(runtime, files):
    exports = files["build/generated/emulated_runtime/exports.cpp"]
    exported = set(re.findall(r"^\S[^\n]*?\b(\w+)\([^\n]*\) \{", exports, re.M))
    functions = emulated_runtime.exported_functions(runtime)
    per_thread = {f.c_name + per_thread_suffix(f) for f in functions}
    assert exported == per_thread | {f.c_name for f in functions}
    assert len(functions) > len(runtime.functions)


def test_the_bindings_lack_the_functions_for_programs(runtime):
    of_bindings = {f.name for f in runtime.functions}
    for_programs = {f.name for f in emulated_runtime.functions_for_programs()}
    assert "cudaLaunchKernel" in for_programs
    assert not of_bindings & for_programs


FOR_PROGRAMS = emulated_runtime.functions_for_programs()


@pytest.mark.parametrize("function", FOR_PROGRAMS, ids=lambda f: f.name)
def test_a_function_for_programs_is_declared_with_these_types(function):
    """The facts are written by hand; the header says the same, with or without a suffix."""
    header = (libraries.HERE.parent / "build" / "cuda" / function.header).read_text("utf-8")
    text = re.sub(r"/\*.*?\*/|__dv\([^)]*\)|\b(enum|struct)\b", "", header, flags=re.S)
    declaration = re.search(rf"CUDARTAPI\s+{function.name}\(([^)]*)\)", text)
    types = [re.sub(r"\w+$", "", part.strip()) for part in declaration[1].split(",")]
    written = [param.c_type for param in function.params]
    assert ["".join(t.split()) for t in types] == ["".join(t.split()) for t in written]
    suffix = per_thread_suffix(function).upper()
    assert (f"__CUDART_API{suffix}({function.name})" in header) == bool(suffix)


def test_the_driver_is_found_by_the_names_of_its_table(driver, files):
    names = files["build/generated/emulated_runtime/driver_names.cpp"]
    assert re.findall(r'"(\w+)\\0"', names) == [f.c_name for f in driver.functions]


def test_a_function_is_forwarded_or_refused_and_never_both(runtime, files):
    forwarding = files["build/generated/emulated_runtime/forwarding.cpp"]
    refusing = files["build/generated/emulated_runtime/refusing.cpp"]
    for function in emulated_runtime.forwards(runtime.functions):
        assert f" {function}(" in forwarding
        assert f" {function}(" not in refusing


def test_the_refused_functions_equal_those_of_the_guide(files):
    """The list may only shrink."""
    refusing = files["build/generated/emulated_runtime/refusing.cpp"]
    bodies = (libraries.HERE.parent / "cpp" / "emulated_runtime" / "api").rglob("*.cpp")
    written = set(re.findall(r"^\w+ (cuda\w+)\(", "".join(p.read_text() for p in bodies), re.M))
    refused = set(re.findall(r" (cuda\w+)\(", refusing)) - written
    assert len(refused) > 50
    assert not {name for name in refused if not REFUSED.search(name)}


def test_a_forward_of_a_missing_function_is_an_error(runtime, tmp_path, monkeypatch):
    table = tmp_path / "table.toml"
    table.write_text('[same_name]\nfunctions = ["cudaNothing"]\n[other_name]\n')
    monkeypatch.setattr(emulated_runtime, "FORWARDS", table)
    with pytest.raises(SystemExit, match="the runtime API lacks cudaNothing"):
        emulated_runtime.forwards(runtime.functions)


def test_every_error_has_its_code_and_name_in_order(runtime, files):
    rows = re.findall(
        r'\{(\w+), "(\w+)", (nullptr|"(?:\\.|[^"])*")\}',
        files["build/generated/emulated_runtime/error_table.cpp"],
    )
    members = {m.name: m.value for m in emulated_runtime.result_enum(runtime).members}
    assert {name: text for _, name, text in rows}["cudaErrorInvalidSymbol"] == (
        '"invalid device symbol"'
    )
    assert [members[code] for code, _, _ in rows] == sorted(set(members.values()))
    assert all(code == name for code, name, _ in rows)


def test_the_driver_has_per_thread_default_stream_variants(driver):
    front = fronts.Front(driver, "emulator", driver.functions, per_thread=True)
    assert "CUresult cuMemcpyAsync_ptsz(" in fronts.exports_source(front)
