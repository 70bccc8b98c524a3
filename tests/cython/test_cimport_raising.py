# SPDX-License-Identifier: Apache-2.0
"""The .pxd files of the libraries whose functions raise serve a client without their headers."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import cuda.bindings
import pytest
from cuda.bindings import nvfatbin, nvjitlink, nvvm

SOURCE = Path(__file__).parent / "foreign_raising.pyx"
PACKAGES = Path(cuda.bindings.__path__[0]).parent.parent
COMPILER = shlex.split(os.environ.get("CC", "gcc"))
PTX = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n\0"

pytestmark = pytest.mark.skipif(not shutil.which(COMPILER[-1]), reason="no C compiler")


@pytest.fixture(scope="module", params=["c", "c++"])
def foreign(request, tmp_path_factory):
    """The foreign module, built without a CUDA header: the .pxd files carry what they need."""
    pytest.importorskip("Cython", reason="cimport needs Cython")
    folder = tmp_path_factory.mktemp("foreign_raising")
    made = folder / ("foreign_raising.c" if request.param == "c" else "foreign_raising.cpp")
    language = ["--cplus"] if request.param == "c++" else []
    cython = [sys.executable, "-m", "cython", "-I", str(PACKAGES), *language]
    subprocess.run([*cython, str(SOURCE), "-o", str(made)], check=True, cwd=folder)
    target = folder / f"foreign_raising{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiler = [*COMPILER, "-x", request.param, "-O1", "-shared", "-fPIC", "-Werror", "-Wall"]
    compiler += [f"-I{sysconfig.get_path('include')}"]
    subprocess.run([*compiler, str(made), "-o", str(target)], check=True)
    spec = importlib.util.spec_from_file_location("foreign_raising", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def installed():
    from cuda.bindings import _low
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        for name in ("nvjitlink", "nvvm", "nvfatbin", "nvrtc"):
            _low.load(name)
    except DynamicLibNotFoundError as error:
        pytest.skip(str(error).partition(",")[0])


def test_a_program_is_linked_without_the_gil(foreign, installed):
    result, size, is_destroyed = foreign.link(PTX, b"-arch=sm_90")
    assert (result, is_destroyed) == (0, True) and size > 100


def test_a_refused_option_is_a_code_and_no_exception(foreign, installed):
    assert foreign.link(PTX, b"-no-such-option") == (1, 0, True)


def test_functions_of_each_library_are_reached(foreign, installed):
    assert foreign.versions() == [nvjitlink.version(), nvvm.version(), nvfatbin.version()]
    texts = foreign.error_texts()
    assert (texts[0], texts[2]) == (b"NVVM_ERROR_INVALID_IR", b"NVRTC_ERROR_COMPILATION")


def test_enumerators_have_their_values(foreign):
    assert foreign.values_of_types() == (2, 10, -42)


def test_python_functions_are_cimported_with_their_c_types(foreign, installed):
    assert foreign.call_python_functions() == (True, True, True, True, nvjitlink.version())


def test_an_exception_of_a_python_function_comes_through(foreign, installed):
    with pytest.raises(nvjitlink.nvJitLinkError, match="ERROR_MISSING_ARCH"):
        foreign.fail_in_python_function()


def test_the_header_of_the_library_may_be_there_as_well(tmp_path):
    """Before or after the declarations of the .pxd: the include guard is the same."""
    from generator import headers, model
    from generator.emit.cimport import c_headers

    folder = headers.find(model.load("driver").version)
    libraries = [model.load(n) for n in ("nvjitlink", "nvvm", "nvfatbin", "nvrtc")]
    if not folder or not all((folder / h).exists() for lib in libraries for h in lib.headers):
        pytest.skip("no headers of these libraries")
    for lib in libraries:
        own, real = c_headers.verbatim(lib), f"#include <{lib.headers[0]}>\n"
        for text in (own + real, real + own):
            for language in ("c", "c++"):
                command = [*COMPILER, "-x", language, "-Wall", "-Werror", "-fsyntax-only"]
                command += ["-Wno-unused-function", f"-I{folder}", "-"]
                subprocess.run(command, input=text, text=True, check=True, cwd=tmp_path)


def test_a_missing_library_raises_where_it_was_called(foreign, tmp_path):
    """In a block without the GIL: the value of the clause and a pending exception."""
    code = f"""
import importlib.util
import cuda.pathfinder as pathfinder
def nothing(name):
    raise pathfinder.DynamicLibNotFoundError(f"no {{name}}")
pathfinder.load_nvidia_dynamic_lib = nothing
spec = importlib.util.spec_from_file_location("foreign_raising", {foreign.__file__!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for call in (lambda: module.link(b"", b"-lto"), module.error_texts, module.call_python_functions):
    try:
        print(call())
    except RuntimeError as error:
        print(type(error).__name__, str(error)[:22])
"""
    env = os.environ | {"PYTHONPATH": str(PACKAGES)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines() == [
        "DynamicLibNotFoundError nvJitLinkCreate() need",
        "DynamicLibNotFoundError nvvmGetErrorString() n",
        "DynamicLibNotFoundError nvJitLinkCreate() need",
    ], done.stderr
