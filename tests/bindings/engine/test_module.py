# SPDX-License-Identifier: Apache-2.0
"""Modules built from tables: names present at import, and names created on first use."""

import importlib
import pickle
import subprocess
import sys
from types import BuiltinFunctionType, ModuleType

import pytest
from cuda.bindings import _low, driver, nvrtc, runtime

LIBRARIES = _low.library_names()


def child(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_creates_only_the_factory_names():
    out = child(
        "import cuda.bindings.driver as d; v = vars(d);"
        "print(*sorted(n for n in v if not n.startswith('__') or n in ('__dir__', '__getattr__')))"
    )
    assert out == ["__dir__", "__getattr__", "_fill", "sizeof"]


def test_a_function_is_created_once_and_alone():
    out = child(
        "import cuda.bindings.driver as d; v = vars(d); f = d.cuInit;"
        "print(d.cuInit is f, v['cuInit'] is f, 'cuMemAlloc' in v, 'CUresult' in v);"
        "d.CUresult; print(d.cuInit is f, 'cuMemAlloc' in v)"
    )
    assert out == ["True", "True", "False", "False", "True", "True"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_function_is_found_before_the_rest_is_created(library):
    module = importlib.import_module(f"cuda.bindings.{library}")
    functions = [n for n in dir(module) if isinstance(getattr(module, n), BuiltinFunctionType)]
    assert len(functions) >= 10
    out = child(
        f"import cuda.bindings.{library} as d; found = [d.{', d.'.join(functions)}];"
        "print(len(found), '__all__' in vars(d))"
    )
    assert out == [str(len(functions)), "False"]


def test_a_name_replaced_by_a_user_stays():
    out = child(
        "import cuda.bindings.driver as d; d.cuInit = 1; d.CUstream = 2; d.CUresult;"
        "print(d.cuInit, d.CUstream); del d.cuMemAlloc; print(hasattr(d, 'cuMemAlloc'))"
    )
    assert out == ["1", "2", "False"]


@pytest.mark.parametrize("name", ["", "cu", "cuInitialize", "zz", "gr\u00fcn", "\udcff"])
def test_a_missing_name_is_reported(name):
    out = child(
        "import cuda.bindings.driver as d\n"
        f"try: getattr(d, {name!r})\nexcept AttributeError as e: print(ascii(str(e)) == ascii("
        f"\"module 'cuda.bindings.driver' has no attribute '%s'\" % {name!r}))"
    )
    assert out == ["True"]


def test_import_needs_no_other_library():
    out = child(
        "import sys; before = set(sys.modules);"
        "import cuda.bindings.driver, cuda.bindings.nvrtc, cuda.bindings.runtime;"
        "before.update(sys.builtin_module_names); ours = ('cuda', '_cython', 'cython');"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith(ours)))"
    )
    assert out == []


def test_a_call_creates_only_the_class_of_its_result(on_null_driver):
    out = on_null_driver(
        "import cuda.bindings.driver as d; d.cuInit(0); d.cuCtxGetCurrent();"
        "print('CUresult' in vars(d), '__getattr__' in vars(d))"
    )
    assert out.split() == ["False", "True"]


LAZY = {
    "driver": ("CUresult", "CUstream", "CUDA_VERSION", "__all__"),
    "runtime": ("cudaError_t", "cudaStream_t", "CUDART_VERSION", "__all__"),
}


@pytest.mark.parametrize(
    ("library", "name"), [(library, n) for library, names in LAZY.items() for n in names]
)
def test_a_missing_name_creates_all_names_and_ends_the_laziness(library, name):
    out = child(
        f"import cuda.bindings.{library} as d; d.{name}; v = vars(d);"
        f"print(*(n in v for n in {LAZY[library]}), '__getattr__' in v, '__dir__' in v)"
    )
    assert out == ["True", "True", "True", "True", "False", "False"]


def test_a_constant_with_leading_underscores_is_found_first():
    out = child("import cuda.bindings.runtime as d; print(d.__CUDART_API_VERSION)")
    assert out == ["13050"]


def test_names_of_python_itself_create_nothing():
    out = child(
        "import cuda.bindings.driver as d;"
        "print(hasattr(d, '__path__'), hasattr(d, '__wrapped__'), '__getattr__' in vars(d))"
    )
    assert out == ["False", "False", "True"]


def test_an_object_is_created_once_for_all_users(on_null_driver):
    out = on_null_driver(
        "import cuda.bindings.driver as d; result, ctx = d.cuCtxGetCurrent();"
        "print(type(result) is d.CUresult, type(ctx) is d.CUcontext, result is d.CUresult(0))"
    )
    assert out.split() == ["True"] * 3


def test_dir_lists_everything():
    out = child("import cuda.bindings.nvrtc as n; print(*dir(n))")
    assert {"nvrtcVersion", "nvrtcResult", "nvrtcProgram", "sizeof"} <= set(out)


def test_star_import_imports_all_public_names():
    out = child(
        "from cuda.bindings.driver import *; import cuda.bindings.driver as d;"
        "print(cuInit is d.cuInit, CUresult is d.CUresult, CUDA_VERSION, '_fill' in d.__all__)"
    )
    assert out == ["True", "True", str(driver.CUDA_VERSION), "False"]


def test_a_missing_name_is_an_attribute_error():
    for _ in range(2):  # lazily, then eagerly
        with pytest.raises(AttributeError, match="'cuda.bindings.driver' has no attribute 'cuNo"):
            _ = driver.cuNothing


def test_concurrent_look_ups_return_the_same_objects():
    out = child(
        "import threading, cuda.bindings.driver as d\n"
        "barrier, found = threading.Barrier(8), []\n"
        "def ask():\n"
        "    barrier.wait(); found.append((d.CUresult, d.CUstream, d.CUlaunchConfig))\n"
        "threads = [threading.Thread(target=ask) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "print(len(found), len(set(found)))"
    )
    assert out == ["8", "1"]


@pytest.mark.parametrize("function", [driver.cuInit, nvrtc.nvrtcVersion, runtime.cudaMalloc])
def test_functions_are_pickled_by_name(function):
    assert pickle.loads(pickle.dumps(function)) is function


def test_functions_know_their_module():
    assert driver.cuInit.__module__ == "cuda.bindings.driver"
    assert driver.cuInit.__qualname__ == "cuInit"


def test_exit_with_live_objects_prints_nothing(on_null_driver):
    assert (
        on_null_driver(
            "import cuda.bindings.driver as d;"
            "keep = [d.CUlaunchConfig(attrs=[d.CUlaunchAttribute()]).attrs, d.cuCtxGetCurrent(),"
            "d.CUmemPoolProps().location, d.CUresult(1), d.cuDeviceGetCount()]; d.keep = keep"
        )
        == ""
    )


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, "missing required argument 'objType' (position 1)"),
        ((1, 2), {}, "takes 1 argument but 2 were given"),
        ((1,), {"objType": 1}, "got multiple values for argument 'objType'"),
        ((), {"x": 1}, "got an unexpected keyword argument 'x'"),
        ((1,), {"objType": 1, "x": 1}, "got an unexpected keyword argument 'x'"),
    ],
)
def test_arguments_of_sizeof(arguments, named, message):
    with pytest.raises(TypeError) as caught:
        driver.sizeof(*arguments, **named)
    assert str(caught.value) == f"sizeof() {message}"
    assert driver.sizeof(objType=driver.CUuuid) == driver.sizeof(driver.CUuuid) == 16


@pytest.mark.parametrize("name", ["json", "cuda.bindings", "cuda.bindings.drive"])
def test_only_modules_of_libraries_are_filled(name, monkeypatch):
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(LookupError, match=f"^no tables for '{name}'$"):
        _low.fill(name)
    assert "sizeof" not in vars(module)
