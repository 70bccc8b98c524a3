# SPDX-License-Identifier: Apache-2.0
"""nvvm at work: a module of NVVM IR is compiled to PTX, and the log explains a failure."""

from pathlib import Path

import pytest

IR = """\
target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-\
f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

define void @store(i32* %out) {{
  store i32 42, i32* %out
  ret void
}}

!nvvm.annotations = !{{!0}}
!0 = !{{void (i32*)* @store, !"kernel", i32 1}}
!nvvmir.version = !{{!1}}
!1 = !{{i32 {major}, i32 0, i32 {debug}, i32 0}}
"""


@pytest.fixture
def program(nvvm):
    handle = nvvm.create_program()
    yield handle
    nvvm.destroy_program(handle)


@pytest.fixture
def ir(nvvm):
    major, _, debug, _ = nvvm.ir_version()
    return IR.format(major=major, debug=debug).encode()


def output(nvvm, output_name, program):
    """A sized output of a program, as bytes."""
    buffer = bytearray(getattr(nvvm, f"get_{output_name}_size")(program))
    assert getattr(nvvm, f"get_{output_name}")(program, buffer) is None
    return bytes(buffer)


def libdevice(nvvm):
    """The mathematical functions of CUDA as bitcode, which the compiler's package contains."""
    from cuda.pathfinder import load_nvidia_dynamic_lib

    folder = Path(load_nvidia_dynamic_lib("nvvm").abs_path).parents[1]
    result = next(folder.rglob("libdevice.*.bc"), None)
    if result is None:
        pytest.skip("libdevice is not installed")
    return result.read_bytes()


def test_versions_are_tuples_of_ints(nvvm):
    assert len(nvvm.version()) == 2 and len(nvvm.ir_version()) == 4
    assert all(type(n) is int for n in (*nvvm.version(), *nvvm.ir_version()))


def test_a_module_is_compiled_to_ptx(nvvm, program, ir):
    assert nvvm.add_module_to_program(program, ir, len(ir), "store.ll") is None
    options = ["-arch=compute_90"]
    assert nvvm.verify_program(program, len(options), options) is None
    assert nvvm.compile_program(program, len(options), options) is None
    ptx = output(nvvm, "compiled_result", program)
    assert b".entry store" in ptx and b".target sm_90" in ptx


def test_a_bitcode_library_is_added_lazily(nvvm, program, ir):
    code = libdevice(nvvm)
    nvvm.add_module_to_program(program, ir, len(ir), "store.ll")
    assert nvvm.lazy_add_module_to_program(program, code, len(code), "libdevice.bc") is None
    nvvm.compile_program(program, 0, [])
    ptx = output(nvvm, "compiled_result", program)
    assert b".entry store" in ptx and b"__nv_sin" not in ptx


def test_invalid_code_raises_and_writes_a_log(nvvm, program):
    text = b"this is no IR"
    nvvm.add_module_to_program(program, text, len(text), "wrong.ll")
    with pytest.raises(nvvm.nvvmError, match="get_program_log") as caught:
        nvvm.compile_program(program, 0, [])
    assert caught.value.status == nvvm.Result.ERROR_COMPILATION
    assert b"wrong.ll" in output(nvvm, "program_log", program)


def test_an_unknown_option_is_named_in_the_log(nvvm, program, ir):
    nvvm.add_module_to_program(program, ir, len(ir), "store.ll")
    with pytest.raises(nvvm.nvvmError, match=r"^ERROR_INVALID_OPTION \(7\)"):
        nvvm.compile_program(program, 1, ["-no-such-option"])
    assert b"-no-such-option" in output(nvvm, "program_log", program)


def test_error_strings_are_str(nvvm):
    assert nvvm.get_error_string(nvvm.Result.ERROR_INVALID_IR) == "NVVM_ERROR_INVALID_IR"


def test_the_llvm_version_of_an_architecture_is_an_int(nvvm):
    from cuda.bindings._internal.utils import FunctionNotFoundError

    try:
        assert nvvm.llvm_version("compute_90") >= 7
    except FunctionNotFoundError:
        pytest.skip("this libnvvm is older than the function")


def test_destroying_a_program_clears_the_handle(nvvm):
    program = nvvm.create_program()
    assert nvvm.destroy_program(program) is None
    with pytest.raises(nvvm.nvvmError, match="ERROR_INVALID_PROGRAM"):
        nvvm.destroy_program(0)
