# SPDX-License-Identifier: Apache-2.0
"""Write `abi.json`: the C functions that compiled clients of `cimport` look up, and their types.

python -m tests.data.record_abi
"""

import ctypes
import hashlib
import importlib
import json
import re
from pathlib import Path

FILE = Path(__file__).with_name("abi.json")
ROOT = Path(__file__).resolve().parents[2]
LOW = "driver runtime nvrtc nvjitlink nvvm nvfatbin nvml cufile cudla"
CORE = "cuda.core._core"


def capsules(name):
    """Map each C function of a module to its C type."""
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    functions = importlib.import_module(name).__pyx_capi__
    return {function: get_name(capsule).decode() for function, capsule in functions.items()}


def public_functions():
    """Return the names that `cuda/core/capi.pxd` gives to clients, as its comments promise."""
    text = (ROOT / "cuda" / "core" / "capi.pxd").read_text()
    return set(re.findall(r"^    (\w+),$", text, re.M))


def core_number():
    """Return HALFWARP_CORE_ABI, which clients compare at import."""
    text = (ROOT / "cpp" / "python" / "foreign" / "abi.hpp").read_text()
    return int(re.search(r"define HALFWARP_CORE_ABI (\d+)", text)[1])


def digests(types):
    return {name: hashlib.sha256(text.encode()).hexdigest()[:8] for name, text in types.items()}


def current():
    """Return the functions of each module with a digest of their types."""
    names = public_functions()
    core = {name: text for name, text in capsules(CORE).items() if name in names}
    low = {f"cuda.bindings.cy{each}": capsules(f"cuda.bindings.cy{each}") for each in LOW.split()}
    return {module: digests(types) for module, types in {CORE: core, **low}.items()}


if __name__ == "__main__":
    content = {"HALFWARP_CORE_ABI": core_number(), "functions": current()}
    FILE.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n")
