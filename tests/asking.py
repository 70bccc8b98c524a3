# SPDX-License-Identifier: Apache-2.0
"""Questions to a driver, and the answers that are expected of it: what the probes share.

A probe is a module with QUESTIONS (name -> function that gives a text) and EXPECTED (name -> that
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


def ask_apart(module, question):
    """The answer, or how the process ended that asked."""
    command = [sys.executable, "-m", module, question]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "no answer within a minute"
    told = done.stdout.strip()
    return told if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-300:]}"


def main(module, questions, expected, arguments, since=(), apart=False):
    """Ask a GPU, each question in a process of its own, or the emulator in this one.

    With `apart` the emulator is asked in processes of their own, too. `since` has the versions of
    questions with functions that came later than the others.
    """
    since = dict(since)

    def ask_here(question):
        Device(0).set_current()
        return questions[question]()

    if arguments:
        print(ask_here(arguments[0]))
        return 0
    different = 0
    version = ok(driver.cuDriverGetVersion())
    for question, wanted in expected.items():
        if version < since.get(question, 0):
            print(question, "-> not asked: the driver is older")
            continue
        is_apart = apart or not emulation.is_active()
        answer = ask_apart(module, question) if is_apart else ask_here(question)
        different += answer != wanted
        print(question, "->", answer, "" if answer == wanted else f"| expected {wanted}")
    print(f"{different} of {len(expected)} answers differ")
    return int(different > 0)
