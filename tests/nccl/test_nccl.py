# SPDX-License-Identifier: Apache-2.0
"""The emulated NCCL: results, errors and the end of processes."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("programs")


def cases_of(name):
    """Return the names of the cases of a program."""
    return [
        node.name.removeprefix("case_")
        for node in ast.parse((PROGRAMS / name).read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
    ]


def test_collectives_are_equal_to_numpy_in_one_process(run):
    pytest.importorskip("ml_dtypes")
    assert run("collectives.py", 4) == "equal\n"


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_collectives_are_equal_to_numpy_in_four_processes(launch, ranks):
    pytest.importorskip("ml_dtypes")
    for code, output, errors in launch(4, "collectives.py", ranks):
        assert (code, output) == (0, "equal\n"), errors[-4000:]


@pytest.mark.parametrize("mode", ["async", "eager", "adversarial"])
def test_cases(run, mode):
    output = run("cases.py", mode=mode, nccl_limit=2)
    assert output.splitlines() == [
        f"{name} passed" for name in (*cases_of("cases.py"), "fault_of_a_buffer")
    ]


@pytest.mark.parametrize("program", ["edges.py", "failures.py"])
def test_edges_and_failures(run, program):
    assert run(program).splitlines() == [f"{name} passed" for name in cases_of(program)]


@pytest.mark.parametrize("seed", range(3))
def test_random_sequences_are_equal_to_numpy(launch, seed):
    pytest.importorskip("ml_dtypes")
    for code, output, errors in launch(2, "random_calls.py", 2, seed, 40):
        assert (code, output) == (0, "equal\n"), errors[-4000:]


@pytest.mark.parametrize("phase", ["before", "joined", "enqueued", "between", "split"])
def test_the_end_of_a_process_is_an_error_of_the_others(launch, phase):
    options = {"nccl_limit": 3} if phase == "before" else {}
    outcomes = launch(3, "killed.py", phase, **options)
    assert outcomes[1][0] == -9
    for code, output, errors in (outcomes[0], outcomes[2]):
        assert code == 0 and output.startswith("error "), output + errors[-4000:]
    errors = outcomes[0][2] + outcomes[2][2]
    assert ("rank 1: has not joined" if phase == "before" else "process has ended") in errors


def test_the_remaining_ranks_continue_after_a_shrink(launch):
    outcomes = launch(3, "shrinking.py")
    assert [outcome[:2] for outcome in outcomes] == [(0, "equal\n"), (-9, ""), (0, "equal\n")]


def test_nccl4py_in_four_processes_of_two_devices(launch):
    pytest.importorskip("nccl.core")
    for code, output, errors in launch(4, "with_nccl4py.py"):
        assert (code, output) == (0, "equal\n"), errors[-4000:]


@pytest.mark.parametrize("launcher", [("launcher.py",), ("-m", "torch.distributed.run")])
def test_the_processes_of_a_launcher_share_the_machine(start, launcher):
    """The second launcher is torchrun."""
    if launcher[0] == "-m" and not (find_spec("torch") and import_module("torch").version.cuda):
        pytest.skip("PyTorch for CUDA is not installed")
    program = "with_torch.py" if launcher[0] == "-m" else "as_a_rank.py"
    options = "--nproc-per-node", 4, str(PROGRAMS / program)
    process = start(*launcher, *options, devices=4)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors[-4000:]
    assert sorted(output.splitlines()) == [f"rank {i} of 4: 10.0" for i in range(4)]


def test_no_shared_memory_remains(run):
    before = set(Path("/dev/shm").glob("halfwarp-nccl-*"))
    run("cases.py", "split", "abort", "queries")
    assert set(Path("/dev/shm").glob("halfwarp-nccl-*")) <= before


def test_operations_leave_nothing_on_the_heap(run):
    assert int(run("leaks.py", devices=2)) < 100  # one execution has more bytes


def test_a_mistake_before_the_first_call_of_the_driver_is_printed(start):
    code = "import ctypes; print(ctypes.CDLL('libnccl.so.2').ncclCommCount(None, None))"
    assert start("-c", code).communicate(timeout=60) == (
        "4\n",
        "emulator: NCCL: ncclCommCount: an output pointer is null\n",
    )
