# SPDX-License-Identifier: Apache-2.0
"""A run of the whole suite uses two processes (pytest-xdist).

The tests of a file stay together and in order, as in one process, so that its fixtures are created
once and its leaks can be attributed. The tests of some folders stay together, because they share
builds and environments.
"""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PROCESSES = 2
# Folders with session fixtures that take long. They run first: a process that starts one of them
# last would run alone in the end.
FOLDERS = ("packaging", "cython", "differential", "runtime", "typing", "generator")
# These run next, for the same reason.
LONG_FILES = ("quality/test_cpp.py", "quality/test_lint.py", "nccl/test_nccl.py")


def is_wanted(config):
    """Return whether the command names no tests and leaves the number of processes open."""
    option = config.option
    return (
        config.pluginmanager.hasplugin("xdist")
        and config.args_source == pytest.Config.ArgsSource.TESTPATHS
        and option.numprocesses is None
        and not (option.collectonly or option.usepdb or hasattr(config, "workerinput"))
    )


def use_processes(config):
    config.option.numprocesses = PROCESSES
    config.option.dist = "loadscope"
    config.option.loadscopereorder = False  # `folders_first` orders the tests


def scope_of(path):
    """Return the folder or file whose tests stay together; `path` is relative to the root."""
    folder = path.split("/")[1]
    return f"tests/{folder}" if folder in FOLDERS else path


def folders_first(items):
    """Move the tests of the folders and of long files to the front, and keep the other order."""

    def rank(item):
        path = item.path.relative_to(TESTS)
        if path.parts[0] in FOLDERS:
            return FOLDERS.index(path.parts[0])
        return len(FOLDERS) + (path.as_posix() not in LONG_FILES)

    items.sort(key=rank)


def make_scheduler(config, log):
    """Return the object that distributes folders and files to the processes."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope_of(nodeid.split("::", 1)[0])

    return Scheduling(config, log)
