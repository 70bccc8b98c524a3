# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a kernel that the main thread waits for."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

CODE = """
    import signal, sys
    # A program that a shell starts in the background ignores the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from cuda.core import Device, LaunchConfig, ObjectCode, launch
    text = '''.version 8.0
    .target sm_75
    .address_size 64
    .visible .entry endless() { again: nanosleep.u32 50; bra again; }'''
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = ObjectCode.from_ptx(text.encode()).get_kernel("endless")
"""
WAIT = """
    print("ready", flush=True)
    launch(stream, LaunchConfig(grid=2, block=64), kernel)
    stream.sync()
"""
OWN_HANDLER = """
    import os
    signal.signal(signal.SIGINT, lambda *_: os.write(1, b"handled\\n"))
    print("ready", flush=True)
    try:
        launch(stream, LaunchConfig(grid=2, block=64), kernel)
        stream.sync()
    except Exception as error:
        print(error.name)
    print(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of the interpreter removes handlers
"""


def interrupt(code, mode):
    """Send SIGINT to a program after its first line; return its status and both outputs."""
    environment = dict(os.environ, HALFWARP_BACKEND="emulator", HALFWARP_EMULATOR_MODE=mode)
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        program.stdout.readline()
        for _ in range(100):  # until the program waits for the kernel
            try:
                program.wait(timeout=0.3)
                break
            except subprocess.TimeoutExpired:
                program.send_signal(signal.SIGINT)
        out, errors = program.communicate(timeout=60)
    finally:
        program.kill()
    return program.returncode, out, errors


@pytest.mark.parametrize("mode", ["async", "eager", "adversarial"])
def test_an_endless_kernel_ends_with_keyboard_interrupt(mode):
    status, _, errors = interrupt(CODE + WAIT, mode)
    assert status == -signal.SIGINT, errors
    assert "KeyboardInterrupt" in errors
    assert "interrupted" in errors


def test_a_handler_of_the_program_runs_and_stays():
    status, out, errors = interrupt(CODE + OWN_HANDLER, "async")
    assert status == 0, errors
    lines = out.splitlines()
    assert "handled" in lines  # also after the last line, since signals repeat
    assert [line for line in lines if line != "handled"] == ["CUDA_ERROR_LAUNCH_TIMEOUT", "True"]
