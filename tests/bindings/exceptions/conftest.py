# SPDX-License-Identifier: Apache-2.0
"""The reference's modules whose functions raise; their libraries, real or replaced."""

import ctypes

import pytest

from ...libraries import open_or_skip
from ..parity.reference import Reference

LIBRARIES = ["nvjitlink", "nvvm", "nvfatbin", "nvml", "cufile", "cudla"]


class RaisingReference(Reference):
    """A library whose functions raise."""

    def __init__(self, library):
        super().__init__(library)
        self.aliases = {"pyCUresult"} & self.enums.keys()  # of other modules
        self.enums = {n: m for n, m in self.enums.items() if n not in self.aliases}
        self.exceptions = dict(self.base.get("exceptions", {}))
        for name, record in self.of_kind("class"):
            if any(b.endswith(("Error", "Exception")) for b in record.get("bases", ())):
                bases = [b.rpartition(".")[2] for b in record["bases"]]
                self.exceptions[name] = [*bases, *["Exception"][: bases != ["Exception"]]]

    def base_capsules(self):
        return self.base.get("capsules", {})

    def later_function(self, record, before):
        names = [p.strip() for p in record["sig"].strip("()").split(",") if p.strip()]
        if "csig" not in record:  # only names changed
            types = [p.rpartition(" ")[0] for p in before["py"]]
            return before | {"py": [f"{t} {n}" for t, n in zip(types, names, strict=True)]}
        inner, _, ret = record["csig"].strip("(").partition(")")
        record_of_function = {"py": [p.strip() for p in inner.split(",") if p.strip()]}
        record_of_function["ret"] = ret.removeprefix(" -> ") or class_of(str(record["returns"]))
        return (before or {}) | record_of_function


def class_of(c_name):
    """`nvmlGpuUptime_v1_t` -> `GpuUptime_v1`."""
    return c_name.removeprefix("nvml").removesuffix("_t") if c_name.startswith("nvml") else c_name


@pytest.fixture(scope="session", params=LIBRARIES)
def reference(request):
    return RaisingReference(request.param)


@pytest.fixture
def nvjitlink():
    return open_or_skip("nvjitlink")


@pytest.fixture
def nvvm():
    return open_or_skip("nvvm")


@pytest.fixture
def nvfatbin():
    return open_or_skip("nvfatbin")


@pytest.fixture
def put_text(put):
    """``put_text(name, text)``: the C function returns that string."""
    refs = []

    def install(name, text):
        refs.append(ctypes.create_string_buffer(text))
        address = ctypes.addressof(refs[-1])
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
    """A kernel that writes 42, for sm_90, with the NUL terminator that the libraries need."""
    return PTX
