# SPDX-License-Identifier: Apache-2.0
"""Fails each allocation of each call once, with the hooks of CPython's `_testcapi`.

    python tests/bindings/allocations/failed_calls.py driver functions structs

A call without memory must raise. A call that succeeds all the same must return its usual result.
No call may lose an object. The program prints what is wrong.
"""

import _testcapi
import gc
import json
import sys

from operations import GROUPS

MOST_ALLOCATIONS = 3000
SUCCESSES = 5  # in a row: a failure may also be handled, for instance that of a cache
PASSES = 3
RUNS_PYTHON = (" reduce", " __signature__")  # imports, whose code may lose objects itself
FILLING = 2  # earlier passes, which fill free lists


class Failures:
    """The calls of an operation, of which one allocation fails in each."""

    def __init__(self, name, call):
        self.name, self.call, self.wrong = name, call, []

    def run(self):
        for _ in range(3):  # fills caches
            self.expected = self.outcome()
        if (lost := self.lost(PASSES)) and self.lost(3 * PASSES):
            self.wrong.append(f"{lost} objects are lost in each pass")
        return [f"{self.name}: {each}" for each in dict.fromkeys(self.wrong)]

    def lost(self, passes):
        """Return the number of objects that each pass loses alike."""
        grown = [self.growth_of_pass() for _ in range(FILLING + passes)][FILLING:]
        is_lost = len(set(grown)) == 1 and not self.name.endswith(RUNS_PYTHON)
        return max(grown[0], 0) if is_lost else 0

    def growth_of_pass(self):
        before = sys.getallocatedblocks()
        self.fail_each()
        gc.collect()
        return sys.getallocatedblocks() - before - 1  # `before` itself is an object

    def fail_each(self):
        successes = 0
        for number in range(MOST_ALLOCATIONS):
            text = self.outcome(number)
            if text.startswith("MemoryError"):
                successes = 0
                continue
            if text != self.expected:
                self.wrong.append(f"without allocation {number}: {text}, else {self.expected}")
            successes += 1
            if successes == SUCCESSES:
                return
        self.wrong.append("no success")

    def outcome(self, number=None):
        """Return the result of the call, or its exception, as a text."""
        try:
            result = with_failure(self.call, number)
        except Exception as error:
            is_of_caller = str(error) == "error return without exception set"
            return "MemoryError" if is_of_caller else f"{type(error).__name__}: {error}"
        return shown(result)


def with_failure(call, number):
    """Call a function, one of whose allocations fails if a number selects it."""
    remove = _testcapi.remove_mem_hooks
    if number is not None:
        _testcapi.set_nomemory(number, number + 1)
    try:
        return call()
    finally:
        remove()


def shown(result):
    """Return a text of a result that is the same for equal results."""
    if isinstance(result, (tuple, list)):
        return f"{type(result).__name__} of {[shown(each) for each in result]}"
    is_address = isinstance(result, int) and result > 1 << 20
    is_value = isinstance(result, (int, str, bytes, float, type(None))) and not is_address
    return f"{type(result).__name__} {result if is_value else ''}"


def fail_first_use(name, call):
    """Fail the allocations of the first use of a name, which succeeds in the end."""
    for number in range(MOST_ALLOCATIONS):
        try:
            with_failure(call, number)
            return []
        except MemoryError:
            continue
        except Exception as error:
            return [f"first use of {name}: {type(error).__name__}: {error}"]
    return [f"first use of {name}: no success"]


def fail_all(library, group):
    """Return the number of operations, and what is wrong with them."""
    operations, wrong = [*GROUPS[group](library)], []
    gc.freeze()
    for name, call in operations:
        wrong += fail_first_use(name, call) if group == "first_uses" else Failures(name, call).run()
    return len(operations), wrong


def main(library, *groups):
    gc.disable()
    print(json.dumps({group: fail_all(library, group) for group in groups}))


if __name__ == "__main__":
    main(*sys.argv[1:])
