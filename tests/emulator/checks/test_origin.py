# SPDX-License-Identifier: Apache-2.0
"""``emulation.origin`` names the kernel, thread and line that wrote bytes last."""

import json
import os
import subprocess
import sys

PROGRAM = '''
import dataclasses, json
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

emulation.enable(check="race", trace="site")
device = Device(0)
device.set_current()
stream = device.create_stream()
source = """extern "C" __global__ void first(int* o) { o[blockIdx.x * 64 + threadIdx.x] = 1; }
extern "C" __global__ void second(int* o) {
    if (threadIdx.x == 5) o[threadIdx.x] = 2;
    ((char*)o)[40 + threadIdx.x] = 3;
}"""
options = ProgramOptions(lineinfo=True, name="kernel.cu")
code = Program(source, "c++", options).compile("ptx")
buffer = device.allocate(1024, stream=stream)
buffer.fill(0, stream=stream)
launch(stream, LaunchConfig(grid=2, block=64), code.get_kernel("first"), buffer)
launch(stream, LaunchConfig(grid=1, block=8), code.get_kernel("second"), buffer)
records = emulation.origin(buffer, 16, 1008)
print(json.dumps([dataclasses.asdict(each) for each in records]))
buffer.close(stream)
fresh = device.allocate(1024, stream=stream)
print(len(emulation.origin(fresh, 0, 1024)))
'''


def test_the_last_writer_of_each_word_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "HALFWARP_BACKEND": "emulator"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    records, fresh = map(json.loads, done.stdout.splitlines())
    assert fresh == 0
    by_offset = {each["offset"]: each for each in records}
    assert list(by_offset) == list(range(0, 1008, 4))
    word = by_offset[0]  # word 4 of the buffer
    assert (word["operation"], word["thread"]) == ("kernel 'first'", [4, 0, 0])
    assert word["source_line"] == 1
    assert word["instruction"].startswith("st.global")
    assert by_offset[4]["operation"] == "kernel 'second'"
    assert (by_offset[4]["thread"], by_offset[4]["source_line"]) == ([5, 0, 0], 3)
    assert by_offset[24]["operation"] == "kernel 'second'"
    assert (by_offset[24]["thread"], by_offset[24]["source_line"]) == ([0, 0, 0], 4)
    other_block = by_offset[4 * 70 - 16]
    assert (other_block["block_index"], other_block["thread"]) == ([1, 0, 0], [6, 0, 0])
    assert "memset" in by_offset[800]["operation"]
    assert by_offset[800]["thread"] == [0, 0, 0]
