# SPDX-License-Identifier: Apache-2.0
"""The modules: imported without their libraries, which are opened at the first call."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIBRARIES = ["nvjitlink", "nvvm", "nvfatbin"]

# The pathfinder finds nothing until `is_installed` is set.
HEAD = """
import sys
is_installed = False
def hide():
    import cuda.pathfinder as pathfinder
    real = pathfinder.load_nvidia_dynamic_lib
    def load(name):
        if is_installed:
            return real(name)
        raise pathfinder.DynamicLibNotFoundError(f"no {name} in /nowhere.")
    pathfinder.load_nvidia_dynamic_lib = load
def message(call, *args):
    try:
        return repr(call(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""


@pytest.fixture
def run():
    """``run(code)``: the output lines of a child process."""

    def child(code):
        done = subprocess.run(
            [sys.executable, "-c", HEAD + code],
            cwd=ROOT,
            env={**os.environ, "PYTHONWARNINGS": "error"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return child


@pytest.mark.parametrize("name", LIBRARIES)
def test_importing_opens_no_library_and_imports_nothing(run, name):
    (line,) = run(f"""
before = set(sys.modules)
import cuda.bindings.{name} as module
module.Result.SUCCESS
avoided = {{"ctypes", "numpy", "typing", "re", "cuda.pathfinder", "enum", "dataclasses"}}
print(sorted(avoided & (set(sys.modules) - before)),
      open("/proc/self/maps").read().lower().count("lib{name}."))
""")
    assert line == "[] 0"


@pytest.mark.parametrize("name", LIBRARIES)
def test_functions_are_created_individually_and_classes_together(run, name):
    lines = run(f"""
import cuda.bindings.{name} as module
module.version
print(*(n for n in vars(module) if n == "__getattr__" or not n.startswith("_")))
print(module.Result.SUCCESS, "__getattr__" in vars(module), hasattr(module, "sizeof"))
print(message(getattr, module, "no_such_name"))
""")
    assert lines[0] == "__getattr__ version"
    assert lines[1] == "<Result.SUCCESS: 0> False False"
    assert lines[2].startswith("AttributeError: module 'cuda.bindings.")


@pytest.mark.parametrize("name", ["nvml", "_v2.driver"])
@pytest.mark.parametrize("first", ["", "import numpy"])
def test_all_names_exist_after_numpy_is_imported_and_lookups_are_cached(run, name, first):
    """A `__getattr__` in a module prevents the interpreter from caching the position of a name."""
    pytest.importorskip("numpy")
    before, at_last, same = run(f"""
{first}
import cuda.bindings.{name} as module
module.__all__
print("numpy" in sys.modules, "__getattr__" in vars(module))
types = [n for n in dir(module) if n.endswith("_dtype")]
print(len(types) > 50, isinstance(getattr(module, types[0]), sys.modules["numpy"].dtype),
      "__getattr__" in vars(module))
print(dir(module) == sorted(vars(module)), module.__all__.count(types[0]))
""")
    assert before == ("True False" if first else "False True")
    assert at_last == "True True False"
    assert same == "True 0"


@pytest.mark.parametrize(
    "call, package",
    [
        ("nvjitlink.version()", "nvidia-nvjitlink"),
        ("nvvm.get_error_string(0)", "nvidia-nvvm"),
        ("nvvm.create_program()", "nvidia-nvvm"),
        ("nvfatbin.create([], 0)", "nvidia-nvfatbin"),
    ],
)
def test_a_missing_library_names_caller_and_remedy(run, call, package):
    (line,) = run(f"""
hide()
from cuda.bindings import nvjitlink, nvvm, nvfatbin
print(message(lambda: {call}))
""")
    assert line.startswith("DynamicLibNotFoundError: nv")
    assert "() needs the library nv" in line
    assert f"in /nowhere. Install {package}" in line and "CUDA_PATH" in line


@pytest.mark.parametrize(
    "call, remedy", [("nvml.init_v2()", "driver"), ("cudla.get_version()", "aarch64")]
)
def test_a_system_library_is_not_searched_in_a_toolkit(run, call, remedy):
    (line,) = run(f"""
import os
os.environ["HALFWARP_BACKEND"] = "driver"  # emulated devices have an NVML of their own
hide()
from cuda.bindings import cudla, nvml
print(message(lambda: {call}))
""")
    assert "() needs the library " in line and ".." not in line
    assert remedy in line.partition("/nowhere. ")[2] and "CUDA_PATH" not in line


def test_searched_folders_are_named_without_their_contents(run):
    (line,) = run("""
import cuda.pathfinder as pathfinder
def load(name):
    text = 'Failure finding "x.so": No such file: x.so'
    for folder in ("/one", "/two", "/two"):
        text += f'\\n  listdir("{folder}"):\\n    liba.so\\n    libb.so'
    raise pathfinder.DynamicLibNotFoundError(text)
pathfinder.load_nvidia_dynamic_lib = load
from cuda.bindings import nvfatbin
print(message(nvfatbin.version))
""")
    assert "nvFatbinVersion() needs the library nvfatbin, which cannot be found: Failure" in line
    assert '"x.so": No such file: x.so. Looked in: /one, /two. Install nvidia-nvfatbin,' in line
    assert "liba.so" not in line


@pytest.mark.usefixtures("nvjitlink")
def test_a_library_that_appears_later_is_found(run):
    lines = run("""
hide()
from cuda.bindings import nvjitlink
print(message(nvjitlink.version)[:23])
print(message(nvjitlink.version)[:23])
is_installed = True
print(nvjitlink.version()[0] >= 12)
""")
    assert lines == ["DynamicLibNotFoundError", "DynamicLibNotFoundError", "True"]


def test_errors_need_no_library(run):
    lines = run("""
hide()
from cuda.bindings import nvjitlink, nvvm, nvfatbin
print(nvjitlink.nvJitLinkError(1))
print(nvvm.nvvmError(1).status, nvfatbin.nvFatbinError(1).status)
""")
    assert lines == ["ERROR_UNRECOGNIZED_OPTION (1)", "1 1"]


def test_a_missing_function_names_itself_and_the_library(run, tmp_path):
    library = tmp_path / "libold.so"
    source = "int nvvmVersion(int* a, int* b) { *a = 1; *b = 2; return 0; }"
    compiler = os.environ.get("CC", "gcc").split()[-1]
    command = [compiler, "-x", "c", "-shared", "-fPIC", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True)
    lines = run(f"""
import ctypes
import cuda.pathfinder as pathfinder
class Loaded:
    abs_path = {str(library)!r}
    _handle_uint = ctypes.CDLL(abs_path)._handle
pathfinder.load_nvidia_dynamic_lib = lambda name: Loaded
from cuda.bindings import nvvm
from cuda.bindings._internal.nvvm import _inspect_function_pointer as pointer
print(nvvm.version(), message(nvvm.llvm_version, "compute_90"))
print(message(nvvm.get_error_string, 1)[:21], message(nvvm.create_program)[:21])
print(pointer("__nvvmVersion") != 0, pointer("__nvvmLLVMVersion"))
""")
    assert lines[0].startswith("(1, 2) FunctionNotFoundError: nvvmLLVMVersion is not in the nvvm")
    assert "nvidia-nvvm" in lines[0]
    assert lines[1:] == ["FunctionNotFoundError FunctionNotFoundError", "True 0"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_private_modules_show_addresses(request, name):
    request.getfixturevalue(name)
    from importlib import import_module

    from generator import libraries

    internal = import_module(f"cuda.bindings._internal.{name}")
    pointers = internal._inspect_function_pointers()
    assert pointers.keys() == {f"__{f.c_name}" for f in libraries.load(name).functions}
    present = {n: internal._inspect_function_pointer(n) for n in pointers}
    assert present == pointers and any(pointers.values())


def test_threads_that_fail_together_raise_the_same_class(run):
    lines = run("""
hide()
import threading
from cuda.bindings import nvjitlink, nvvm
start, results = threading.Barrier(16), []
def fail(i):
    start.wait()
    call = (nvjitlink.version, lambda: nvjitlink.nvJitLinkError(3), lambda: nvvm.Result(1))[i % 3]
    try:
        results.append(type(call()))
    except RuntimeError as error:
        results.append(type(error))
threads = [threading.Thread(target=fail, args=(i,)) for i in range(16)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(results), sorted(c.__name__ for c in set(results)))
print(nvjitlink.nvJitLinkError in results, nvvm.Result in results)
""")
    assert lines == ["16 ['DynamicLibNotFoundError', 'Result', 'nvJitLinkError']", "True True"]


@pytest.mark.usefixtures("nvjitlink")
def test_threads_that_make_the_first_call_together_all_succeed(run):
    lines = run("""
import threading
from cuda.bindings import nvjitlink
start, results = threading.Barrier(16), []
def first():
    start.wait()
    handle = nvjitlink.create(1, ["-arch=sm_90"])
    results.append(nvjitlink.version())
    nvjitlink.destroy(handle)
threads = [threading.Thread(target=first) for _ in range(16)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(results), len(set(results)))
""")
    assert lines == ["16 1"]
