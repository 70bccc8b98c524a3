# SPDX-License-Identifier: Apache-2.0
"""Collect the tests of a run in two processes without doing everything twice.

pytest compiles each test file with its own assertions, which takes two thirds of the collection in
a fresh clone. The processes begin at opposite ends and read what the other one has compiled.
"""

import contextlib
import gc
import os
import shutil
import sys
import tempfile
from itertools import groupby

import pytest

PREFIX = "PYTHONPYCACHEPREFIX"
NO_FILES = "PYTHONDONTWRITEBYTECODE"


def share_bytecode(config):
    """Let the processes of this run share bytecode, even if Python must not write it to the tree.

    A run starts 1,500 interpreters, which would compile the modules of this package again.
    """
    if not sys.dont_write_bytecode:
        return
    folder = tempfile.mkdtemp(prefix="bytecode-")
    saved = {name: os.environ.pop(name, None) for name in (PREFIX, NO_FILES)}
    os.environ[PREFIX] = folder

    def restore():
        for name, value in saved.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        shutil.rmtree(folder, ignore_errors=True)

    config.add_cleanup(restore)


def choose_end(node):
    """Tell the second process of a run of all tests to begin at the end.

    Only the second process of two begins there: more processes would wait for each other.
    """
    is_whole = node.config.args_source == pytest.Config.ArgsSource.TESTPATHS
    node.workerinput["begins_at_the_end"] = is_whole and node.workerinput["workerid"] == "gw1"


def begins_at_the_end(config):
    """Return whether this process collects the files in reverse order."""
    return getattr(config, "workerinput", {}).get("begins_at_the_end", False)


class FromTheEnd:
    """Collects the files in reverse order, and returns the tests in the usual one.

    It is a plugin, because pytest reads a conftest.py too late for the folders below it.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        report = yield
        if isinstance(collector, (pytest.Session, pytest.Directory)) and report.passed:
            report.result.reverse()  # the tests of a file keep their order
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items):
        files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
        items[:] = [item for tests in reversed(files) for item in tests]
        return (yield)


@contextlib.contextmanager
def without_garbage_collection():
    """Suspend the collector, which would take a third of the time and find next to nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
