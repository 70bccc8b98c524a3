# SPDX-License-Identifier: Apache-2.0
"""One suite, two backends: --backend=gpu|emulator|auto; tests that need a GPU; their order; leaks.

A test must leave nothing alive behind, a file no memory taken of the emulated device: what a later
test finds would depend on what ran before.
"""

import collections
import gc
import os
import subprocess
import sys

import pytest

from . import machine_settings
from .order import shuffled

# Python 3.12 warns of a fork in a process with threads, which those of a driver are too: programs
# that tests run say nothing on stderr beside it.
os.environ.setdefault("PYTHONWARNINGS", "ignore:This process:DeprecationWarning")

pytest_plugins = ["halfwarp.pytest_plugin"]

BACKENDS = {"gpu": "driver", "emulator": "emulator", "auto": "auto"}
NOTICES = ("halfwarp: CUDA is emulated", "emulator: the process ends with")
_needs_gpu = collections.Counter()  # reason -> tests that were left out


def pytest_addoption(parser):
    parser.addoption(
        "--backend",
        choices=sorted(BACKENDS),
        default=None,
        help="what runs CUDA code: the GPU, the emulator, or the GPU when there is one (default)",
    )
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        default=os.environ.get("TEST_SEED") or None,
        help="run the tests in the order that a number makes (default: TEST_SEED, if it is set)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Choose before a test module is imported; the choice holds for the process."""
    given = config.getoption("backend")
    if config.getoption("cuda_emulate"):
        given = given or "emulator"
    if given:
        os.environ["HALFWARP_BACKEND"] = BACKENDS[given]
    os.environ.setdefault("HALFWARP_BACKEND", "auto")


def is_emulated():
    from cuda.core import emulation

    return emulation.is_active()


@pytest.hookimpl(tryfirst=True)  # pytest's own grouping comes after it
def pytest_collection_modifyitems(config, items):
    seed = config.getoption("shuffle")
    if seed is not None:
        items[:] = shuffled(items, seed)
    if not is_emulated():
        keep_settings()
        return
    marked = [(item, mark) for item in items if (mark := item.get_closest_marker("gpu"))]
    for item, mark in marked:
        reason = mark.args[0]
        _needs_gpu[reason] += 1
        item.add_marker(pytest.mark.skip(reason=f"needs a GPU: {reason}"))


def keep_settings():
    from cuda.bindings import nvml

    machine_settings.keep_as_they_are(
        nvml, lambda name: pytest.skip(f"nvml.{name} would change the machine that runs the tests")
    )


def pytest_terminal_summary(terminalreporter, config):
    """The order, to have it again; and the marks, which are a debt: how many there are and why."""
    seed = config.getoption("shuffle")
    if seed is not None:
        terminalreporter.line(f"the tests ran in the order of --shuffle={seed}")
    if not _needs_gpu:
        return
    terminalreporter.section(f"{_needs_gpu.total()} tests need a GPU")
    for reason, count in sorted(_needs_gpu.items()):
        terminalreporter.line(f"{count:4} {reason}")


class _Live:
    """What is alive on the emulator; empty on a GPU, which does not tell."""

    def __init__(self):
        self.records = []
        if is_emulator_in_use():
            from cuda.core import emulation

            self.records = emulation.leaks()

    def newer_than(self, earlier):
        known = {(record.kind, record.id) for record in earlier.records}
        return [record for record in self.records if (record.kind, record.id) not in known]


def settle():
    """Memory that a stream gives back is live until the stream has come to that."""
    if is_emulated():
        from cuda.core import emulation

        emulation.settle()


_before = pytest.StashKey()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    """Fixtures are set up by now: what they hold is no leak of the test."""
    before = _Live()
    outcome = yield
    item.stash[_before] = before  # not for a failed test, whose traceback keeps objects alive
    return outcome


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item, nextitem):
    outcome = yield
    check_test(item)
    if nextitem is None or nextitem.path != item.path:
        item.funcargs.clear()  # pytest drops them a moment later
        check_file(item.config, item.path)
    return outcome


def check_test(item):
    before = item.stash.get(_before, None)
    if before is None:
        return
    check_context()
    if not _Live().newer_than(before):
        return
    for _ in range(3):  # what a graph let go is dropped by a later call, and then goes back
        gc.collect()
        settle()
        left = _Live().newer_than(before)
        if not left:
            return
    pytest.fail("the test left behind:\n" + "\n".join(map(str, left)), pytrace=False)


def check_context():
    """A context that is gone and still current lets the calls of later tests fail.

    So does one below it on the thread's stack, which a later test makes current.
    """
    if not is_emulator_in_use():
        return
    from cuda.bindings import driver

    status, _ = driver.cuCtxGetDevice()
    is_gone = status == driver.CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED
    stack = []
    while (popped := driver.cuCtxPopCurrent())[0] == 0:
        stack.append(popped[1])
    if not is_gone and stack:
        driver.cuCtxPushCurrent(stack[0])
    if is_gone:
        pytest.fail("the test left a destroyed context current", pytrace=False)
    if len(stack) > 1:
        pytest.fail(f"the test left {len(stack)} contexts on the stack", pytrace=False)


def is_emulator_in_use():
    loader = sys.modules.get("cuda.bindings._low")
    return loader is not None and loader.backend() == "emulator"


class _Taken:
    """What is taken of the emulated devices when no test runs: live objects, and bytes."""

    PROCESS_WIDE = ("context",)  # a primary context stays until the process ends

    def __init__(self):
        self.counts = collections.Counter()
        if not is_emulator_in_use():
            return
        from cuda.core import emulation

        gc.collect()
        emulation.settle()
        if emulation.stats() is None:  # loaded, and nothing was asked of it yet
            return
        give_cached_memory_back()
        now = emulation.stats()
        for kind, live in now["live"].items():
            if kind not in self.PROCESS_WIDE:
                self.counts[kind] = live["count"]
        for ordinal, device in enumerate(now["devices"]):
            self.counts[f"bytes of device {ordinal}"] = device["bytes_used"]


def give_cached_memory_back():
    """What default pools and the memory of graphs keep of what was freed."""
    from cuda.bindings import driver

    status, count = driver.cuDeviceGetCount()
    if status == driver.CUresult.CUDA_ERROR_NOT_INITIALIZED:
        return
    for device in range(count):
        status, pool = driver.cuDeviceGetDefaultMemPool(device)
        assert int(status) == 0, status
        (status,) = driver.cuMemPoolTrimTo(pool, 0)
        assert int(status) == 0, status
        (status,) = driver.cuDeviceGraphMemTrim(device)
        assert int(status) == 0, status


_at_file_start = pytest.StashKey()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """What a file takes of the device it gives back: no file depends on those before it."""
    if item.config.stash.get(_at_file_start, None) is None:
        item.config.stash[_at_file_start] = _Taken()
    return (yield)


def check_file(config, path):
    before, after = config.stash[_at_file_start], _Taken()
    config.stash[_at_file_start] = None
    left = after.counts - before.counts
    if left:
        listed = ", ".join(f"{count} x {kind}" for kind, count in sorted(left.items()))
        pytest.fail(f"{path.name} left on the device: {listed}", pytrace=False)


@pytest.fixture
def run_python():
    """Run code in a fresh interpreter; give its stdout.

    It must succeed, and write nothing to stderr but the notices of an emulated device, of which one
    depends on how far its work has come at the end, and lines that start with `allowed`.
    """

    def run(code, *arguments, allowed=(), **environment):
        done = subprocess.run(
            [sys.executable, *arguments, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        for line in done.stderr.splitlines():
            assert line.startswith((*NOTICES, *allowed)), done.stderr
        return done.stdout

    return run


@pytest.fixture
def handle_of():
    """Reads `handle` of an ObjectCode or a Kernel; the end of the test unloads their library.

    That a program was given a handle keeps the library loaded, so somebody has to.
    """
    from cuda.bindings import driver

    libraries = {}

    def read(thing):
        handle = library = thing.handle
        if isinstance(handle, driver.CUkernel):
            _, library = driver.cuKernelGetLibrary(handle)
        libraries[int(library)] = library
        return handle

    yield read
    for library in libraries.values():
        assert driver.cuLibraryUnload(library) == (driver.CUresult.CUDA_SUCCESS,)
