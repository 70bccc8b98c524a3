# SPDX-License-Identifier: Apache-2.0
"""What the runtime on the emulator takes for granted of the APIs, and what is written for it."""

import re

import pytest

from generator import model
from generator.emit.emulation import front as fronts
from generator.emit.emulation import runtime as emulated_runtime

EQUIVALENT = re.compile(r"are_equivalent<(\w+),\s*(\w+)>")
WORDS = {
    "cudaErrorInvalidPitchValue": "invalid pitch value",
    "cudaErrorECCUncorrectable": "ECC uncorrectable",
    "cudaErrorMpsRpcFailure": "mps rpc failure",
    "cudaSuccess": "success",
}


@pytest.fixture(scope="module")
def runtime():
    return model.load("runtime")


@pytest.fixture(scope="module")
def driver():
    return model.load("driver")


@pytest.fixture(scope="module")
def files():
    return emulated_runtime.emit(model.load_all())


def values(library, name):
    for enum in library.enums:
        if name in (enum.name, enum.c_name):
            return {member.value for member in enum.members}
    return None


def pairs():
    header = model.HERE.parent / "cpp" / "emulated_runtime" / "process" / "equivalents.hpp"
    return EQUIVALENT.findall(header.read_text())


def test_enums_that_are_taken_for_each_other_have_the_same_values(runtime, driver):
    """The driver may know more; what the runtime knows means the same there."""
    found = [(a, b, values(runtime, a), values(driver, b)) for a, b in pairs()]
    enums = [(a, b, mine - theirs) for a, b, mine, theirs in found if mine and theirs]
    assert len(enums) > 20
    assert not [(a, b, missing) for a, b, missing in enums if missing - sentinels(runtime, a)]


def sentinels(library, name):
    """Values that only mark the end of an enum."""
    enum = next(e for e in library.enums if name in (e.name, e.c_name))
    return {m.value for m in enum.members if m.name.endswith(("Max", "Count"))}


def test_a_number_that_is_an_error_of_both_is_the_same_error(runtime, driver):
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
    wanted = {f.c_name for f in runtime.functions if emulated_runtime.is_of_the_library(runtime, f)}
    assert exported == wanted


def test_a_function_is_forwarded_or_refused_and_never_both(runtime, files):
    forwarding = files["build/generated/emulated_runtime/forwarding.cpp"]
    refusing = files["build/generated/emulated_runtime/refusing.cpp"]
    for function in emulated_runtime.forwards(runtime.functions):
        assert f" {function}(" in forwarding
        assert f" {function}(" not in refusing


def test_a_forward_of_what_the_api_lacks_is_an_error(runtime, tmp_path, monkeypatch):
    table = tmp_path / "table.toml"
    table.write_text('[same_name]\nfunctions = ["cudaNothing"]\n[other_name]\n')
    monkeypatch.setattr(emulated_runtime, "FORWARDS", table)
    with pytest.raises(SystemExit, match="the runtime API lacks cudaNothing"):
        emulated_runtime.forwards(runtime.functions)


def test_every_error_has_its_code_name_and_text_in_order(runtime, files):
    rows = re.findall(
        r'\{(\w+), "(\w+)", "((?:\\.|[^"])*)"\}',
        files["build/generated/emulated_runtime/error_table.cpp"],
    )
    members = {m.name: m.value for m in emulated_runtime.result_enum(runtime).members}
    assert [members[code] for code, _, _ in rows] == sorted(set(members.values()))
    assert all(code == name and text for code, name, text in rows)


@pytest.mark.parametrize("name", WORDS)
def test_a_name_is_spelled_out(name):
    assert emulated_runtime.spelled_out(name) == WORDS[name]


def test_the_driver_keeps_its_variants_for_default_streams_of_threads(driver):
    front = fronts.Front(driver, "emulator", driver.functions, per_thread=True)
    assert "CUresult cuMemcpyAsync_ptsz(" in fronts.exports_source(front)
