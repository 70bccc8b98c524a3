# SPDX-License-Identifier: Apache-2.0
"""Makes the calls of a plan in one implementation; run by file name, by either interpreter.

`python caller.py MODULE` imports the module once. For each line of its stdin, the JSON list of
PLAN, OUT and FIRST, it makes the calls in a fork and prints its exit status. The fork appends to
OUT, for each case from the FIRST on, a line before the call and a line after it: when a call
terminates the process, the last line names it.
"""

import ctypes
import importlib
import json
import os
import signal
import sys
from pathlib import Path

from encoding import outcome_of

SECONDS = 30  # time limit of one call
STICKY_EXIT = 75  # the context is unusable: continue in another process
STICKY = {
    "CUDA_ERROR_" + name
    for name in (
        "ILLEGAL_ADDRESS",
        "LAUNCH_FAILED",
        "LAUNCH_TIMEOUT",
        "ILLEGAL_INSTRUCTION",
        "ASSERT",
        "MISALIGNED_ADDRESS",
        "INVALID_ADDRESS_SPACE",
        "INVALID_PC",
        "HARDWARE_STACK_ERROR",
        "ECC_UNCORRECTABLE",
        "CONTEXT_IS_DESTROYED",
        "CONTAINED",
        "DEINITIALIZED",
    )
} | {"cudaErrorIllegalAddress", "cudaErrorLaunchFailure"}
PTX = b""".version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry empty() { ret; }
\0"""
NVVM_IR = b"""target triple = "nvptx64-nvidia-cuda"
define void @empty() { ret void }
!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0}
"""
SOURCE = b'extern "C" __global__ void empty() {}'


class Index:
    """An integer with `__index__` only."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Int:
    """A number with `__int__` only."""

    def __init__(self, value):
        self.value = value

    def __int__(self):
        return self.value


def filled(target, **values):
    for name, value in values.items():
        setattr(target, name, value)
    return target


class Things:
    """Objects that are created on first use and destroyed after their function."""

    def __init__(self, module, recipes):
        self.recipes, self.living = recipes, {}
        self.names = {
            "m": module,
            "the": self.the,
            "filled": filled,
            "outcome_of": outcome_of,
            "Index": Index,
            "Int": Int,
            "PTX": PTX,
            "NVVM_IR": NVVM_IR,
            "SOURCE": SOURCE,
            "buffer": bytearray(65536),
            "strided": memoryview(bytes(65536))[::2],
            "function_pointer": ctypes.cast(ctypes.CDLL(None).getpagesize, ctypes.c_void_p).value,
        }

    def evaluate(self, text, **names):
        return eval(text, self.names | names)

    def the(self, name):
        if name not in self.living:
            recipe = self.recipes.get(name, {})
            try:
                value = self.evaluate(recipe["make"]) if recipe else None
            except (TypeError, ValueError, RuntimeError):
                value = None
            self.living[name] = self.null(name) if value is None else value
        return self.living[name]

    def null(self, name):
        """Return the null handle of a class; 0 in modules whose handles are plain numbers."""
        return getattr(self.names["m"], name, int)()

    def end(self):
        for name, it in reversed(self.living.items()):
            if "end" in self.recipes.get(name, {}):
                outcome_of(lambda name=name, it=it: self.evaluate(self.recipes[name]["end"], it=it))
        self.living.clear()


def has_sticky_error(outcome):
    parts = outcome[1] if outcome[0] == "tuple" else []
    return bool(parts) and len(parts[0]) == 2 and parts[0][1] in STICKY


def main(module):
    module = importlib.import_module(module)
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            make_calls(module, *json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def make_calls(module, plan, out, first):
    """Make the calls of a plan, and end the process."""
    os.dup2(2, 1)  # stdout is for the exit status
    os.chdir(Path(plan).parent)
    plan = json.loads(Path(plan).read_text())
    things = Things(module, plan["things"])
    for statement in plan["before"]:
        exec(statement, things.names)
    journal = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    number = 0
    for function in plan["functions"]:
        for case in function["cases"]:
            if number >= first:
                os.write(journal, f"{json.dumps([number])}\n".encode())
                signal.alarm(SECONDS)
                outcome = outcome_of(lambda case=case: things.evaluate(case["call"]))
                signal.alarm(0)
                os.write(journal, f"{json.dumps([number, outcome])}\n".encode())
                if has_sticky_error(outcome):
                    os._exit(STICKY_EXIT)
                if function["ends things"]:
                    things.end()
            number += 1
        things.end()
        for statement in plan["after"]:
            exec(statement, things.names)
    os._exit(0)  # failures of a library at exit are not of interest


if __name__ == "__main__":
    main(*sys.argv[1:])
