# SPDX-License-Identifier: Apache-2.0
"""Program of NVVM IR: modules, libdevice, targets, logs, options; without a driver."""

import ctypes
import gc
import io

import pytest
from cuda.bindings import nvjitlink
from cuda.bindings.nvvm import nvvmError
from cuda.core import CUDAError, LaunchConfig, Linker, Program, ProgramOptions, launch

from ...bindings.function_tables import Replacements, slot
from ...threads import run_together

HEAD = """
target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-\
f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""
KERNEL = (
    HEAD
    + """
define void @store(float* %p, float %v) {{
  {body}
  store float %r, float* %p
  ret void
}}
{declared}
!nvvm.annotations = !{{!0}}
!0 = !{{void (float*, float)* @store, !"kernel", i32 1}}
"""
)
PLAIN = (
    KERNEL.replace("{{", "{")
    .replace("}}", "}")
    .replace("{declared}", "")
    .replace("{body}", "%r = fadd float %v, 1.0")
)


def calling(function):
    text = KERNEL.replace("{{", "{").replace("}}", "}")
    return text.replace("{body}", f"%r = call float @{function}(float %v)").replace(
        "{declared}", f"declare float @{function}(float)"
    )


TWICE = HEAD + "define float @twice(float %x) { %r = fmul float %x, 2.0\n ret float %r }"


def make(source=PLAIN, **options):
    return Program(source, "nvvm", ProgramOptions(**{"arch": "sm_75", **options}))


@pytest.fixture
def result(device, stream, pinned_block):
    """Return the number that a compiled `store` writes for a value."""

    def run(code, value):
        kernel = code.get_kernel("store")
        launch(stream, LaunchConfig(grid=1, block=1), kernel, pinned_block, value)
        stream.sync()
        return ctypes.c_float.from_address(int(pinned_block.handle)).value

    return run


@pytest.mark.parametrize("kind", [str, str.encode, lambda s: bytearray(s.encode())])
def test_ir_is_compiled_to_a_kernel(kind, result):
    with make(kind(PLAIN)) as program:
        assert program.backend == "NVVM"
        assert type(program.handle) is int
        assert program.handle != 0
        code = program.compile("ptx")
    assert (code.code_type, code.name) == ("ptx", "default_program")
    assert result(code, 2) == 3.0


def test_a_program_compiles_its_targets_in_any_order():
    with make() as program:
        kinds = [program.compile(t).code_type for t in ("ltoir", "PTX", "ltoir", "ptx")]
    assert kinds == ["ltoir", "ptx", "ltoir", "ptx"]


def test_a_dropped_program_destroys_its_native_handle():
    replacements, destroyed = Replacements(), []
    destroy = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(slot("nvvmDestroyProgram").value)

    def count_and_destroy(program):
        destroyed.append(ctypes.c_uint64.from_address(program).value)
        return destroy(program)

    program = make()
    native = program.handle
    replacements.put("nvvmDestroyProgram", count_and_destroy, ctypes.c_void_p)
    try:
        del program
        gc.collect()
    finally:
        replacements.undo()
    assert destroyed == [native]


def test_another_target_is_refused():
    with make() as program, pytest.raises(ValueError) as caught:
        program.compile("cubin")
    assert str(caught.value) == (
        "Unsupported target_type=\"cubin\" for NVVM (supported: 'ptx', 'ltoir')"
    )


def test_further_modules_are_linked(result):
    sources = [("twice", TWICE), ("unused", HEAD.encode())]
    with make(calling("twice"), extra_sources=sources) as program:
        assert result(program.compile("ptx"), 4) == 8.0


def test_libdevice_is_linked_in_once(result):
    with make(calling("__nv_sqrtf"), use_libdevice=True) as program:
        codes = [program.compile(t) for t in ("ptx", "ltoir", "ptx")]
    assert b".extern" not in codes[0].code
    assert codes[0].code == codes[2].code
    assert result(codes[0], 16) == 4.0


def test_a_missing_libdevice_is_named(monkeypatch):
    import cuda.pathfinder

    def find(name):
        raise cuda.pathfinder.BitcodeLibNotFoundError(f"no {name}")

    monkeypatch.setattr(cuda.pathfinder, "find_bitcode_lib", find)
    text = r"requires libdevice\.10\.bc, which was not found: no device\. The package nvidia-nvvm"
    with make(calling("__nv_sqrtf"), use_libdevice=True) as program:
        with pytest.raises(RuntimeError, match=text) as caught:
            program.compile("ptx")
    assert type(caught.value.__cause__) is cuda.pathfinder.BitcodeLibNotFoundError


def test_without_libdevice_its_functions_remain_unresolved():
    with make(calling("__nv_sqrtf")) as program:
        assert b".extern .func" in program.compile("ptx").code


def test_the_intermediate_code_can_be_linked():
    with make() as program:
        code = program.compile("ltoir")
    options = {"arch": "sm_75", "link_time_optimization": True}
    assert Linker(code, options=options).link("cubin").code.startswith(b"\x7fELF")


@pytest.mark.parametrize(
    ("source", "extra", "message"),
    [
        ("nonsense", None, r"(?s)ERROR_INVALID_IR \(6\)\nNVVM program log: default_program \(1, 0"),
        (PLAIN, [("bad", "nonsense")], r"NVVM program log: bad \(1, 0\)"),
    ],
)
def test_the_log_reports_the_faulty_module(source, extra, message):
    with make(source, extra_sources=extra) as program:
        for _ in range(2):
            with pytest.raises(nvvmError, match=message):
                program.compile("ptx")


@pytest.mark.skipif(
    nvjitlink.version() < (13, 1), reason="NVVM of CUDA 13.0 accepts a module without text"
)
def test_an_empty_module_is_refused():
    with pytest.raises(nvvmError, match="ERROR_INVALID_INPUT"):
        make(b"")


def test_a_name_with_a_nul_is_refused():
    with pytest.raises(ValueError, match="the name of the module has a NUL character"):
        make(name="a\0b")


def test_options_unknown_to_nvvm_are_named():
    with pytest.raises(CUDAError, match="not supported by NVVM backend: lineinfo, std"):
        make(std="c++17", lineinfo=True)


def test_a_removed_architecture_is_reported_with_the_log():
    with make(arch="sm_20") as program, pytest.raises(nvvmError, match="-arch=compute_20 is an un"):
        program.compile("ptx")


def test_the_options_reach_the_compiler(result):
    with make(debug=True, ftz=True, prec_div=False, fma=True, name="named") as program:
        code = program.compile("ptx")
    assert code.name == "named"
    assert b"add.ftz.f32" in code.code


def test_name_expressions_are_ignored():
    with make() as program:
        assert program.compile("ptx", name_expressions=("a",)).symbol_mapping == {}


def test_empty_logs_are_not_written():
    log = io.StringIO()
    with make() as program:
        program.compile("ptx", logs=log)
    assert log.getvalue() == ""


def test_a_closed_program_compiles_nothing():
    program = make()
    program.close()
    program.close()
    assert program.handle == 0
    assert program.pch_status is None
    with pytest.raises(RuntimeError, match="Program has been closed"):
        program.compile("ptx")


def test_one_program_serves_many_threads():
    with make() as program:
        results = run_together(*[lambda: program.compile("ptx").code] * 4)
    assert len(set(results)) == 1


def test_the_module_is_found_under_its_private_name():
    from cuda.core._program import _get_nvvm_module

    assert _get_nvvm_module().version() >= (1, 0)


def test_without_the_library_the_error_names_it(monkeypatch):
    from cuda.bindings import nvvm

    def unavailable():
        raise RuntimeError("no libnvvm.so")

    monkeypatch.setattr(nvvm, "version", unavailable)
    with pytest.raises(RuntimeError, match=r"cuda\.bindings\.nvvm.*libnvvm"):
        make()
