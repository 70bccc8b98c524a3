# SPDX-License-Identifier: Apache-2.0
"""One suite, two backends: --backend=gpu|emulator|auto; tests that need a GPU; leaks; processes."""

import collections
import gc
import os
import subprocess
import sys

import pytest

pytest_plugins = ["halfwarp.pytest_plugin"]

BACKENDS = {"gpu": "driver", "emulator": "emulator", "auto": "auto"}
_needs_gpu = collections.Counter()  # reason -> tests that were left out


def pytest_addoption(parser):
    parser.addoption(
        "--backend",
        choices=sorted(BACKENDS),
        default=None,
        help="what runs CUDA code: the GPU, the emulator, or the GPU when there is one (default)",
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


def pytest_collection_modifyitems(items):
    marked = [(item, mark) for item in items if (mark := item.get_closest_marker("gpu"))]
    if not marked or not is_emulated():
        return
    for item, mark in marked:
        reason = mark.args[0]
        _needs_gpu[reason] += 1
        item.add_marker(pytest.mark.skip(reason=f"needs a GPU: {reason}"))


def pytest_terminal_summary(terminalreporter):
    """The marks are a debt: print how many there are and why."""
    if not _needs_gpu:
        return
    terminalreporter.section(f"{_needs_gpu.total()} tests need a GPU")
    for reason, count in sorted(_needs_gpu.items()):
        terminalreporter.line(f"{count:4} {reason}")


class _Live:
    """What is alive on the emulator; empty on a GPU, which does not tell."""

    def __init__(self):
        from cuda.bindings import _low

        self.records = []
        if _low.backend() == "emulator":
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
def pytest_runtest_teardown(item):
    outcome = yield
    before = item.stash.get(_before, None)
    if before is None or not _Live().newer_than(before):
        return outcome
    gc.collect()
    settle()
    left = _Live().newer_than(before)
    if left:
        pytest.fail("the test left behind:\n" + "\n".join(map(str, left)), pytrace=False)
    return outcome


@pytest.fixture
def run_python():
    """Run code in a fresh interpreter; give its stdout.

    It must succeed, and write nothing to stderr but the loader's notices and lines that start with
    `allowed`.
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
            assert line.startswith(("halfwarp: CUDA is emulated", *allowed)), done.stderr
        return done.stdout

    return run
