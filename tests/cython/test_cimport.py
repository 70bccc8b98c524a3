# SPDX-License-Identifier: Apache-2.0
"""The .pxd files work for a module built elsewhere. Each backend is a process of its own."""

import ast
import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from generator import libraries

from .conftest import PACKAGES


@pytest.fixture(scope="module")
def folder(build, cuda_headers):
    """Return the folder of the foreign module, built against the .pxd and the CUDA headers."""
    return build("foreign", cuda_headers).parent


# Evaluates one expression a line; an exception is returned as a string.
CLIENT = """
import sys
import foreign
from cuda.bindings import driver
for line in sys.stdin:
    try:
        answer = eval(line)
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    print(repr(answer), flush=True)
"""


def start(folder, backend):
    env = os.environ | {"HALFWARP_BACKEND": backend, "PYTHONPATH": f"{folder}:{PACKAGES}"}
    env |= {"PYTHONWARNINGS": "error"}  # warns about a class whose size differs
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT],
        env=env,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ask(client, expression):
    client.stdin.write(f"{expression}\n")
    client.stdin.flush()
    line = client.stdout.readline()
    assert line, client.stderr.read()
    return ast.literal_eval(line)


@pytest.fixture(scope="module")
def run(folder):
    """Evaluate an expression over `foreign` and `driver` in a process with the emulator."""
    with start(folder, "emulator") as client:
        yield functools.partial(ask, client)
        client.stdin.close()


def test_functions_are_called_without_the_gil(run):
    code, count = run("foreign.count_devices()")
    assert code == 0 and count >= 1


def test_memory_is_allocated_and_freed(run):
    assert run("foreign.allocate_and_free(4096)") == (0, 0, True)


def test_a_variant_hidden_by_the_header_is_callable(run):
    assert run("foreign.call_hidden_variant()") == 0


def test_a_cython_function_can_be_a_callback(run):
    assert run("foreign.call_host_function()") == ["called"]


def test_the_compiler_is_callable_too(run):
    code, major, _ = run("foreign.nvrtc_version()")
    assert code == 0 and major >= 12
    assert run("foreign.nvrtc_text(6)") == b"NVRTC_ERROR_COMPILATION"


def test_constants_equal_the_header(run):
    release = libraries.load("driver").facts.version.split(".")
    assert run("foreign.constants()") == (int(release[0]) * 1000 + int(release[1]) * 10, 500, 2)


def test_members_of_anonymous_types_are_accessible(run):
    assert run("foreign.members_of_structs()") == (7, 11, 3, 5)


def test_types_have_their_c_sizes(run):
    names = ("CUtensorMap", "CUdevice", "cuuint64_t", "CUeglFrame")
    expected = ", ".join(f"driver.sizeof(driver.{n})" for n in names)
    assert run("foreign.sizes()") == run(f"({expected})")


def test_classes_are_cimported_with_their_layout(run):
    assert run("foreign.stream_value(driver.CUstream(0x123))") == (0x123, 0x123)
    assert run("foreign.pointer_value(driver.CUdeviceptr(1 << 40))") == 1 << 40


def test_a_struct_is_written_through_its_pointer(run):
    expression = "(lambda u: (foreign.set_uuid(u, 7), u.bytes))(driver.CUuuid())"
    assert run(expression) == (True, b"\7" * 16)


def test_a_wrong_class_is_a_type_error(run):
    assert run("foreign.stream_value(driver.CUevent(1))").startswith("TypeError")


def test_a_missing_driver_raises_at_the_call(folder):
    """In a block without the GIL, the call returns the clause's value with a pending exception."""
    if any(Path(f"/dev/nvidia{n}").exists() for n in (0, "ctl")):
        pytest.skip("this machine has a driver")
    with start(folder, "driver") as client:
        raised = ask(client, "foreign.count_devices()")
        client.stdin.close()
    assert raised.startswith("DynamicLibNotFoundError")
    assert "cuInit()" in raised
