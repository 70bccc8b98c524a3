# SPDX-License-Identifier: Apache-2.0
"""The reports about copies of unwritten bytes, and about waits for values that never come."""

import json
import re

import pytest

RAW = """
import ctypes, sys
from cuda.bindings import _low

def f(name):
    function = ctypes.CFUNCTYPE(ctypes.c_int)(_low.inspect_function_pointer("driver", name))
    return lambda *a: function(*(ctypes.c_uint64(x) if isinstance(x, int) else x for x in a))

f("cuInit")(0)
"""
COPIES = """
context = ctypes.c_uint64()
f("cuDevicePrimaryCtxRetain")(ctypes.byref(context), 0)
f("cuCtxSetCurrent")(context)
into = ctypes.create_string_buffer(256)
for size, holes in eval(sys.argv[1]):
    base = ctypes.c_uint64()
    assert f("cuMemAlloc_v2")(ctypes.byref(base), size) == 0
    written = [i for i in range(size) if not any(at <= i < at + n for at, n in holes)]
    for i in written:
        assert f("cuMemsetD8_v2")(base.value + i, 1, 1) == 0
    assert f("cuMemcpyDtoH_v2")(into, base, size) == 0
    print(hex(base.value))
"""
# Copies a volume of 4 slices of 3 rows, from memory with another pitch, and then reads each row.
VOLUME = """
from cuda.bindings import driver

context = ctypes.c_uint64()
f("cuDevicePrimaryCtxRetain")(ctypes.byref(context), 0)
f("cuCtxSetCurrent")(context)
source, target = ctypes.c_uint64(), ctypes.c_uint64()
for base in (source, target):
    assert f("cuMemAlloc_v2")(ctypes.byref(base), 2048) == 0
for z, y in eval(sys.argv[1]):
    assert f("cuMemsetD8_v2")(source.value + (z * 5 + y) * 48, 1, 32) == 0
copy = driver.CUDA_MEMCPY3D()
copy.srcMemoryType = copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
copy.srcDevice, copy.srcPitch, copy.srcHeight = source.value, 48, 5
copy.dstDevice, copy.dstPitch, copy.dstHeight = target.value, 64, 4
copy.WidthInBytes, copy.Height, copy.Depth = 32, 3, 4
assert f("cuMemcpy3D_v2")(ctypes.c_void_p(copy.getPtr())) == 0
into = ctypes.create_string_buffer(64)
for row in range(16):
    for part in (0, 32):
        at = target.value + 64 * row + part
        assert f("cuMemcpyDtoH_v2")(into, ctypes.c_uint64(at), 32) == 0
"""
WAITS = """
for flags, bytes_, present, wanted in eval(sys.argv[1]):
    context, word, out = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64(present)
    assert f("cuCtxCreate_v2")(ctypes.byref(context), 0, 0) == 0
    assert f("cuMemAlloc_v2")(ctypes.byref(word), 8) == 0
    assert f("cuMemcpyHtoD_v2")(word, ctypes.byref(out), 8) == 0
    wait = f(f"cuStreamWaitValue{bytes_ * 8}_v2")
    assert wait(ctypes.c_uint64(0), word, wanted, flags) == 0
    print(f("cuStreamSynchronize")(ctypes.c_uint64(0)), hex(word.value))
    f("cuCtxDestroy_v2")(context)
"""
# size, holes as (offset, bytes), whether the holes are padding of records
HOLES = [
    (64, [], True),
    (64, [(8, 7)], True),
    (64, [(8, 8)], False),
    (4, [(0, 3)], True),
    (4, [(0, 4)], False),
    (64, [(12, 4), (28, 4), (44, 4), (60, 4)], True),
    (64, [(12, 4), (28, 4), (44, 4), (59, 4)], False),
    (64, [(12, 4), (28, 4), (44, 3)], False),
    (64, [(12, 4), (29, 4), (44, 4)], False),
    (64, [(4, 16), (36, 16)], True),
    (64, [(5, 1), (40, 9)], False),
]
# flags, words of the condition, and per width the value in memory and the value waited for
GREATER, EQUAL, AND, NOR = range(4)
UNMET = [
    (GREATER, 4, 2**31 + 5, 5, "at least 5"),
    (GREATER, 8, 4, 5, "at least 5"),
    (GREATER, 8, 2**63 + 5, 5, "at least 5"),
    (EQUAL, 4, 6, 7, "exactly 7"),
    (EQUAL, 8, 2**32 + 7, 7, "exactly 7"),
    (AND, 4, 12, 3, "a bit of 3"),
    (AND, 8, 2**40, 3, "a bit of 3"),
    (NOR, 4, 2**32 - 4, 3, "a zero bit outside 3"),
    (NOR, 8, 2**64 - 4, 3, "a zero bit outside 3"),
]
MET = [
    (GREATER, 4, 5, 5),
    (GREATER, 4, 2**31, 1),  # cyclic: the difference is less than half of the range
    (GREATER, 8, 4, 2**64 - 3),
    (EQUAL, 4, 2**32 + 7, 7),  # the upper word is not compared
    (AND, 8, 2**40, 2**40),
    (NOR, 4, 2**32 - 4, 1),
    (NOR, 8, 2**32 - 1, 0),
]


def reports_of(path):
    rows = map(json.loads, path.open()) if path.exists() else ()
    return [each["text"] for each in rows if "first_line" in each]


def test_copies_of_holes_are_reported_unless_they_are_padding(run_emulated, tmp_path):
    cases = repr([(size, holes) for size, holes, _ in HOLES])
    path = tmp_path / "reports.jsonl"
    done = run_emulated(RAW + COPIES, cases, check="init", report=path)
    reports = {}
    for text in reports_of(path):
        if text.startswith("uninitialized: "):
            base = re.search(r"allocation at (0x[0-9a-f]+)", text)[1]
            reports[base] = text.splitlines()[0]
    bases = done.stdout.split()
    expected = {
        base: f"uninitialized: copy to the host of {size} bytes, of which nobody wrote "
        f"{sum(n for _, n in holes)}, from byte {holes[0][0]} on"
        for base, (size, holes, is_padding) in zip(bases, HOLES, strict=True)
        if not is_padding
    }
    assert reports == expected


@pytest.mark.parametrize(
    "written",
    [
        [(z, y) for z in range(4) for y in range(3)],
        [(0, y) for y in range(3)],
        [(0, 0), (1, 1), (2, 2), (3, 0)],
        [(3, 2)],
    ],
)
def test_a_copy_of_a_volume_copies_which_rows_are_written(run_emulated, tmp_path, written):
    """Compare the parts of rows that a report names with those that nobody wrote."""
    path = tmp_path / "reports.jsonl"
    run_emulated(RAW + VOLUME, repr(written), check="init", report=path)
    unwritten = set()
    for text in reports_of(path):
        offset = re.search(r"(\d+) bytes into", text)
        unwritten.add(divmod(int(offset[1]), 64) if offset else (0, 0))
    known = {(z * 4 + y, 0) for z, y in written}
    assert unwritten == {(row, part) for row in range(16) for part in (0, 32)} - known


@pytest.mark.parametrize("is_met", [True, False])
def test_a_wait_names_its_condition_and_the_value_that_stays(run_emulated, tmp_path, is_met):
    cases = MET if is_met else UNMET
    rows = repr([case[:4] for case in cases])
    path = tmp_path / "reports.jsonl"
    done = run_emulated(RAW + WAITS, rows, step_limit=1, report=path)
    codes, addresses = zip(*map(str.split, done.stdout.splitlines()), strict=True)
    texts = [text.splitlines()[0] for text in reports_of(path)]
    if is_met:
        assert set(codes) == {"0"} and not texts
        return
    assert set(codes) == {"719"}  # CUDA_ERROR_LAUNCH_FAILED
    for text, address, (_, size, present, _, words) in zip(texts, addresses, UNMET, strict=True):
        value = present % 2 ** (8 * size)
        assert f"the stream waits for {words} at {address}, where {value} stays" in text
