# SPDX-License-Identifier: Apache-2.0
"""`seeds.record` and `seeds.replay`: launches with their memory, repeated with all checks."""

import re
import subprocess
import sys

import pytest

from ..run_cases import ROOT
from .recorder import VARIABLE

SCRIPT = '''
import contextlib
import ctypes
import struct
import sys
import threading

from cuda.bindings import driver
from cuda.core import CUDAError, Device, LaunchConfig, Program, ProgramOptions, launch

device = Device(0)
device.set_current()
stream = device.create_stream()
code = Program(
    """
struct pair { int* values; int count; };
__device__ int offset;
extern "C" __global__ void sets() { offset = 3; }
extern "C" __global__ void racy(int* out) { *out = threadIdx.x + blockIdx.x; }
extern "C" __global__ void reads(int* out, int i) { if (out[i] == 7) out[0] = 1; }
extern "C" __global__ void follows(pair argument, pair* table) {
    if (argument.values[1] + offset != 42) __trap();
    if (table[0].values[1] != argument.values[1] || table[0].count != argument.count) __trap();
}""",
    "c++",
    ProgramOptions(lineinfo=True, name="kernels.cu"),
).compile(sys.argv[1])
kernels = {name: code.get_kernel(name) for name in ("sets", "racy", "reads", "follows")}
one, two = LaunchConfig(grid=1, block=1), LaunchConfig(grid=2, block=1)
values = device.allocate(64, stream=stream)
table = device.allocate(16, stream=stream)
stream.sync()
driver.cuMemcpyHtoD(int(values.handle), struct.pack("4i", 0, 39, 0, 0), 16)
pair = struct.pack("QI4x", int(values.handle), 5)
driver.cuMemcpyHtoD(int(table.handle), pair, 16)


class Pair(ctypes.Structure):
    _fields_ = [("values", ctypes.c_void_p), ("count", ctypes.c_int)]


launch(stream, one, kernels["sets"])
for _ in range(2):
    launch(stream, one, kernels["follows"], Pair.from_buffer_copy(pair), table)
launch(stream, one, kernels["reads"], values, 3)
stream.sync()
if "mistakes" in sys.argv:
    launch(stream, one, kernels["reads"], values, 4)
    launch(stream, two, kernels["racy"], values)
    stream.sync()
with contextlib.suppress(CUDAError):
    launch(stream, LaunchConfig(grid=1, block=2048), kernels["sets"])
held = threading.Event()
device.create_stream().launch_host(held.wait)
launch(stream, one, kernels["sets"])
held.set()
device.sync()
builder = device.create_graph_builder().begin_building()
launch(builder, one, kernels["reads"], values, 3)
builder.end_building().complete().launch(stream)
stream.sync()
'''


def run(name, *arguments):
    call = [sys.executable, "-m", f"tests.emulator.checks.seeds.{name}", *map(str, arguments)]
    return subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.fixture
def recorded(tmp_path):
    """Record the script; return the folder and the printed counts."""

    def record(*arguments):
        (tmp_path / "script.py").write_text(SCRIPT)
        done = run("record", tmp_path / "launches", "--", tmp_path / "script.py", *arguments)
        assert done.returncode == 0, done.stderr
        counts = dict(re.findall(r"^  (.*): (\d+)$", done.stdout, re.M))
        return tmp_path / "launches", {name: int(count) for name, count in counts.items()}

    return record


def test_variables_of_a_text_are_named():
    lines = (
        b".visible .global .u64 first;",
        b".const .align 4 .b8 second[8] = {1, 2};",
        b".global .align 1 .b8 text$1[5] = {104};",
        b".extern .func (.param .b32 of) third(.param .b64 global);",
        b"ld.global.u32 %r1, [fourth];",
    )
    for end in (b"\n", b"\0"):
        assert VARIABLE.findall(end.join(lines)) == [b"first", b"second", b"text$1"]


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_correct_launches_have_no_report(recorded, target):
    folder, counts = recorded(target)
    assert counts == {
        "new": 3,
        "repeated": 1,
        "left out: captured": 1,
        "left out: refused": 1,
        "left out: other work waits for the program": 1,
    }
    done = run("replay", folder, 2)
    assert (done.returncode, done.stdout) == (
        0,
        "launches: 2 seeds, 2 runs\n0 reports, 0 failures\n3 launches; unusual with seed 0: {}\n",
    )


def test_mistakes_are_reported_with_each_seed(recorded):
    folder, counts = recorded("ptx", "mistakes")
    assert counts["new"] == 5
    done = run("replay", folder, 2, "-j", 2)
    assert done.returncode == 1
    reports = re.findall(r"in (\d) runs: (\w+) (\w+)", done.stdout)
    assert sorted(reports) == [("2", "race", "racy"), ("2", "uninitialized", "reads")]
    (name,) = re.findall(r'"(\w+)": "racy: reports"', done.stdout)
    alone = run("replay", folder, 1, "--launch", name)
    assert re.findall(r"in 1 runs: (\w+) (\w+)", alone.stdout) == [("race", "racy")]
