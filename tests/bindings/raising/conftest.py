# SPDX-License-Identifier: Apache-2.0
"""The reference's modules whose functions raise, as data: 13.3 with what 13.5 changed."""

import contextlib
import ctypes
import importlib
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from cuda.bindings import _low
from cuda.pathfinder import DynamicLibNotFoundError

DATA = Path(__file__).parents[2] / "data"
LIBRARIES = ["nvjitlink", "nvvm", "nvfatbin", "nvml", "cufile", "cudla"]


class RaisingReference:
    """What one of these libraries offers at the reference."""

    def __init__(self, library):
        nothing = {"functions": {}, "classes": {}, "enums": {}, "constants": {}}
        nothing |= {"exceptions": {}, "capsules": {}}
        base = json.loads((DATA / "reference_13.3.json").read_text()).get(library, nothing)
        later = json.loads((DATA / "reference_13.5.json").read_text())[library]
        self.library, self.base, self.changes = library, base, later["names"]
        self.deviations = tomllib.loads((DATA / "parity_exceptions.toml").read_text())
        self.functions = dict(base["functions"])
        for name, record in self.of_kind("function"):
            self.functions[name] = later_function(record, base["functions"].get(name, {}))
        self.capsules = base["capsules"] | {n: r["sig"] for n, r in later["capsules"].items()}
        self.enums = {n: self.enum(n) for n in [*base["enums"], *dict(self.of_kind("enum"))]}
        self.aliases = {"pyCUresult"} & self.enums.keys()  # of other modules
        self.enums = {n: m for n, m in self.enums.items() if n not in self.aliases}
        self.constants = dict(base["constants"])
        self.constants |= {n: int(r["value"]) for n, r in self.of_kind("value") if is_number(r)}
        self.constants |= self.deviations.get("constants", {}).get(library, {})
        self.constants.pop("reason", None)
        self.exceptions = dict(base["exceptions"])
        for name, record in self.of_kind("class"):
            if any(b.endswith(("Error", "Exception")) for b in record.get("bases", ())):
                bases = [b.rpartition(".")[2] for b in record["bases"]]
                self.exceptions[name] = [*bases, *["Exception"][: bases != ["Exception"]]]

    def of_kind(self, kind):
        return [(n, r) for n, r in self.changes.items() if r["kind"] == kind]

    def enum(self, name):
        members = dict(self.base["enums"].get(name, {}))
        change = self.changes.get(name, {})
        members |= change.get("members", {}) | change.get("added_members", {})
        members |= {n: new for n, (_, new) in change.get("changed_values", {}).items()}
        kept = {n: v for n, v in members.items() if n not in change.get("removed_members", ())}
        return kept | self.deviation("members", name, {})

    def deviation(self, table, name, otherwise=None):
        """Where ours differs on purpose: a row of `parity_exceptions.toml`."""
        return self.deviations.get(table, {}).get(self.library, {}).get(name, otherwise)


def is_number(record):
    return re.fullmatch(r"-?\d+", str(record["value"])) is not None


def later_function(record, before):
    """A record of 13.5, in the form of those of 13.3."""
    names = [p.strip() for p in record["sig"].strip("()").split(",") if p.strip()]
    if "csig" not in record:  # names alone have changed
        types = [p.rpartition(" ")[0] for p in before["py"]]
        return before | {"py": [f"{t} {n}" for t, n in zip(types, names, strict=True)]}
    inner, _, ret = record["csig"].strip("(").partition(")")
    found = {"py": [p.strip() for p in inner.split(",") if p.strip()]}
    found["ret"] = ret.removeprefix(" -> ") or class_of(str(record["returns"]))
    return before | found


def class_of(c_name):
    """`nvmlGpuUptime_v1_t` -> `GpuUptime_v1`."""
    return c_name.removeprefix("nvml").removesuffix("_t") if c_name.startswith("nvml") else c_name


@pytest.fixture(scope="session", params=LIBRARIES)
def reference(request):
    return RaisingReference(request.param)


@pytest.fixture(scope="session")
def library(reference):
    """The generator's model of the same library."""
    from generator import model

    return model.load(reference.library)


@pytest.fixture
def module(reference):
    return importlib.import_module(f"cuda.bindings.{reference.library}")


def found_or_skip(name):
    """The module of a library, or a skip where the library is not installed."""
    try:
        _low.load(name)
    except DynamicLibNotFoundError:
        pytest.skip(f"{name} is not installed")
    return importlib.import_module(f"cuda.bindings.{name}")


@pytest.fixture
def nvjitlink():
    return found_or_skip("nvjitlink")


@pytest.fixture
def nvvm():
    return found_or_skip("nvvm")


@pytest.fixture
def nvfatbin():
    return found_or_skip("nvfatbin")


@cache
def table_address(library):
    """Where the function table of a library lies, from the loader's capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    api = get(_low._api, b"cuda.bindings._low._api")
    table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p).from_address(api)
    return table(library.encode())


@cache
def slots():
    """C function -> address of its slot, of all these libraries."""
    from generator import model

    return {
        f.name: table_address(name) + ctypes.sizeof(ctypes.c_void_p) * i
        for name in LIBRARIES
        for i, f in enumerate(model.load(name).functions)
    }


@cache
def open_libraries():
    """Fill the tables of those that this machine has."""
    for name in _low.library_names():
        with contextlib.suppress(DynamicLibNotFoundError):
            _low.load(name)


@pytest.fixture
def put():
    """``put(name, function, *ctypes)``: calls of the C function go to a Python function.

    The ctypes are those of the C parameters; the function returns the code (None: success).
    """
    undo, alive = [], []
    open_libraries()  # else the first call would, and put its functions in the place of these

    def install(name, function, *types, result=ctypes.c_int):
        slot = ctypes.c_void_p.from_address(slots()[name])
        callback = ctypes.CFUNCTYPE(result, *types)(lambda *args: function(*args) or 0)
        undo.append((slot, slot.value))
        alive.append(callback)
        slot.value = ctypes.cast(callback, ctypes.c_void_p).value

    yield install
    for slot, value in reversed(undo):
        slot.value = value


@pytest.fixture
def put_text(put):
    """``put_text(name, text)``: the C function returns that string."""
    kept = []

    def install(name, text):
        kept.append(ctypes.create_string_buffer(text))
        address = ctypes.addressof(kept[-1])
        put(name, lambda _: address, ctypes.c_int, result=ctypes.c_void_p)

    return install


@pytest.fixture
def record(put):
    """``record(name, n)``: a list that receives the n arguments of each C call, as addresses."""

    def install(name, n):
        seen = []
        put(name, lambda *args: seen.append(args), *[ctypes.c_void_p] * n)
        return seen

    return install


PTX = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], 42;
    ret;
}
\0"""


@pytest.fixture
def ptx():
    """A kernel that writes 42, for sm_90, ended by NUL as the libraries want it."""
    return PTX
