# SPDX-License-Identifier: Apache-2.0
"""Unusual imports: strict, optimized, repeated, concurrent."""

import subprocess
import sys

import pytest
from cuda.bindings import _low

LIBRARIES = _low.library_names()
COMPILED = ["cy" + name for name in LIBRARIES]


def run(code, *options):
    """Return the lines that an interpreter with these options prints; it must print nothing
    else."""
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize("options", [("-W", "error", "-bb"), ("-O",), ("-OO",), ("-S",)], ids=str)
def test_every_module_is_used_under_options_of_the_interpreter(options):
    path = f"import sys; sys.path[:] = {sys.path!r}\n"  # -S omits site-packages
    code = f"""{path}
import importlib
for name in {[*LIBRARIES, *COMPILED, "utils"]!r}:
    module = importlib.import_module("cuda.bindings." + name)
    for each in dir(module):
        getattr(module, each)
from cuda.bindings import driver, nvjitlink
print(driver.CUresult(1).__doc__ != "", nvjitlink.nvJitLinkError(1).status)
"""
    assert run(code, *options) == ["True 1"]


@pytest.mark.parametrize("name", [*LIBRARIES, *COMPILED, "utils"])
def test_a_reloaded_module_has_the_same_objects(name):
    code = f"""
import importlib, sys
import cuda.bindings.{name} as module
names = [n for n in dir(module) if not n.startswith("__")]
before = {{n: getattr(module, n) for n in names}}
assert importlib.reload(module) is module
print([n for n in names if isinstance(before[n], type) and getattr(module, n) is not before[n]])
print(set(names) - set(dir(module)))
"""
    assert run(code) == ["[]", "set()"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_reimported_module_has_the_same_classes(name):
    code = f"""
import pickle, sys
import cuda.bindings.{name} as first
classes = {{n: v for n, v in ((n, getattr(first, n)) for n in dir(first)) if isinstance(v, type)}}
del sys.modules[first.__name__]
import cuda.bindings
del cuda.bindings.{name}
import cuda.bindings.{name} as second
print(first is second, all(getattr(second, n) is v for n, v in classes.items()), len(classes) > 0)
member = next(iter(next(v for v in classes.values() if hasattr(v, "__members__"))))
print(pickle.loads(pickle.dumps(member)) is member)
"""
    assert run(code) == ["False True True", "True"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_star_import_imports_public_names_only(name):
    """All names but the NumPy types, which would import NumPy."""
    code = f"""
import sys
names = {{}}
exec("from cuda.bindings.{name} import *", names)
print("numpy" in sys.modules)
import cuda.bindings.{name} as module
public = {{n for n in dir(module) if not n.startswith("_") and not n.endswith("_dtype")}}
print(sorted(set(names) - {{"__builtins__"}} ^ public))
print(sorted(set(module.__all__) ^ public))
"""
    assert run(code) == ["False", "[]", "[]"]
