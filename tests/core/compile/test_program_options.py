# SPDX-License-Identifier: Apache-2.0
"""ProgramOptions: each field and the bytes that each compiler gets for it."""

import copy
import dataclasses
import enum
import pathlib
import pickle

import numpy as np
import pytest
from cuda.core import CUDAError, LinkerOptions, Program, ProgramOptions
from cuda.core.arguments import option_rows
from cuda.core.typing import CompilerBackendType

# field, value, NVRTC options, NVVM options (None: refused)
ROWS = [
    ("relocatable_device_code", True, ["--relocatable-device-code=true"], None),
    ("relocatable_device_code", False, ["--relocatable-device-code=false"], None),
    ("extensible_whole_program", True, ["--extensible-whole-program"], None),
    ("extensible_whole_program", False, [], []),
    ("debug", True, ["--device-debug"], ["-g"]),
    ("debug", False, [], []),
    ("lineinfo", True, ["--generate-line-info"], None),
    ("lineinfo", False, [], []),
    ("device_code_optimize", True, ["--dopt=on"], ["-opt=3"]),
    ("device_code_optimize", False, [], ["-opt=0"]),
    ("ptxas_options", "-v", ["--ptxas-options=-v"], None),
    ("ptxas_options", ["-v", "-O2"], ["--ptxas-options=-v", "--ptxas-options=-O2"], None),
    ("ptxas_options", [], [], None),
    ("max_register_count", 32, ["--maxrregcount=32"], None),
    ("max_register_count", 0, ["--maxrregcount=0"], None),
    ("ftz", True, ["--ftz=true"], ["-ftz=1"]),
    ("ftz", False, ["--ftz=false"], ["-ftz=0"]),
    ("prec_sqrt", True, ["--prec-sqrt=true"], ["-prec-sqrt=1"]),
    ("prec_sqrt", False, ["--prec-sqrt=false"], ["-prec-sqrt=0"]),
    ("prec_div", True, ["--prec-div=true"], ["-prec-div=1"]),
    ("prec_div", False, ["--prec-div=false"], ["-prec-div=0"]),
    ("fma", True, ["--fmad=true"], ["-fma=1"]),
    ("fma", 0, ["--fmad=false"], ["-fma=0"]),
    ("use_fast_math", True, ["--use_fast_math"], None),
    ("use_fast_math", False, [], []),
    ("extra_device_vectorization", True, ["--extra-device-vectorization"], None),
    ("link_time_optimization", True, ["--dlink-time-opt"], []),
    ("link_time_optimization", False, [], []),
    ("gen_opt_lto", True, ["--gen-opt-lto"], None),
    ("define_macro", "A", ["--define-macro=A"], None),
    ("define_macro", "A=1", ["--define-macro=A=1"], None),
    ("define_macro", ("A", "1"), ["--define-macro=A=1"], None),
    ("define_macro", ["A", ("B", "2")], ["--define-macro=A", "--define-macro=B=2"], None),
    ("define_macro", [], [], None),
    ("undefine_macro", ("A", "B"), ["--undefine-macro=A", "--undefine-macro=B"], None),
    ("include_path", "/x", ["--include-path=/x"], None),
    ("include_path", pathlib.PurePosixPath("/x"), ["--include-path=/x"], None),
    ("include_path", ("/x", "/y"), ["--include-path=/x", "--include-path=/y"], None),
    ("pre_include", "a.h", ["--pre-include=a.h"], None),
    ("no_source_include", True, ["--no-source-include"], None),
    ("std", "c++20", ["--std=c++20"], None),
    ("builtin_move_forward", True, ["--builtin-move-forward=true"], None),
    ("builtin_move_forward", False, ["--builtin-move-forward=false"], None),
    ("builtin_initializer_list", False, ["--builtin-initializer-list=false"], None),
    ("disable_warnings", True, ["--disable-warnings"], None),
    ("restrict", True, ["--restrict"], None),
    (
        "device_as_default_execution_space",
        True,
        ["--device-as-default-execution-space"],
        None,
    ),
    ("device_int128", True, ["--device-int128"], None),
    ("device_float128", True, ["--device-float128"], []),
    ("optimization_info", "inline", ["--optimization-info=inline"], None),
    ("no_display_error_number", True, ["--no-display-error-number"], None),
    ("diag_error", 1, ["--diag-error=1"], None),
    ("diag_error", 0, ["--diag-error=0"], None),
    ("diag_suppress", [1, 2], ["--diag-suppress=1", "--diag-suppress=2"], None),
    ("diag_warn", (3,), ["--diag-warn=3"], None),
    ("brief_diagnostics", False, ["--brief-diagnostics=false"], None),
    ("time", "t.csv", ["--time=t.csv"], None),
    ("split_compile", 0, ["--split-compile=0"], None),
    ("fdevice_syntax_only", True, ["--fdevice-syntax-only"], None),
    ("minimal", True, ["--minimal"], None),
    ("no_cache", True, ["--no-cache"], []),
    (
        "fdevice_time_trace",
        pathlib.PurePosixPath("t.json"),
        ["--fdevice-time-trace=t.json"],
        [],
    ),
    ("frandom_seed", "s", ["--frandom-seed=s"], []),
    ("ofast_compile", "mid", ["--Ofast-compile=mid"], []),
    ("pch", True, ["--pch"], []),
    ("create_pch", "a.pch", ["--create-pch=a.pch"], []),
    ("use_pch", "a.pch", ["--use-pch=a.pch"], []),
    ("pch_dir", "/x", ["--pch-dir=/x"], []),
    ("pch_verbose", True, ["--pch-verbose=true"], []),
    ("pch_messages", False, ["--pch-messages=false"], []),
    (
        "instantiate_templates_in_pch",
        True,
        ["--instantiate-templates-in-pch=true"],
        [],
    ),
    ("use_libdevice", True, [], []),
    ("numba_debug", True, ["--numba-debug"], ["-numba-debug"]),
    ("numba_debug", False, [], []),
    ("enable_tile", True, ["--enable-tile"], None),
    ("tile_only", True, ["--tile-only"], None),
    ("simt_only", True, ["--simt-only"], None),
    ("default_tile", True, ["-default-tile"], None),
    ("diagnose_implicit_tile_var", True, ["--diagnose-implicit-tile-var"], None),
    ("tile_preview", "simt", ["--tile-preview=simt"], None),
]


@pytest.mark.parametrize(
    ("field", "value", "nvrtc", "nvvm"), ROWS, ids=[f"{r[0]}={r[1]!r}" for r in ROWS]
)
def test_a_field_becomes_these_options(field, value, nvrtc, nvvm):
    options = ProgramOptions(arch="sm_90", **{field: value})
    assert options.as_bytes("nvrtc") == [b"-arch=sm_90", *(text.encode() for text in nvrtc)]
    if nvvm is None:
        with pytest.raises(CUDAError, match=f"not supported by NVVM backend: {field}$"):
            options.as_bytes("nvvm")
    else:
        assert options.as_bytes("nvvm") == [b"-arch=compute_90", *(t.encode() for t in nvvm)]


def test_every_field_is_in_the_rows():
    tested = {row[0] for row in ROWS}
    own = {"name", "arch", "extra_sources", "use_bundled_headers"}
    assert tested | own == {field.name for field in dataclasses.fields(ProgramOptions)}


def test_options_come_in_a_fixed_order():
    options = ProgramOptions(numba_debug=True, std="c++17", fma=True, arch="sm_80", debug=True)
    assert options.as_bytes("nvrtc") == [
        b"-arch=sm_80",
        b"--device-debug",
        b"--fmad=true",
        b"--std=c++17",
        b"--numba-debug",
    ]


def test_all_options_unknown_to_nvvm_are_named():
    options = ProgramOptions(arch="sm_90", time="t", std="c++17", lineinfo=True, ftz=True)
    with pytest.raises(CUDAError, match="backend: lineinfo, std, time$"):
        options.as_bytes("NVVM")


def test_lto_is_passed_to_nvvm_once():
    options = ProgramOptions(arch="sm_90", link_time_optimization=True)
    assert options.as_bytes("nvvm", "ltoir") == [b"-arch=compute_90", b"-gen-lto"]
    assert options.as_bytes("nvvm", "ptx") == [b"-arch=compute_90"]


@pytest.mark.parametrize("backend", ["nvrtc", "NVRTC", CompilerBackendType.NVRTC])
def test_the_backend_is_accepted_in_any_spelling(backend):
    assert ProgramOptions(arch="sm_90").as_bytes(backend) == [b"-arch=sm_90"]


def test_an_unknown_backend_is_refused():
    with pytest.raises(ValueError, match="Unknown backend 'gcc'"):
        ProgramOptions(arch="sm_90").as_bytes("gcc")


@pytest.mark.parametrize("macro", [3, [3], {"A": 1}])
def test_a_macro_of_another_kind_is_refused_on_use(macro):
    options = ProgramOptions(arch="sm_90", define_macro=macro)
    with pytest.raises(RuntimeError, match="Expected define_macro"):
        options.as_bytes("nvrtc")


@pytest.mark.parametrize("macro", [("A",), ("A", 1), ("A", "1", "2"), [("A", "1"), ("B",)]])
def test_a_macro_tuple_must_be_two_str(macro):
    options = ProgramOptions(arch="sm_90", define_macro=macro)
    with pytest.raises(RuntimeError, match="Expected define_macro tuple"):
        options.as_bytes("nvrtc")


@pytest.mark.parametrize(
    ("sources", "error", "text"),
    [
        (3, TypeError, "extra_sources must be a sequence of 2-tuples"),
        ("ab", TypeError, "extra_sources must be a sequence of 2-tuples"),
        ([("a", b"x"), ("b",)], TypeError, "Each extra module must be a 2-tuple.*index 1"),
        ([["a", b"x"]], TypeError, "Each extra module must be a 2-tuple"),
        ([(1, b"x")], TypeError, "Module name at index 0 must be a string"),
        ([("a", 1)], TypeError, "Module source at index 0 must be str"),
        ([("a", "")], ValueError, r"Module source for 'a' \(index 0\) cannot be empty"),
    ],
)
def test_extra_sources_are_checked_at_construction(sources, error, text):
    with pytest.raises(error, match=text):
        ProgramOptions(arch="sm_90", extra_sources=sources)


def test_bundled_headers_require_a_recent_nvrtc(monkeypatch, tmp_path):
    import cuda.core._compile as compile_module

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    options = ProgramOptions(arch="sm_90", use_bundled_headers=True)
    monkeypatch.setattr(compile_module, "nvrtc_version", lambda: (13, 3))
    folder = tmp_path / "cuda-python" / "nvrtc-bundled-headers"
    assert options.as_bytes("nvrtc")[1] == f"--use-bundled-headers={folder}".encode()
    monkeypatch.setattr(compile_module, "nvrtc_version", lambda: (13, 2))
    with pytest.raises(RuntimeError, match=r"use_bundled_headers requires NVRTC >= 13\.3"):
        options.as_bytes("nvrtc")


def test_the_name_is_a_text_or_a_path():
    assert ProgramOptions(name=pathlib.Path("a/b.cu")).name == "a/b.cu"
    for name in (3, b"x"):
        text = f"ProgramOptions.name must be a str or a path, got {type(name).__name__}"
        with pytest.raises(TypeError, match=text):
            ProgramOptions(name=name)


def test_the_name_defaults_even_when_it_is_none():
    assert ProgramOptions(arch="sm_90").name == "default_program"
    assert ProgramOptions(arch="sm_90", name=None).name == "default_program"


def test_options_compare_by_value_and_are_not_hashable():
    assert ProgramOptions(arch="sm_90", debug=True) == ProgramOptions(arch="sm_90", debug=True)
    assert ProgramOptions(arch="sm_90") != ProgramOptions(arch="sm_80")
    with pytest.raises(TypeError, match="unhashable"):
        hash(ProgramOptions(arch="sm_90"))


@pytest.mark.parametrize("make_copy", [copy.copy, lambda o: pickle.loads(pickle.dumps(o))])
def test_options_can_be_copied_and_pickled(make_copy):
    options = ProgramOptions(arch="sm_90", define_macro=[("A", "1")])
    assert make_copy(options) == options


def test_the_repr_is_short():
    options = ProgramOptions(name="n", arch="sm_90", debug=True)
    assert repr(options) == "ProgramOptions(name='n', arch='sm_90')"


def test_rows_name_each_field_once():
    fields = [row.field for row in option_rows.NVRTC_ROWS]
    assert len(fields) == len(set(fields))


Architecture = enum.Enum("Architecture", {"AMPERE": "sm_80"}, type=str)


class ShownAsItself(str):
    def __str__(self):
        return self


class Number:
    def __str__(self):
        return ShownAsItself(32)


@pytest.mark.parametrize("arch", [Architecture.AMPERE, ShownAsItself("sm_80"), np.str_("sm_80")])
def test_instances_of_subclasses_of_str_are_options(arch):
    options = ProgramOptions(arch=arch, max_register_count=Number(), ptxas_options=[arch])
    texts = options.as_bytes("NVRTC")
    assert texts == [b"-arch=sm_80", b"--ptxas-options=sm_80", b"--maxrregcount=32"]
    source = 'extern "C" __global__ void f() {}'
    assert Program(source, "c++", ProgramOptions(arch=arch)).compile("ptx").code
    assert LinkerOptions(arch=arch, name=arch).as_bytes()[0] == b"-arch=sm_80"
