# SPDX-License-Identifier: Apache-2.0
"""Program of PTX, assembled by the linker; without a driver."""

import contextlib
import io

import pytest
from cuda.bindings.nvjitlink import nvJitLinkError
from cuda.core import Program, ProgramOptions

PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param .f32 value)
{
    .reg .u64 %rd<2>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [out];
    ld.param.f32 %f1, [value];
    st.global.f32 [%rd1], %f1;
    ret;
}
"""
OPEN = PTX.replace("ret;", "call missing;\nret;").replace(
    ".visible", ".extern .func missing;\n.visible"
)


def make(code=PTX, **options):
    return Program(code, "ptx", ProgramOptions(**{"arch": "sm_75", **options}))


@pytest.mark.parametrize("code", [PTX, PTX.encode(), PTX.encode() + b"\0", PTX + "\0"])
def test_ptx_is_assembled_to_a_cubin(code):
    with make(code, name="named") as program:
        assert program.backend == "nvJitLink"
        assert program.handle != 0
        assert repr(program) == "<Program backend='nvJitLink'>"
        cubin = program.compile("CUBIN")
    assert (cubin.code_type, cubin.name, cubin.code[:4]) == ("cubin", "named", b"\x7fELF")


def test_it_can_be_compiled_repeatedly():
    with make() as program:
        assert program.compile("cubin").code == program.link("cubin").code


def test_the_kernel_parameters_are_retained():
    with make() as program:
        assert b".f32 value" in program.compile("cubin").__reduce__()[1][-1]


def test_ptx_of_ptx_is_an_error_with_the_reason():
    with make() as program, pytest.raises(nvJitLinkError) as caught:
        program.compile("ptx")
    assert any("PTX output requires LTO-IR inputs" in note for note in caught.value.__notes__)


def test_another_target_is_refused():
    with make() as program, pytest.raises(ValueError) as caught:
        program.compile("ltoir")
    assert str(caught.value) == (
        "Unsupported target_type=\"ltoir\" for nvJitLink (supported: 'cubin', 'ptx')"
    )


def test_an_input_without_ptx_is_refused_at_construction():
    with pytest.raises(nvJitLinkError, match="does not match type NVJITLINK_INPUT_PTX"):
        make("nonsense")


def test_a_syntax_error_is_reported_with_its_line():
    with pytest.raises(nvJitLinkError, match=r"nvJitLink error log: .*line 10"):
        make(PTX.replace("ld.param.f32 %f1", "ld.param.f32 %f9"), name="bad").compile("cubin")


def test_a_missing_symbol_is_named():
    with make(OPEN) as program, pytest.raises(nvJitLinkError, match="Undefined reference to 'miss"):
        program.compile("cubin")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"time": "x.csv", "split_compile": 2}, [b"-time", b"-split-compile=2"]),
        ({"debug": True, "lineinfo": True}, [b"-g", b"-lineinfo"]),
        ({"ptxas_options": ["-v"], "max_register_count": 32}, [b"-maxrregcount=32", b"-Xptxas=-v"]),
        (
            {"ftz": True, "prec_sqrt": False, "prec_div": True, "fma": False},
            [b"-ftz=true", b"-prec-div=true", b"-prec-sqrt=false", b"-fma=false"],
        ),
        ({"no_cache": True, "link_time_optimization": True}, [b"-lto", b"-no-cache"]),
        ({"std": "c++17", "use_fast_math": True, "pch": True}, []),
    ],
)
def test_options_of_the_linker_are_passed_on(options, expected, monkeypatch):
    import cuda.core

    options_seen = []

    class Recorded(cuda.core.LinkerOptions):
        def __post_init__(self):
            options_seen.append(self)

    monkeypatch.setattr(cuda.core, "LinkerOptions", Recorded)
    with contextlib.suppress(nvJitLinkError):  # an option that does not fit this source
        make(**options).close()
    assert options_seen[0].as_bytes() == [b"-arch=sm_75", *expected]


def test_numba_debug_warns():
    with pytest.warns(UserWarning, match="numba_debug is ignored for code_type='ptx'"):
        make(numba_debug=True)


def test_the_log_of_the_linker_is_written():
    log = io.StringIO()
    with make(ptxas_options="-v") as program:
        program.compile("cubin", logs=log)
        first = log.getvalue()
    assert "registers" in first


def test_a_closed_program_compiles_nothing():
    program = make()
    program.close()
    program.close()
    assert program.handle == 0
    with pytest.raises(RuntimeError, match="Program has been closed"):
        program.compile("cubin")
