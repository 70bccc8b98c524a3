# SPDX-License-Identifier: Apache-2.0
"""A driver made of Python functions, one per slot, and child processes on the null driver."""

import ctypes
import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SLOT = ctypes.sizeof(ctypes.c_void_p)


@cache
def table_address(library):
    """Where the function table of a library lies, from the loader's capsule."""
    from cuda.bindings import _loader

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    api = get(_loader._api, b"cuda.bindings._loader._api")
    table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p).from_address(api)
    return table(library.encode())


@cache
def slot_numbers(library):
    from generator import model

    return {f.name: i for i, f in enumerate(model.load(library).functions)}


def library_of(function):
    prefixes = {"nvrtc": "nvrtc", "cuda": "runtime", "cu": "driver"}
    return next(name for prefix, name in prefixes.items() if function.startswith(prefix))


class Api:
    """One of the libraries whose functions have the same contract in driver and runtime."""

    def __init__(self, name, prefix):
        self.module = import_module(f"cuda.bindings.{name}")
        self.prefix = prefix

    def name(self, stem):
        """`StreamQuery` -> `cuStreamQuery` or `cudaStreamQuery`."""
        return self.prefix + stem

    def __getattr__(self, stem):
        return getattr(self.module, self.prefix + stem)

    def type(self, stem):
        """`StreamCaptureMode` -> the class `CUstreamCaptureMode` or `cudaStreamCaptureMode`."""
        driver_name = f"CU{stem[0].lower()}{stem[1:]}"
        return getattr(self.module, driver_name if self.prefix == "cu" else f"cuda{stem}")

    @property
    def result(self):
        """The enumeration of the codes."""
        return self.module.CUresult if self.prefix == "cu" else self.module.cudaError_t


@pytest.fixture(params=[("driver", "cu"), ("runtime", "cuda")], ids=lambda p: p[0])
def api(request):
    return Api(*request.param)


@pytest.fixture
def put_address():
    """``put_address(name, address)``: calls of the C function go to another C function."""
    undo = []

    def install(name, address):
        library = library_of(name)
        place = table_address(library) + SLOT * slot_numbers(library)[name]
        slot = ctypes.c_void_p.from_address(place)
        undo.append((slot, slot.value))
        slot.value = address

    yield install
    for slot, value in reversed(undo):
        slot.value = value


@pytest.fixture
def put(put_address):
    """``put(name, function, *ctypes)``: calls of the C function go to a Python function.

    The ctypes are those of the C parameters; the function returns the code (None: success).
    """
    alive = []

    def install(name, function, *types):
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *types)
        callback = prototype(lambda *args: function(*args) or 0)
        alive.append(callback)
        put_address(name, ctypes.cast(callback, ctypes.c_void_p).value)

    return install


@pytest.fixture
def calls(put):
    """``calls(name, *ctypes)``: a list that receives the arguments of each C call."""

    def record(name, *types):
        seen = []
        put(name, lambda *args: seen.append(args), *types)
        return seen

    return record


@pytest.fixture
def on_null_driver():
    """``on_null_driver(code)``: what a child process on the null driver prints."""

    def run(code, **environment):
        settings = {"HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_MODE": "null"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, **settings, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert "Exception ignored" not in done.stderr
        return done.stdout

    return run
