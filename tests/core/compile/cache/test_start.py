# SPDX-License-Identifier: Apache-2.0
"""The start of a program whose kernel is in a folder imports no module that takes milliseconds."""

import hashlib
import importlib
import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
before = set(sys.modules)
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import FileStreamProgramCache
device = Device()
device.set_current()
program = Program('extern "C" __global__ void k() {}', "c++", ProgramOptions())
code = program.compile("cubin", cache=FileStreamProgramCache(sys.argv[1]))
launch(device.create_stream(), LaunchConfig(grid=1, block=1), code.get_kernel("k"))
with open("/proc/self/maps") as maps:
    print(*set(sys.modules) - before, *["NVRTC"] * ("libnvrtc.so" in maps.read()))
"""
# Prints the key with which a program is stored, and the key of the opened NVRTC.
STORED = """
import sys
from cuda.bindings import _low
from cuda.core import Program, ProgramOptions
from cuda.core.utils import InMemoryProgramCache, make_program_cache_key
if sys.argv[1]:
    _low.packaged_library = lambda name: sys.argv[1]
class Noting(InMemoryProgramCache):
    def _store_program(self, key, code, names, declarations):
        print(key.hex())
source, options = 'extern "C" __global__ void k() {}', ProgramOptions(arch="sm_80")
Program(source, "c++", options).compile("ptx", cache=Noting())
key = make_program_cache_key(code=source, code_type="c++", options=options, target_type="ptx")
print(key.hex())
"""
SLOW = {"dataclasses", "enum", "hashlib", "inspect", "re", "tempfile", "threading", "typing"}
SLOW.add("cuda.core.link.linker_options")  # creates a class with many fields


def start(folder):
    """Return the modules that a start imports."""
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    variables = os.environ | {"HALFWARP_BACKEND": "emulator"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_a_start_with_a_cached_kernel_imports_no_slow_module(tmp_path):
    assert "tempfile" in start(tmp_path)  # compiles, and writes the entry
    imported = start(tmp_path)
    assert "cuda.core.compile.cache.entry_files" in imported
    if "cuda.pathfinder" in imported:
        pytest.skip("the pathfinder finds NVRTC here, and imports slow modules")
    assert not imported & SLOW
    assert "NVRTC" not in imported  # only a compilation opens it


@pytest.mark.parametrize("names", [[], ["13.99"], ["13.98", "13.99"], ["13"], ["13.99.1"]])
def test_an_entry_has_the_key_of_the_compiler_that_made_it(tmp_path, names):
    for name in names:
        (tmp_path / f"libnvrtc-builtins.so.{name}").touch()
    expected = str(tmp_path / "libnvrtc.so.13") if names else ""
    command = [sys.executable, "-c", STORED, expected]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    stored, key = done.stdout.split()
    assert stored == key


@pytest.fixture
def hashing(monkeypatch):
    """The module that hashes, as at the start: `hashlib` is not loaded."""
    module = importlib.import_module("cuda.core.compile.cache.sha256")
    for name, value in {"_fast": None, "_left": 1000, "_slow": lambda data: "slow"}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.delitem(sys.modules, "hashlib")
    return module


@pytest.mark.parametrize(("size", "is_slow"), [(299, True), (300, False)])
def test_openssl_is_loaded_when_its_import_pays(hashing, size, is_slow):
    """Each hash counts 200 bytes more than it reads."""
    assert hashing.sha256(bytes(300)) == "slow"
    result = hashing.sha256(bytes(size))
    assert (result == "slow") is is_slow
    assert is_slow or result.digest() == hashlib.sha256(bytes(size)).digest()


@pytest.mark.parametrize("name", ["_slow", "_fast"])
def test_another_hash_is_used_where_the_own_is_missing_or_slower(hashing, monkeypatch, name):
    monkeypatch.setattr(hashing, name, None if name == "_slow" else hashlib.sha256)
    assert hashing.sha256(b"").digest() == hashlib.sha256(b"").digest()


def test_a_loaded_openssl_is_used(hashing, monkeypatch):
    monkeypatch.setitem(sys.modules, "hashlib", hashlib)
    assert hashing.sha256(b"").digest() == hashlib.sha256(b"").digest()
