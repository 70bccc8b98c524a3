# SPDX-License-Identifier: Apache-2.0
"""Fails each allocation of each constructor once, with the hooks of CPython's `_testcapi`.

    python tests/core/lifetime/failed_allocations.py --names Graph Buffer

Each constructor runs in a forked child. Allocation n fails for n = 0, 1, 2, ... until the call
succeeds. A failure must be an exception, the object must close cleanly, and nothing may remain on
the emulator. Modules are imported before: imports of the standard library are not under test.
"""

import argparse
import contextlib
import gc
import os
import signal
import sys
import time
import traceback

os.environ.setdefault("HALFWARP_BACKEND", "emulator")

import _testcapi

import member_calls
from cuda.core import Context, LaunchConfig, Linker, ObjectCode, Program, emulation
from live_objects import PTX, REGISTERED, World

MOST_ALLOCATIONS = 2000
SUCCESSES = 20  # in a row: a failure may also be handled, for instance that of a cache
TIME_LIMIT = 300  # seconds for one constructor
RELEASE_SECONDS = 30
# Exceptions of a failed allocation: CPython's own code replaces some MemoryErrors.
EXPECTED = (MemoryError, RuntimeError, ImportError, TypeError)


def build_and_end(world):
    builder = world.device.create_graph_builder()
    try:
        builder.begin_building().end_building()
        builder.complete().close()
    finally:
        builder.close()


def capture_memory(world):
    builder = world.device.create_graph_builder()
    try:
        builder.begin_building()
        builder.callback(print)
        builder.end_building()
    finally:
        builder.close()


def split_builder(world):
    builder = world.device.create_graph_builder().begin_building()
    try:
        left, right = builder.split(2)
        left.join(left, right).end_building()
    finally:
        builder.close()


def compile_program(world):
    with Program("__global__ void f() {}", "c++") as program:
        program.compile("ptx")


def link_code(world):
    with Linker(ObjectCode.from_ptx(PTX)) as linker:
        linker.link("cubin")


def configure_launch(world):
    LaunchConfig(grid=1, block=1, priority=-1, mem_sync_domain="remote")


def copy_to_new(world):
    world.buffer.copy_to(stream=world.stream).close()


def launch_kernel(world):
    world.stream.launch(world.config, world.kernel, world.buffer, 1)


def record_event(world):
    world.stream.record().close()


OPERATIONS = {
    function.__name__: function
    for function in (
        build_and_end,
        capture_memory,
        split_builder,
        compile_program,
        link_code,
        configure_launch,
        copy_to_new,
        launch_kernel,
        record_event,
    )
}
CALLS = {**REGISTERED, **OPERATIONS}


def close(instance):
    if hasattr(instance, "close") and not isinstance(instance, Context):  # which is current
        instance.close()


def is_raised_by_python(error):
    """Return whether the innermost frame is code of the standard library."""
    file = traceback.extract_tb(error.__traceback__)[-1].filename
    return file.startswith("<frozen") or file.startswith(os.path.dirname(os.__file__))


class Sweep:
    """The failures of one constructor, found in a child process."""

    def __init__(self, name, journal):
        self.name = name
        self.call = CALLS[name]
        self.journal = journal
        self.successes = 0  # since the last failure

    def run(self):
        world = World()
        for _ in range(3):  # fills caches and imports modules
            close(self.call(world))
        gc.collect()
        before = self.count_objects(world)
        for number in range(MOST_ALLOCATIONS):
            self.journal.note(f"{self.name}: allocation {number}")
            if self.fail_at(number, world):
                break
        else:
            self.journal.report(f"{self.name}: no success")
        self.journal.note(f"{self.name}: after all failures")
        close(self.call(world))
        end = time.monotonic() + RELEASE_SECONDS
        while (excess := self.count_objects(world) - before) > 0:
            if time.monotonic() > end:
                self.journal.report(f"{self.name}: {excess} objects remain on the emulator")
                return
            time.sleep(0.01)  # driver threads release the objects of graphs

    def fail_at(self, number, world):
        """Fail one allocation, and return whether the call did not need it."""
        instance = None
        _testcapi.set_nomemory(number, number + 1)
        try:
            instance = self.call(world)
            _testcapi.remove_mem_hooks()
        except BaseException as error:
            _testcapi.remove_mem_hooks()
            self.check(number, error)
            return False
        close(instance)
        self.successes += 1
        return self.successes >= SUCCESSES

    def check(self, number, error):
        self.successes = 0
        if not isinstance(error, EXPECTED) and not is_raised_by_python(error):
            name = type(error).__name__
            self.journal.report(f"{self.name}: allocation {number}: {name}: {error}")

    def count_objects(self, world):
        world.stream.sync()
        world.device.sync()
        gc.collect()
        emulation.settle()
        return len(emulation.leaks())


def failures_of(name):
    """Return the failures of a constructor as lines."""
    journal = member_calls.Journal()
    journal.clear()
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        status = 3
        try:
            signal.alarm(TIME_LIMIT)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            Sweep(name, journal).run()
            status = 0
        except BaseException as error:
            with contextlib.suppress(BaseException):
                journal.report(f"{journal.read()}: {type(error).__name__}: {error}")
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    failures = journal.read(journal.SIZE).splitlines()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        failures.append(f"{journal.read()}: killed by {signal.Signals(number).name}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="*", choices=CALLS, default=list(CALLS))
    options = parser.parse_args()
    member_calls.import_all()
    gc.freeze()
    failures = [line for name in options.names for line in failures_of(name)]
    print(*failures, sep="\n", end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
