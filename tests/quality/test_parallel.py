# SPDX-License-Identifier: Apache-2.0
"""A run of the whole suite uses two processes; other runs use one."""

import gc
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from .. import collection, parallel

pytest.importorskip("xdist")
SOURCES = pytest.Config.ArgsSource


def config_of(source, **changed):
    options = {"numprocesses": None, "collectonly": False, "usepdb": False}
    plugins = SimpleNamespace(hasplugin=lambda name: name == "xdist")
    option = SimpleNamespace(**{**options, **changed})
    return SimpleNamespace(args_source=source, option=option, pluginmanager=plugins)


@pytest.mark.parametrize(
    ("source", "changed", "expected"),
    [
        (SOURCES.TESTPATHS, {}, True),
        (SOURCES.ARGS, {}, False),
        (SOURCES.TESTPATHS, {"numprocesses": 0}, False),
        (SOURCES.TESTPATHS, {"usepdb": True}, False),
    ],
    ids=["all", "named", "chosen", "debugger"],
)
def test_only_a_run_of_all_tests_uses_processes(source, changed, expected):
    assert parallel.is_wanted(config_of(source, **changed)) is expected


def test_the_tests_of_a_file_or_of_a_folder_with_shared_builds_stay_together():
    assert parallel.scope_of("tests/core/test_buffer.py") == "tests/core/test_buffer.py"
    assert parallel.scope_of("tests/cython/test_cimport.py") == "tests/cython"
    assert parallel.scope_of("tests/packaging/deep/test_x.py") == "tests/packaging"


def test_the_folders_run_first_and_the_rest_keeps_its_order(root):
    names = ["core/a.py", "cython/b.py", "docs/c.py", "packaging/d.py", "quality/test_cpp.py"]
    items = [SimpleNamespace(path=Path(parallel.TESTS, name)) for name in names]
    parallel.folders_first(items)
    order = [item.path.relative_to(parallel.TESTS).as_posix() for item in items]
    assert order == [names[3], names[1], names[4], names[0], names[2]]


def test_the_folders_exist(root):
    assert all((root / "tests" / folder / "conftest.py").exists() for folder in parallel.FOLDERS)
    assert all((root / "tests" / path).exists() for path in parallel.LONG_FILES)


@pytest.mark.parametrize(
    ("source", "process", "expected"),
    [
        (SOURCES.TESTPATHS, "gw0", False),
        (SOURCES.TESTPATHS, "gw1", True),
        (SOURCES.TESTPATHS, "gw11", False),
        (SOURCES.ARGS, "gw1", False),
    ],
)
def test_one_process_of_a_run_of_all_tests_begins_at_the_end(source, process, expected):
    inputs = {"workerid": process}
    collection.choose_end(SimpleNamespace(config=config_of(source), workerinput=inputs))
    assert collection.begins_at_the_end(SimpleNamespace(workerinput=inputs)) is expected


NAMES = """
import pytest
from tests.collection import FromTheEnd

def pytest_configure(config):
    config.pluginmanager.register(FromTheEnd())

def pytest_collectstart(collector):
    if isinstance(collector, pytest.Module):
        print("collect", collector.nodeid)
"""


def test_the_second_process_collects_from_the_end_and_returns_the_same_order(tmp_path, root):
    files = ["a/b/test_1.py", "a/test_2.py", "c/test_3.py", "c/test_4.py", "test_5.py"]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("def test_z(): pass\ndef test_y(): pass\n")
    for folder in ("a", "a/b", "c"):
        (tmp_path / folder / "conftest.py").touch()
    (tmp_path / "names.py").write_text(NAMES)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "--collect-only", "-p", "names"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"},
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("collect ")] == files[::-1]
    tests = [f"{name}::{test}" for name in files for test in ("test_z", "test_y")]
    assert [line for line in lines if "::" in line] == tests


def test_bytecode_is_shared_outside_the_tree_and_removed(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv(collection.NO_FILES, "1")
    monkeypatch.delenv(collection.PREFIX, raising=False)
    cleanups = []
    collection.share_bytecode(SimpleNamespace(add_cleanup=cleanups.append))
    folder = Path(os.environ[collection.PREFIX])
    assert folder.is_dir() and collection.NO_FILES not in os.environ
    cleanups.pop()()
    assert not folder.exists() and collection.PREFIX not in os.environ
    assert os.environ[collection.NO_FILES] == "1"


def test_bytecode_beside_the_sources_needs_no_folder(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    cleanups = []
    collection.share_bytecode(SimpleNamespace(add_cleanup=cleanups.append))
    assert cleanups == []


def test_garbage_is_collected_again_after_the_collection_of_tests():
    with pytest.raises(ZeroDivisionError), collection.without_garbage_collection():
        assert not gc.isenabled()
        1 / 0  # noqa: B018
    assert gc.isenabled()
