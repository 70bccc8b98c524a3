# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: its options, header, fixtures, and tests that fail for a fault."""

import os
import re
import subprocess
import textwrap

import pytest

from ..programs.pytest_command import COMMAND
from ..programs.raw_calls import RAW_CALLS


@pytest.fixture
def run_pytest(tmp_path):
    """Run pytest with the plugin over a file of tests; return its output."""

    def run(code, *arguments, variables=None):
        (tmp_path / "test_it.py").write_text(textwrap.dedent(code))
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
        done = subprocess.run(
            [*COMMAND, "-p", "halfwarp.pytest_plugin", "-ra", *arguments, str(tmp_path)],
            env=environment | (variables or {}),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout + done.stderr

    return run


CALLS = RAW_CALLS + "start()\n"
TRAP = (
    CALLS
    + """
def trap():
    text = b".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { trap; }"
    module = ctypes.c_uint64()
    assert driver("cuModuleLoadData", ctypes.byref(module), text) == 0
    function = ctypes.c_uint64()
    assert driver("cuModuleGetFunction", ctypes.byref(function), module, b"k") == 0
    assert driver("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
"""
)


def test_options_choose_the_emulator_and_the_header_shows_them(run_pytest):
    output = run_pytest(
        CALLS + "def test_it():\n    assert output('cuDeviceGetCount') == 2",
        "--cuda-emulate", "--cuda-devices=2", "--cuda-seed=5", "--cuda-mode=eager",
        "--cuda-check=none",
    )  # fmt: skip
    assert (
        "cuda: emulated, kernels run on the CPU (mode=eager, seed=5, check=none, devices=2)"
        in output
    )
    assert "1 passed" in output


def test_a_wrong_option_is_a_usage_error(run_pytest):
    output = run_pytest("def test_it(): pass", "--cuda-emulate", "--cuda-mode=fast")
    assert "'fast' is not accepted; it takes eager, async, adversarial or null" in output


def test_without_its_options_nothing_is_imported(run_pytest):
    output = run_pytest("""
        import sys
        def test_it():
            assert not [name for name in sys.modules if name.startswith("cuda.bindings")]
    """)
    assert "1 passed" in output
    assert "cuda: emulated" not in output


def test_a_fault_fails_its_own_test_only(run_pytest):
    output = run_pytest(
        TRAP
        + """
def test_a_broken_one():
    trap()
    driver("cuCtxSynchronize")

def test_b_fine():
    assert driver("cuCtxSynchronize") == 0
""",
        "--cuda-emulate",
    )
    assert "1 failed, 1 passed" in output
    assert "a fault occurred in the test:" in output
    assert "trap by kernel 'k'" in output
    assert re.search(r"FAILED .*test_a_broken_one - .*trap by kernel 'k'", output)


def test_a_failed_test_with_a_fault_shows_its_own_traceback(run_pytest):
    output = run_pytest(
        TRAP
        + """
def test_broken():
    trap()
    assert driver("cuCtxSynchronize") == 0  # the line of the test
""",
        "--cuda-emulate",
    )
    assert '>       assert driver("cuCtxSynchronize") == 0  # the line of the test' in output
    assert "CUDA findings" in output
    assert "trap by kernel 'k'" in output
    assert output.count("hint: look for __trap()") == 1


def test_a_fault_without_a_wait_is_found_at_the_end_of_the_test(run_pytest):
    output = run_pytest(
        TRAP + "def test_it():\n    trap()\ndef test_fine():\n    pass", "--cuda-emulate"
    )
    assert "a fault occurred in" in output
    assert re.search(r"\d (error|failed)", output)


def test_work_that_runs_late_is_awaited_at_the_end_of_its_test(run_pytest):
    output = run_pytest(
        TRAP + "def test_broken():\n    trap()\ndef test_fine():\n    pass",
        "--cuda-emulate",
        "--cuda-mode=adversarial",
    )
    assert "a fault occurred in work that the test queued:" in output
    assert re.search(r"ERROR .*test_broken - .*trap by kernel 'k'", output)
    assert "2 passed, 1 error" in output


def test_cuda_no_leaks_names_the_leaks(run_pytest):
    output = run_pytest(
        CALLS
        + """
def test_leaks(cuda_no_leaks):
    output("cuStreamCreate", 0)

def test_is_clean(cuda_no_leaks):
    driver("cuStreamDestroy", output("cuStreamCreate", 0))
""",
        "--cuda-emulate",
    )
    assert "the test left behind:" in output
    assert "kind='stream'" in output
    assert "2 passed, 1 error" in output


def test_objects_in_the_traceback_of_a_failed_test_are_no_leaks(run_pytest):
    output = run_pytest(
        """
from cuda.core import Device

def test_fails(cuda_no_leaks):
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    assert stream is None

def test_is_clean(cuda_no_leaks):
    Device(0).create_event().close()
""",
        "--cuda-emulate",
    )
    assert "the test left behind:" not in output
    assert "1 failed, 1 passed" in output and "error" not in output.splitlines()[-1]


def test_values_of_fixtures_are_no_leaks(run_pytest):
    output = run_pytest(
        """
import pytest
from cuda.core import Device, Program

@pytest.fixture
def stream():
    device = Device(0)
    device.set_current()
    return device.create_stream()

@pytest.fixture(scope="module")
def code():
    return Program('extern "C" __global__ void k() {}', "c++").compile("cubin")

def test_it(cuda_no_leaks, stream, code):
    code.get_kernel("k")
    stream.sync()

def test_leaks(cuda_no_leaks, stream, code):
    pytest.left = stream.device.create_event()
""",
        "--cuda-emulate",
    )
    assert "the test left behind:" in output
    assert "kind='event'" in output and "kind='library'" not in output
    assert "2 passed, 1 error" in output


@pytest.mark.parametrize("arguments", [(), ("-x",), ("-n", "2")])
def test_unused_suppressions_are_named_once(run_pytest, tmp_path, arguments):
    if arguments[:1] == ("-n",):
        pytest.importorskip("xdist")
    rules = tmp_path / "known"
    rules.write_text("# known\nrace k * reason\n")
    output = run_pytest(
        CALLS + "def test_a(): pass\ndef test_b(): pass",
        "--cuda-emulate", *arguments,
        variables={"HALFWARP_EMULATOR_SUPPRESS": str(rules)},
    )  # fmt: skip
    unused = f"{rules}:2: race k * reason: no report matched this suppression"
    assert output.count("no report matched") == 1
    assert f"cuda: {unused}" in output


def test_cuda_inject_makes_a_call_fail(run_pytest):
    output = run_pytest(
        CALLS
        + """
def test_it(cuda_inject):
    with cuda_inject("cuCtxSynchronize", error=2):
        assert driver("cuCtxSynchronize") == 2
""",
        "--cuda-emulate",
    )
    assert "1 passed" in output


def test_the_fixtures_skip_without_the_emulator(run_pytest):
    output = run_pytest("def test_a(cuda_no_leaks): pass\ndef test_b(cuda_inject): pass")
    assert "2 skipped" in output
