# SPDX-License-Identifier: Apache-2.0
"""Unordered nodes run in any order, and late; edges are respected in every mode."""

import os
import subprocess
import sys

import pytest
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

from tests.emulator.graph.conftest import check, copy, fill, in_background, read, word
from tests.libraries import header_options

R = driver.CUresult
CAPTURE = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED

PROGRAM = """
from cuda.bindings import driver, nvrtc
from cuda.core import Device, emulation
from tests.emulator.graph.conftest import copy, fill, check, read
Device(0).set_current()
stream = check(*driver.cuStreamCreate(1))
memory = int(check(*driver.cuMemAlloc(64)))
graph = check(*driver.cuGraphCreate(0))
first = fill(graph, memory, 1)
second = copy(graph, memory + 16, memory, *([first] if {ordered} else []))
executable = check(*driver.cuGraphInstantiate(graph, 0))
seen = set()
for _ in range(32):
    check(*driver.cuMemsetD8(memory, 0, 64))
    check(*driver.cuCtxSynchronize())
    check(*driver.cuGraphLaunch(executable, stream))
    {after}
    check(*driver.cuStreamSynchronize(stream))
    seen.add(read(memory + 16, 1))
print(sorted(seen))
"""


def run(ordered, after="pass", mode="adversarial"):
    options = {"BACKEND": "emulator", "EMULATOR_MODE": mode, "EMULATOR_SEED": "3"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(ordered=ordered, after=after)],
        env=os.environ | {f"HALFWARP_{name}": value for name, value in options.items()},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not emulation.is_active(), reason="about modes of the emulator")
def test_a_missing_edge_shows_in_adversarial_mode():
    assert run(ordered=False) == "[b'\\x00', b'\\x01']"
    assert run(ordered=True) == "[b'\\x01']"


@pytest.mark.skipif(not emulation.is_active(), reason="about modes of the emulator")
def test_a_launch_that_is_not_awaited_does_not_run_in_adversarial_mode():
    query = "assert driver.cuStreamQuery(stream)[0].name == 'CUDA_ERROR_NOT_READY'"
    assert run(ordered=True, after=query) == "[b'\\x01']"


def test_a_grid_synchronizes_inside_a_graph(streams, memory):
    source = """
    #include <cooperative_groups.h>
    extern "C" __global__ void rounds(int* p) {
      for (int i = 0; i < 3; ++i) {
        atomicAdd(p, 1);
        cooperative_groups::this_grid().sync();
        if (blockIdx.x == 0 && threadIdx.x == 0) p[1 + i] = p[0];
        cooperative_groups::this_grid().sync();
      }
    }"""
    device = Device()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", **header_options())
    kernel = Program(source, "c++", options).compile("ptx").get_kernel("rounds")
    stream = device.create_stream()
    check(*driver.cuStreamBeginCapture(stream.handle, CAPTURE))
    config = LaunchConfig(grid=4, block=8, is_cooperative=True)
    launch(stream, config, kernel, memory)
    graph = check(*driver.cuStreamEndCapture(stream.handle))
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    for _ in range(2):
        check(*driver.cuGraphLaunch(executable, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert [word(memory + 4 * i) for i in range(4)] == [192, 128, 160, 192]
    check(*driver.cuGraphExecDestroy(executable))
    check(*driver.cuGraphDestroy(graph))


@pytest.mark.skipif(not emulation.is_active(), reason="a fault breaks the process on a GPU")
def test_a_fault_inside_a_graph_drops_the_rest(graph, kernels, streams, memory):
    stored = kernels.add(graph, "store", 0, 1)
    fill(graph, memory, 1, stored)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    with emulation.expect_fault("unmapped"):
        check(*driver.cuGraphLaunch(executable, streams[0]))
        assert driver.cuStreamSynchronize(streams[0])[0] == R.CUDA_ERROR_ILLEGAL_ADDRESS
    assert read(memory, 1) == b"\0"
    check(*driver.cuGraphExecDestroy(executable))


@pytest.mark.skipif(not emulation.is_active(), reason="faults are injected on the emulator")
def test_a_kernel_inside_a_graph_fails_when_injected(graph, kernels, streams, memory):
    kernels.add(graph, "store", memory, 1)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    with emulation.inject("launch@store", nth=2, error="CUDA_ERROR_LAUNCH_FAILED"):
        check(*driver.cuGraphLaunch(executable, streams[0]))
        check(*driver.cuStreamSynchronize(streams[0]))
        check(*driver.cuGraphLaunch(executable, streams[0]))
        assert driver.cuStreamSynchronize(streams[0])[0] == R.CUDA_ERROR_LAUNCH_FAILED
    check(*driver.cuStreamSynchronize(streams[0]))
    check(*driver.cuGraphExecDestroy(executable))


@in_background
def test_unordered_launches_of_two_executables_overlap(graph, kernels, streams, memory):
    """Launch a kernel that waits for a word which the other graph writes."""
    source = 'extern "C" __global__ void wait(volatile int* p) { while (*p == 0) { } p[1] = 1; }'
    device = Device()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    kernel = Program(source, "c++", options).compile("ptx").get_kernel("wait")
    stream = device.create_stream()
    check(*driver.cuStreamBeginCapture(stream.handle, CAPTURE))
    launch(stream, LaunchConfig(grid=1, block=1), kernel, memory)
    waiting = check(*driver.cuStreamEndCapture(stream.handle))
    fill(graph, memory, 1)
    executables = [check(*driver.cuGraphInstantiate(each, 0)) for each in (waiting, graph)]
    for executable, each in zip(executables, streams, strict=False):
        check(*driver.cuGraphLaunch(executable, each))
    for each in streams[:2]:
        check(*driver.cuStreamSynchronize(each))
    assert word(memory + 4) == 1
    for executable in executables:
        check(*driver.cuGraphExecDestroy(executable))
    check(*driver.cuGraphDestroy(waiting))


def test_a_copy_waits_for_both_sides_of_a_join(graph, streams, memory):
    left, right = fill(graph, memory, 1, width=8), fill(graph, memory + 8, 2, width=8)
    copy(graph, memory + 16, memory, left, right)
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphLaunch(executable, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory + 16, 16) == b"\1" * 8 + b"\2" * 8
    check(*driver.cuGraphExecDestroy(executable))
