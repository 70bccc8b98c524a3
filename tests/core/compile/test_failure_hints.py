# SPDX-License-Identifier: Apache-2.0
"""Advice of failed compilations: each text belongs to one cause."""

from types import SimpleNamespace

import pytest
from cuda.bindings import nvrtc
from cuda.core import NVRTCError, Program, ProgramOptions
from cuda.core.compile import failure_hints as hints

SOURCE = "__global__ void f() {}"


def hints_for(log, source=SOURCE, **options):
    fields = {"include_path": None, "arch": "sm_1", "std": "c++1", "max_register_count": "many"}
    return hints.hints_for(log, source, SimpleNamespace(**{**fields, **options}))


def supported():
    _, numbers = nvrtc.nvrtcGetSupportedArchs()
    return ", ".join(f"sm_{number}" for number in numbers)


@pytest.mark.parametrize(
    ("log", "text"),
    [
        ("error: nothing known", None),
        ('could not open source file "vector"', hints.STANDARD_HEADER.format("vector")),
        ('cannot open source file "math.h"', hints.STANDARD_HEADER.format("math.h")),
        ('cannot open source file "crt/x.h"', hints.COMPILER_HEADER.format("crt/x.h")),
        ('cannot open source file "cuda_fp16.h"', hints.MISSING_HEADER.format("cuda_fp16.h")),
        ("identifier __nv_name_map is undefined", hints.NAME_EXPRESSION),
        ("Unresolved extern function 'g'", hints.UNRESOLVED.format("g")),
        ("Unresolved extern variable 'v'", hints.UNRESOLVED.format("v")),
        ("invalid value for --std", hints.STANDARDS.format("c++1")),
        ("invalid value for --maxrregcount", hints.REGISTERS.format("many")),
    ],
)
def test_a_log_has_its_advice(log, text):
    assert hints_for(log) == ([] if text is None else [text])


def test_the_supported_architectures_are_listed():
    (text,) = hints_for("invalid value for --gpu-architecture")
    assert text == f"arch is 'sm_1'; this NVRTC supports {supported()}"


@pytest.mark.parametrize(
    ("source", "is_path"),
    [
        ("kernels/add.cu", True),
        ("  C:\\kernels\\add.cuh\n", True),
        ("add.txt", True),
        ("add.py", False),
        ("int a.cu", False),
        (SOURCE, False),
    ],
)
def test_a_path_as_the_source_is_noticed(source, is_path):
    assert hints_for("", source) == ([hints.PATH.format(source.strip())] if is_path else [])


@pytest.mark.parametrize(
    ("source", "is_ptx"),
    [(".version 8.0", True), ("//\n  .version\t9", True), ("x .version 8", False), ("", False)],
)
def test_ptx_as_the_source_is_noticed(source, is_ptx):
    assert hints_for("", source) == ([hints.PTX] if is_ptx else [])


def test_folders_that_do_not_exist_are_named_instead_of_the_header(tmp_path):
    missing = [tmp_path / "one", str(tmp_path / "two")]
    log = 'cannot open source file "a.h"'
    texts = hints_for(log, include_path=[missing[0], str(tmp_path), missing[1]])
    assert texts == [hints.MISSING_FOLDER.format(str(path)) for path in missing]
    assert hints_for(log, include_path=missing[1]) == texts[1:]


def test_an_undefined_function_is_named():
    source = 'extern "C" __device__ int g(int); __global__ void f(int* x) { *x = g(1); }'
    with pytest.raises(NVRTCError) as caught:
        Program(source, "c++", ProgramOptions(arch="sm_90")).compile("cubin")
    assert hints.UNRESOLVED.format("g") in caught.value.__notes__
