# SPDX-License-Identifier: Apache-2.0
"""Backends of the suite (--backend=gpu|emulator|auto), GPU marks, test order, leak checks.

A test leaves no live object, and a file no memory allocated on the emulated device: otherwise,
later results would depend on the tests that ran earlier.
"""

import collections
import functools
import gc
import os
import subprocess
import sys
import time

import pytest

from . import collection, machine_settings, parallel
from .order import shuffled

# Python 3.12 warns about a fork in a process with threads, and driver threads count. Programs run
# by tests print nothing else on stderr.
os.environ.setdefault("PYTHONWARNINGS", "ignore:This process:DeprecationWarning")

pytest_plugins = ["halfwarp.pytest_plugin"]

# Time that a thread of the driver may take to release what a graph owned.
RELEASE_SECONDS = 30
BACKENDS = {"gpu": "driver", "emulator": "emulator", "auto": "auto"}
NOTICES = ("halfwarp: CUDA is emulated", "emulator: the process ends with")
NEEDS_GPU = "needs a GPU: "


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


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads its options
def pytest_cmdline_main(config):
    choose_backend(config)
    if parallel.is_wanted(config) and is_emulated():  # tests measure the memory of a GPU
        parallel.use_processes(config)
        collection.share_bytecode(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return parallel.make_scheduler(config, log) if config.option.dist == "loadscope" else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    collection.choose_end(node)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    choose_backend(config)
    if collection.begins_at_the_end(config):
        config.pluginmanager.register(collection.FromTheEnd())


def choose_backend(config):
    """Choose the backend before a test module is imported; the choice holds for the process."""
    backend = config.getoption("backend")
    if config.getoption("cuda_emulate"):
        backend = backend or "emulator"
    if backend:
        os.environ["HALFWARP_BACKEND"] = BACKENDS[backend]
    os.environ.setdefault("HALFWARP_BACKEND", "auto")


def is_emulated():
    from cuda.core import emulation

    return emulation.is_active()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    with collection.without_garbage_collection():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure():
    gc.freeze()  # pytest collects garbage five times before the process ends


@pytest.hookimpl(tryfirst=True)  # pytest's own grouping follows
def pytest_collection_modifyitems(config, items):
    check_names(items)
    seed = config.getoption("shuffle")
    if seed is not None:
        items[:] = shuffled(items, seed)
    if hasattr(config, "workerinput"):
        parallel.folders_first(items)
    if not is_emulated():
        keep_settings()
        return
    marked = [(item, mark) for item in items if (mark := item.get_closest_marker("gpu"))]
    for item, mark in marked:
        item.add_marker(pytest.mark.skip(reason=f"{NEEDS_GPU}{mark.args[0]}"))


def check_names(items):
    """Refuse names that contain an address: processes with the same tests must agree on them."""
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"use ids=readable of tests/ids.py: {unstable}")


def keep_settings():
    from cuda.bindings import nvml

    machine_settings.replace_setters(
        nvml, lambda name: pytest.skip(f"nvml.{name} would change the machine that runs the tests")
    )


def pytest_terminal_summary(terminalreporter, config):
    """Print the order, so that it can be repeated, and the number of GPU-only tests by reason."""
    seed = config.getoption("shuffle")
    if seed is not None:
        terminalreporter.line(f"the tests ran in the order of --shuffle={seed}")
    skipped = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ())]
    reasons = [each.split(NEEDS_GPU, 1)[1] for each in skipped if NEEDS_GPU in each]
    if not reasons:
        return
    terminalreporter.section(f"{len(reasons)} tests need a GPU")
    for reason, count in sorted(collections.Counter(reasons).items()):
        terminalreporter.line(f"{count:4} {reason}")


class _LiveObjects:
    """Live objects on the emulator; empty on a GPU, which does not report them."""

    def __init__(self):
        self.records = []
        if is_emulator_in_use():
            from cuda.core import emulation

            self.records = emulation.leaks()

    def newer_than(self, earlier):
        known = {(record.kind, record.id) for record in earlier.records}
        return [record for record in self.records if (record.kind, record.id) not in known]


def settle():
    """Complete pending frees: memory freed in stream order stays live until its stream arrives."""
    if is_emulated():
        from cuda.core import emulation

        emulation.settle()


_before = pytest.StashKey()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    """Record live objects after fixture setup: a test does not leak objects of its fixtures."""
    before = _LiveObjects()
    outcome = yield
    item.stash[_before] = before  # not for a failed test, whose traceback keeps objects alive
    return outcome


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item, nextitem):
    outcome = yield
    check_test(item)
    if nextitem is None or nextitem.path != item.path:
        item.funcargs.clear()  # pytest drops them later
        check_file(item.config, item.path)
    return outcome


def check_test(item):
    before = item.stash.get(_before, None)
    if before is None:
        return
    check_context()
    if not _LiveObjects().newer_than(before):
        return
    deadline = time.monotonic() + RELEASE_SECONDS
    while True:  # a thread of the driver may still release what a graph owned
        gc.collect()
        settle()
        leaked = _LiveObjects().newer_than(before)
        if not leaked:
            return
        if time.monotonic() > deadline:
            break
        time.sleep(0.005)
    pytest.fail("the test left behind:\n" + "\n".join(map(str, leaked)), pytrace=False)


def check_context():
    """Fail if a destroyed context is current, because calls of later tests would fail.

    The same holds for a context below it on the thread's stack.
    """
    if not is_emulator_in_use():
        return
    from cuda.bindings import driver

    status, _ = driver.cuCtxGetDevice()
    is_destroyed = status == driver.CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED
    stack = []
    while (popped := driver.cuCtxPopCurrent())[0] == 0:
        stack.append(popped[1])
    if not is_destroyed and stack:
        driver.cuCtxPushCurrent(stack[0])
    if is_destroyed:
        pytest.fail("the test left a destroyed context current", pytrace=False)
    if len(stack) > 1:
        pytest.fail(f"the test left {len(stack)} contexts on the stack", pytrace=False)


def is_emulator_in_use():
    loader = sys.modules.get("cuda.bindings._low")
    return loader is not None and loader.backend() == "emulator"


class _DeviceUse:
    """Live objects and allocated bytes of the emulated devices while no test runs."""

    PROCESS_WIDE = ("context",)  # a primary context stays until the process ends

    def __init__(self):
        self.counts = collections.Counter()
        if not is_emulator_in_use():
            return
        from cuda.core import emulation

        gc.collect()
        emulation.settle()
        if emulation.stats() is None:  # loaded, but not used yet
            return
        trim_cached_memory()
        now = emulation.stats()
        for kind, live in now["live"].items():
            if kind not in self.PROCESS_WIDE:
                self.counts[kind] = live["count"]
        for ordinal, device in enumerate(now["devices"]):
            self.counts[f"bytes of device {ordinal}"] = device["bytes_used"]


def trim_cached_memory():
    """Release the freed memory that default pools and graph memory pools cache."""
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
    """Check that each file frees what it allocates on the device, so that files are independent."""
    if item.config.stash.get(_at_file_start, None) is None:
        exclude_existing_objects()
        item.config.stash[_at_file_start] = _DeviceUse()
    return (yield)


def exclude_existing_objects():
    """Exclude what exists before a file from its collections of garbage.

    Each would take up to half a second: 17,000 tests and their reports have a million objects, and
    files collect thousands of times.
    """
    gc.collect()
    gc.freeze()


def check_file(config, path):
    before, config.stash[_at_file_start] = config.stash[_at_file_start], None
    deadline = time.monotonic() + RELEASE_SECONDS
    while leaked := _DeviceUse().counts - before.counts:
        if time.monotonic() > deadline:
            break
        time.sleep(0.005)  # a thread of the driver may still release what a graph owned
    if leaked:
        listed = ", ".join(f"{count} x {kind}" for kind, count in sorted(leaked.items()))
        pytest.fail(f"{path.name} left on the device: {listed}", pytrace=False)


@pytest.fixture(scope="session")
def start_python():
    """Start code in a fresh interpreter, and return a function that waits for its stdout.

    It must succeed. Its stderr may contain only the notices of an emulated device, one of which
    depends on the progress of pending work at exit, and lines that start with `allowed`.
    """
    started = set()
    yield functools.partial(start_process, started)
    for process in started:  # of tests that did not run
        end_process(process)


def end_process(process):
    with process:  # closes the pipes, and waits
        process.kill()


def start_process(started, code, *arguments, allowed=(), **environment):
    process = subprocess.Popen(
        [sys.executable, *arguments, "-c", code],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def finish():
        started.discard(process)
        try:
            output, errors = process.communicate(timeout=300)
        finally:
            end_process(process)
        assert process.returncode == 0, errors
        for line in errors.splitlines():
            assert line.startswith((*NOTICES, *allowed)), errors
        return output

    started.add(process)
    return finish


@pytest.fixture
def run_python(start_python):
    """Run code in a fresh interpreter and return its stdout, as `start_python` describes."""

    def run(code, *arguments, **options):
        return start_python(code, *arguments, **options)()

    return run


@pytest.fixture
def handle_of():
    """Read `handle` of an ObjectCode or a Kernel, and unload its library at the end of the test.

    Reading the handle keeps the library loaded, so the test must unload it.
    """
    from cuda.bindings import driver

    libraries = {}

    def read(code):
        handle = library = code.handle
        if isinstance(handle, driver.CUkernel):
            _, library = driver.cuKernelGetLibrary(handle)
        libraries[int(library)] = library
        return handle

    yield read
    for library in libraries.values():
        assert driver.cuLibraryUnload(library) == (driver.CUresult.CUDA_SUCCESS,)
