# SPDX-License-Identifier: Apache-2.0
"""The reports about uninitialized memory name the use, the load and the memory."""

import json
import re

import pytest

from .run_cases import run_all


@pytest.fixture(scope="module")
def findings():
    names = ("branch_on_memory", "partial_vector", "padding_compared")
    return run_all("uninitialized", *names, check="init")


def test_a_report_names_the_use_the_load_and_the_memory(findings):
    (report,) = findings["branch_on_memory"]["mistake"]
    lines = report.splitlines()
    assert lines[0] == (
        "uninitialized: condition of a branch from 4 of 4 bytes that nobody wrote, "
        "in kernel 'kernel'"
    )
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) uses the value at ")
    assert lines[2].startswith("  thread (0,0,0) of block (0,0,0) read at ")
    assert "  memory: 0 bytes into the live 16384-byte allocation at " in report
    assert "  count: 32 times" in lines


def test_the_undefined_bytes_of_a_wider_load_are_counted(findings):
    assert "from 4 of 16 bytes" in findings["partial_vector"]["mistake"][0]


def test_a_copy_to_the_host_is_reported(findings):
    (report,) = findings["padding_compared"]["mistake"]
    assert report.startswith(
        "uninitialized: copy to the host of 16384 bytes, of which nobody wrote 128, "
        "from byte 0 on\n"
    )


PROGRAM = '''
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device(0)
device.set_current()
stream = device.create_stream()
source = """extern "C" __global__ void pack(int* o) {
    if (threadIdx.x != 3) o[threadIdx.x] = 1;
}
extern "C" __global__ void move(int* o, const int* p) {
    o[threadIdx.x] = p[threadIdx.x];
}
extern "C" __global__ void use(int* o, const int* p) {
    __shared__ int s[8];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    if (s[7 - threadIdx.x] > 5) o[0] = 1;
}"""
options = ProgramOptions(lineinfo=True, name="kernel.cu")
code = Program(source, "c++", options).compile("ptx")
first, second, third, out = (device.allocate(size, stream=stream) for size in (64, 48, 32, 16))
one = LaunchConfig(grid=1, block=8)
launch(stream, one, code.get_kernel("pack"), first)
driver.cuMemcpyDtoDAsync(second.handle, first.handle, 32, stream.handle)
launch(stream, one, code.get_kernel("move"), third, second)
launch(stream, one, code.get_kernel("use"), out, third)
stream.sync()
driver.cuMemcpyDtoH(bytearray(48), second.handle, 48)
'''

# The way of word 3 from the first allocation to shared memory, and the neighbors of its origin.
BEGAN = """
  came from: 12 bytes into the live 32-byte allocation at #, which thread (3,0,0) of block (0,0,0) \
read and stored at source line 9, #
  allocated at: <string>:22
  came from: 12 bytes into the live 48-byte allocation at #, which kernel 'move' at <string>:26, \
thread (3,0,0) of block (0,0,0), copied at source line 5, #
  allocated at: <string>:22
  came from: 12 bytes into the live 64-byte allocation at #, which a copy at <string>:25 copied
  allocated at: <string>:22
  neighbor, byte 11: kernel 'pack' at <string>:24, thread (2,0,0) of block (0,0,0), stored \
at source line 2, #
  neighbor, byte 16: kernel 'pack' at <string>:24, thread (4,0,0) of block (0,0,0), stored \
at source line 2, #
""".splitlines()[1:]


@pytest.mark.parametrize("check", ["init", "all"])
def test_a_report_names_the_way_of_unwritten_bytes_and_their_neighbors(run_python, tmp_path, check):
    options = {"CHECK": check, "TRACE": "site", "REPORT": tmp_path / "reports.jsonl"}
    options = {f"HALFWARP_EMULATOR_{name}": str(value) for name, value in options.items()}
    run_python(PROGRAM, HALFWARP_BACKEND="emulator", **options)
    reports = [json.loads(line) for line in (tmp_path / "reports.jsonl").open()]
    pattern = r"0x[0-9a-f]+|PTX line \d+"
    texts = [re.sub(pattern, "#", each["text"]) for each in reports if "first_line" in each]
    use, copy = (each.splitlines() for each in texts)
    assert use[3:11] == BEGAN
    assert copy[3:7] == BEGAN[4:]
