# SPDX-License-Identifier: Apache-2.0
"""Questions to a driver with their expected answers, shared by the hardware probes.

A probe is a module with QUESTIONS (name -> function that returns a text) and EXPECTED (name -> that
text), and ends with ``sys.exit(main(__spec__.name, ...))``.
"""

import subprocess
import sys

from cuda.bindings import driver
from cuda.core import Device, emulation


def ok(answer):
    assert answer[0] == 0, answer
    return answer[1] if len(answer) == 2 else answer[1:]


def name(answer):
    return answer[0].name.removeprefix("CUDA_").removeprefix("ERROR_")


def run_in_child(module, question):
    """Return the answer of a child process, or how that process ended."""
    command = [sys.executable, "-m", module, question]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "no answer within a minute"
    output = done.stdout.strip()
    return output if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-300:]}"


def main(module, questions, expected, arguments, since=(), apart=False):
    """Compare a GPU's answers, each from its own process, or the emulator's from this process.

    With `apart`, the emulator also answers in child processes. `since` maps later questions to the
    driver version that added their functions.
    """
    since = dict(since)

    def run_here(question):
        Device(0).set_current()
        return questions[question]()

    if arguments:
        print(run_here(arguments[0]))
        return 0
    different = 0
    version = ok(driver.cuDriverGetVersion())
    for question, expected_answer in expected.items():
        if version < since.get(question, 0):
            print(question, "-> skipped: the driver is older")
            continue
        is_apart = apart or not emulation.is_active()
        answer = run_in_child(module, question) if is_apart else run_here(question)
        different += answer != expected_answer
        print(
            question,
            "->",
            answer,
            "" if answer == expected_answer else f"| expected {expected_answer}",
        )
    print(f"{different} of {len(expected)} answers differ")
    return int(different > 0)
