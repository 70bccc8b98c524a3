# SPDX-License-Identifier: Apache-2.0
"""ObjectCode: constructors, loading, pickling."""

import pickle
from pathlib import Path

from cuda.core import Device, ObjectCode

Device(0).set_current()
PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry f(.param .u64 p, .param .u32 n)
{
    ret;
}
"""
code = ObjectCode.from_ptx(PTX, name="some", symbol_mapping={"a": b"f", b"a": b"f"})


def round_trip():
    unpickled = pickle.loads(pickle.dumps(code))
    return unpickled.code, unpickled.code_type, unpickled.name, unpickled.symbol_mapping


def copy_of_the_mapping():
    code.symbol_mapping["new"] = b"g"
    return sorted(map(str, code.symbol_mapping))


def outlives_its_module():
    kernel = ObjectCode.from_ptx(PTX).get_kernel("f")
    return kernel.num_arguments


CASES = [
    round_trip,
    copy_of_the_mapping,
    outlives_its_module,
    lambda: ObjectCode(),
    lambda: ObjectCode(PTX, "ptx"),
    lambda: code.code == PTX,
    lambda: code.code_type,
    lambda: type(code.code_type),
    lambda: code.name,
    lambda: code.symbol_mapping,
    lambda: ObjectCode.from_ptx(PTX).name,
    lambda: ObjectCode.from_ptx(PTX).symbol_mapping,
    lambda: ObjectCode.from_cubin(b"x").code_type,
    lambda: ObjectCode.from_ltoir(b"x").code_type,
    lambda: ObjectCode.from_fatbin(b"x").code_type,
    lambda: ObjectCode.from_object(b"x").code_type,
    lambda: ObjectCode.from_library(b"x").code_type,
    lambda: ObjectCode.from_cubin("/nowhere/x.cubin").code,
    lambda: ObjectCode.from_cubin(Path("/nowhere/x.cubin")).code,
    lambda: ObjectCode.from_cubin("/nowhere/x.cubin").get_kernel("f"),
    lambda: ObjectCode.from_cubin(b"nonsense").get_kernel("f"),
    lambda: ObjectCode.from_ptx(b"nonsense").get_kernel("f"),
    lambda: ObjectCode.from_ptx(bytearray(PTX)).get_kernel("f").num_arguments,
    lambda: ObjectCode.from_ptx(3),
    lambda: ObjectCode.from_ptx(3).get_kernel("f"),
    lambda: ObjectCode.from_ptx(PTX, "name"),
    lambda: ObjectCode.from_ltoir(b"x").get_kernel("f"),
    lambda: ObjectCode.from_object(b"x").get_kernel("f"),
    lambda: ObjectCode.from_library(b"x").get_kernel("f"),
    lambda: code.get_kernel("f") == code.get_kernel(b"f"),
    lambda: code.get_kernel("a") == code.get_kernel("f"),
    lambda: code.get_kernel(b"a") == code.get_kernel("f"),
    lambda: code.get_kernel("f") is code.get_kernel("f"),
    lambda: code.get_kernel("missing"),
    lambda: code.get_kernel(3),
    lambda: code.get_kernel(None),
    lambda: type(code.handle),
    lambda: type(code.get_module()),
    lambda: code == ObjectCode.from_ptx(PTX),
    lambda: code == 3,
    lambda: hash(code) == hash(int(code.handle)),
    lambda: repr(code),
    lambda: repr(ObjectCode.from_cubin(b"x")),
]
