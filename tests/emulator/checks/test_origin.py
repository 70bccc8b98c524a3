# SPDX-License-Identifier: Apache-2.0
"""``emulation.origin`` names the kernel, thread and line that wrote bytes last."""

import json

import pytest

WRONG_CALLS = """
from cuda.core import Device, emulation

emulation.enable(check="race")
device = Device(0)
device.set_current()
stream = device.create_stream()
buffer, closed = (device.allocate(1024, stream=stream) for _ in range(2))
address = buffer.handle
closed.close(stream)
stream.sync()
calls = {
    "text": ("words",),
    "none": (None,),
    "truth": (True,),
    "text offset": (buffer, "4"),
    "fraction": (buffer, 0, 4.0),
    "negative offset": (buffer, -4),
    "negative size": (buffer, 0, -4),
    "past the end": (buffer, 1021, 4),
    "closed": (closed,),
    "no address": (-8,),
    "address past the end": (address, 1024),
    "size past the end": (address, 0, 1028),
    "unknown address": (4096,),
}
for name, arguments in calls.items():
    try:
        print(f"{name}: {emulation.origin(*arguments)}")
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}".replace(hex(address)[:-3], "0x..."))
print(emulation.origin(buffer, 1020, 4), emulation.origin(address, 1024, 0))
"""
MESSAGES = {
    "text": "TypeError: emulation.origin(): buffer must be a Buffer or the address of device "
    "memory as an int, got str: 'words'",
    "none": "TypeError: emulation.origin(): buffer must be a Buffer or the address of device "
    "memory as an int, got NoneType: None",
    "truth": "TypeError: emulation.origin(): buffer must be a Buffer or the address of device "
    "memory as an int, got bool: True",
    "text offset": "TypeError: emulation.origin(): offset must be an int, a number of bytes, got "
    "'4'",
    "fraction": "TypeError: emulation.origin(): size must be an int, a number of bytes, got 4.0",
    "negative offset": "ValueError: emulation.origin(): offset must be from 0 to 2**63 - 1, got "
    "-4; offsets count bytes from the start of the buffer",
    "negative size": "ValueError: emulation.origin(): size must be from 0 to 2**63 - 1, got -4; "
    "offsets count bytes from the start of the buffer",
    "past the end": "ValueError: emulation.origin(): bytes 1021 to 1025 exceed the 1024 bytes of "
    "the buffer; reduce offset or size",
    "closed": "ValueError: emulation.origin(): the buffer is closed; ask for its writers before "
    "close()",
    "no address": "ValueError: emulation.origin(): -8 is no address; pass a Buffer, or "
    "buffer.handle",
}
PROGRAM = '''
import dataclasses, json
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

emulation.enable(trace="site")
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

LAUNCHES_ON_THE_DEVICE = '''
import json
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

emulation.enable(check="race")
device = Device(0)
device.set_current()
stream = device.create_stream()
source = """__global__ void child(int* o) { o[blockIdx.x * 4 + threadIdx.x] = 1; }
__global__ void last(int* o) { o[1] = 2; }
extern "C" __global__ void parent(int* o) {
    o[0] = o[8] = 3;
    cudaMemsetAsync(o + 10, 0, 8, 0);
    child<<<2, 4>>>(o);
    last<<<1, 1, 0, cudaStreamTailLaunch>>>(o);
}"""
options = ProgramOptions(relocatable_device_code=True, lineinfo=True)
code = Program(source, "c++", options).compile("ptx")
buffer = device.allocate(1024, stream=stream)
launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("parent"), buffer)
for each in emulation.origin(buffer, 0, 1024):
    print(json.dumps([each.offset // 4, each.operation, each.block_index[0], each.thread[0],
                      each.source_line]))
'''


def test_grids_that_a_kernel_launches_are_named(run_python):
    output = run_python(LAUNCHES_ON_THE_DEVICE, HALFWARP_BACKEND="emulator")
    child, last = "kernel 'child(int*)'", "kernel 'last(int*)'"
    written = [[number, child, number // 4, number % 4, 1] for number in range(8)]
    written[1] = [1, last, 0, 0, 2]
    written.append([8, "kernel 'parent'", 0, 0, 4])
    written += [[number, "a copy or memset by a kernel", 0, 0, 0] for number in (10, 11)]
    assert [json.loads(line) for line in output.splitlines()] == written


@pytest.mark.parametrize("check", ["race", "init", "race,init"])
def test_the_last_writer_of_each_word_is_named(run_python, check):
    output = run_python(PROGRAM, HALFWARP_BACKEND="emulator", HALFWARP_EMULATOR_CHECK=check)
    records, fresh = map(json.loads, output.splitlines())
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


def test_a_wrong_call_says_what_it_got_and_what_to_do(run_python):
    output = run_python(WRONG_CALLS, HALFWARP_BACKEND="emulator")
    *lines, last = output.splitlines()
    answers = dict(line.split(": ", 1) for line in lines)
    assert {name: answers[name] for name in MESSAGES} == MESSAGES
    for name in ("address past the end", "size past the end"):
        assert "0 bytes past the end of the live 1024-byte allocation" in answers[name], name
    assert "no allocation is near" in answers["unknown address"]
    for name in answers.keys() - MESSAGES.keys():
        assert answers[name].endswith("; pass a range inside one live allocation"), name
    assert last == "[] []"
