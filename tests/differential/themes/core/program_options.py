# SPDX-License-Identifier: Apache-2.0
"""ProgramOptions: the options that each field passes to NVRTC and NVVM."""

import copy
import pickle

from cuda.core import Device, ProgramOptions
from cuda.core.typing import CompilerBackendType

Device(0).set_current()


def nvrtc(**fields):
    return ProgramOptions(arch="sm_80", **fields).as_bytes("nvrtc")


def nvvm(target=None, **fields):
    return ProgramOptions(arch="sm_80", **fields).as_bytes("nvvm", target)


def refused_text(**fields):
    try:
        nvvm(**fields)
    except Exception as error:
        return str(error)


CASES = [
    lambda: ProgramOptions(),
    lambda: ProgramOptions().arch,
    lambda: ProgramOptions(name=None).name,
    lambda: ProgramOptions(unknown=1),
    lambda: hash(ProgramOptions()),
    lambda: ProgramOptions(ftz=True) == ProgramOptions(ftz=True),
    lambda: ProgramOptions(ftz=True) == ProgramOptions(ftz=False),
    lambda: pickle.loads(pickle.dumps(ProgramOptions(std="c++17"))) == ProgramOptions(std="c++17"),
    lambda: copy.copy(ProgramOptions(std="c++17")) == ProgramOptions(std="c++17"),
    lambda: ProgramOptions(arch="sm_80").as_bytes("NVRTC"),
    lambda: ProgramOptions(arch="sm_80").as_bytes(CompilerBackendType.NVRTC),
    lambda: ProgramOptions(arch="sm_80").as_bytes("x"),
    lambda: nvrtc(),
    lambda: nvrtc(relocatable_device_code=True, extensible_whole_program=True, debug=True),
    lambda: nvrtc(relocatable_device_code=False, extensible_whole_program=False, debug=False),
    lambda: nvrtc(lineinfo=True, device_code_optimize=True, max_register_count=32),
    lambda: nvrtc(lineinfo=False, device_code_optimize=False),
    lambda: nvrtc(ptxas_options="-v"),
    lambda: nvrtc(ptxas_options=["-v", "-O3"]),
    lambda: nvrtc(ptxas_options=("-v", "-O3")),
    lambda: nvrtc(ftz=True, prec_sqrt=False, prec_div=True, fma=False),
    lambda: nvrtc(use_fast_math=True, extra_device_vectorization=True, gen_opt_lto=True),
    lambda: nvrtc(use_fast_math=False, link_time_optimization=True),
    lambda: nvrtc(define_macro="A"),
    lambda: nvrtc(define_macro=("A", "1")),
    lambda: nvrtc(define_macro=["A", ("B", "2")]),
    lambda: nvrtc(define_macro=[("A", "1"), ("B", "2")]),
    lambda: nvrtc(define_macro=3),
    lambda: nvrtc(define_macro=("A", 1)),
    lambda: nvrtc(define_macro=["A", 3]),
    lambda: nvrtc(define_macro=("A", "1", "2")),
    lambda: nvrtc(undefine_macro=["A", "B"], include_path="/x"),
    lambda: nvrtc(include_path=["/x", "/y"], pre_include=["a.h", "b.h"]),
    lambda: nvrtc(no_source_include=True, std="c++17", builtin_move_forward=True),
    lambda: nvrtc(builtin_move_forward=False, builtin_initializer_list=False),
    lambda: nvrtc(disable_warnings=True, restrict=True, device_int128=True),
    lambda: nvrtc(device_as_default_execution_space=True, device_float128=True),
    lambda: nvrtc(optimization_info="inline", no_display_error_number=True),
    lambda: nvrtc(diag_error=1, diag_suppress=[2, 3], diag_warn=(4,)),
    lambda: nvrtc(brief_diagnostics=True, time="t.csv", split_compile=0),
    lambda: nvrtc(fdevice_syntax_only=True, minimal=True, no_cache=True),
    lambda: nvrtc(fdevice_time_trace="trace", frandom_seed="7", ofast_compile="max"),
    lambda: nvrtc(pch=True, create_pch="a", use_pch="b", pch_dir="c"),
    lambda: nvrtc(pch_verbose=True, pch_messages=False, instantiate_templates_in_pch=True),
    lambda: nvrtc(numba_debug=True),
    lambda: nvvm(),
    lambda: nvvm("ltoir"),
    lambda: nvvm("ptx"),
    lambda: nvvm(debug=True, device_code_optimize=True, numba_debug=True),
    lambda: nvvm(device_code_optimize=False, ftz=True, prec_sqrt=False, prec_div=True, fma=False),
    lambda: nvvm(lineinfo=True),
    lambda: refused_text(lineinfo=True, std="c++17", relocatable_device_code=False),
    lambda: refused_text(builtin_move_forward=False, time="x", pre_include=["a"]),
    lambda: nvvm(device_float128=True, no_cache=True, frandom_seed="7", pch=True),
    lambda: nvvm(link_time_optimization=True),
    lambda: ProgramOptions(extra_sources=3),
    lambda: ProgramOptions(extra_sources=[3]),
    lambda: ProgramOptions(extra_sources=[(1, "x")]),
    lambda: ProgramOptions(extra_sources=[("a", 3)]),
    lambda: ProgramOptions(extra_sources=[("a", "")]),
    lambda: ProgramOptions(extra_sources=[("a", "x"), ("b", b"y")]).extra_sources,
]
