# SPDX-License-Identifier: Apache-2.0
"""The .pxd files of the raising libraries work for a client without their headers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.bindings import nvfatbin, nvjitlink, nvvm

from ..libraries import open_or_skip
from .conftest import COMPILER, PACKAGES

PTX = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n\0"


@pytest.fixture(scope="module")
def foreign(import_built):
    """Build the foreign module without a CUDA header: the .pxd files contain all declarations."""
    return import_built("foreign_exceptions")


@pytest.fixture(scope="module")
def installed():
    for name in ("nvjitlink", "nvvm", "nvfatbin", "nvrtc"):
        open_or_skip(name)


def test_a_program_is_linked_without_the_gil(foreign, installed):
    result, size, is_destroyed = foreign.link(PTX, b"-arch=sm_90")
    assert (result, is_destroyed) == (0, True) and size > 100


def test_a_refused_option_is_a_code_and_no_exception(foreign, installed):
    assert foreign.link(PTX, b"-no-such-option") == (1, 0, True)


def test_functions_of_each_library_are_callable(foreign, installed):
    assert foreign.versions() == [nvjitlink.version(), nvvm.version(), nvfatbin.version()]
    texts = foreign.error_texts()
    assert (texts[0], texts[2]) == (b"NVVM_ERROR_INVALID_IR", b"NVRTC_ERROR_COMPILATION")


def test_enumerators_have_their_values(foreign):
    assert foreign.values_of_types() == (2, 10, -42)


def test_python_functions_are_cimported_with_their_c_types(foreign, installed):
    assert foreign.call_python_functions() == (True, True, True, True, nvjitlink.version())


def test_an_exception_of_a_python_function_is_propagated(foreign, installed):
    with pytest.raises(nvjitlink.nvJitLinkError, match="ERROR_MISSING_ARCH"):
        foreign.fail_in_python_function()


@pytest.mark.skipif(not shutil.which(COMPILER[-1]), reason="no C compiler")
def test_the_header_of_the_library_may_be_included_as_well(tmp_path, cuda_headers):
    """It may precede or follow the declarations of the .pxd: the include guard is the same."""
    from generator import libraries
    from generator.emit.cimport import c_headers

    loaded = [libraries.load(n) for n in ("nvjitlink", "nvvm", "nvfatbin", "nvrtc")]
    if not all((cuda_headers / h).exists() for lib in loaded for h in lib.facts.headers):
        pytest.skip("no headers of these libraries")
    for lib in loaded:
        own, real = c_headers.verbatim(lib), f"#include <{lib.facts.headers[0]}>\n"
        for text in (own + real, real + own):
            for language in ("c", "c++"):
                command = [*COMPILER, "-x", language, "-Wall", "-Werror", "-fsyntax-only"]
                command += ["-Wno-unused-function", f"-I{cuda_headers}", "-"]
                subprocess.run(command, input=text, text=True, check=True, cwd=tmp_path)


def test_a_missing_library_raises_at_the_call(foreign, tmp_path):
    """In a block without the GIL, the call returns the clause's value with a pending exception."""
    code = """
import cuda.pathfinder as pathfinder
def nothing(name):
    raise pathfinder.DynamicLibNotFoundError(f"no {name}")
pathfinder.load_nvidia_dynamic_lib = nothing
import foreign_exceptions as module
for call in (lambda: module.link(b"", b"-lto"), module.error_texts, module.call_python_functions):
    try:
        print(call())
    except RuntimeError as error:
        print(type(error).__name__, str(error)[:22])
"""
    env = os.environ | {"PYTHONPATH": f"{Path(foreign.__file__).parent}:{PACKAGES}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines() == [
        "DynamicLibNotFoundError nvJitLinkCreate() need",
        "DynamicLibNotFoundError nvvmGetErrorString() n",
        "DynamicLibNotFoundError nvJitLinkCreate() need",
    ], done.stderr
