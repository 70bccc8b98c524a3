# SPDX-License-Identifier: Apache-2.0
"""A second build, and a second installation, repeat only the steps whose inputs changed."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from build_support.make import make

ROOT = Path(__file__).resolve().parents[2]
# A part of C++ and a part of Cython, both small.
PARTS = "cuda.bindings.libcuda_preload,cuda.bindings.cycudla"
MODULES = ("setuptools", "Cython", "pip")


class Copy:
    """A target that a command copies from an input, and the number of runs."""

    def __init__(self, folder):
        self.source, self.target = folder / "source", folder / "build" / "target"
        self.source.write_text("1")
        self.log = folder / "log"
        self.log.write_text("")

    def make(self, *options):
        script = 'echo run >> "$0"; cp "$1" "${!#}"'
        command = ["bash", "-c", script, str(self.log), str(self.source), *options]
        make(self.target, [self.source], command)
        return len(self.log.read_text().splitlines())

    def set_age(self, seconds):
        """Date the source before (or, if negative, after) the target."""
        moment = self.target.stat().st_mtime - seconds
        os.utime(self.source, (moment, moment))


@pytest.fixture
def copied(tmp_path):
    copied = Copy(tmp_path)
    assert copied.make() == 1
    copied.set_age(5)
    return copied


def test_nothing_runs_twice(copied):
    assert copied.make() == copied.make() == 1
    assert copied.target.read_text() == "1"


def test_a_newer_input_is_built_again(copied):
    copied.source.write_text("2")
    copied.set_age(-5)
    assert copied.make() == 2
    assert copied.target.read_text() == "2"


def test_another_command_is_run(copied):
    assert copied.make("-O2") == copied.make("-O2") == 2
    assert copied.make() == 3


def test_a_missing_target_or_input_is_built_again(copied):
    copied.target.unlink()
    assert copied.make() == 2
    copied.source.unlink()
    with pytest.raises(subprocess.CalledProcessError):
        copied.make()
    assert copied.target.read_text() == "1"  # a failed command leaves the old file


def copy_tree(target):
    """Copy the files that git knows, with their times."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def install(tree, python):
    """Install a tree in place; return the objects and libraries with the times of their builds."""
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--no-index"]
    mode = ["--no-build-isolation", "--config-settings", "editable_mode=compat", "-e", str(tree)]
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", *options, *mode]
    flags = {"CFLAGS": "-O0", "CXXFLAGS": "-O0", "HALFWARP_EXTENSIONS": PARTS}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **flags})
    assert done.returncode == 0, done.stdout + done.stderr
    built = [*(tree / "build").rglob("*.o"), *(tree / "cuda").rglob("*.so")]
    return {path.relative_to(tree).as_posix(): path.stat().st_mtime_ns for path in built}


@pytest.mark.slow
def test_a_second_installation_compiles_only_what_changed(tmp_path):
    for module in MODULES:
        pytest.importorskip(module, reason=f"a build needs {module}")
    tree, environment = tmp_path / "tree", tmp_path / "environment"
    copy_tree(tree)
    venv.create(environment)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    paths = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "borrowed.pth").write_text("\n".join(paths) + "\n")
    python = environment / "bin" / "python"

    first = install(tree, python)
    assert len(first) >= 5
    assert install(tree, python) == first

    source = tree / "cpp" / "preload" / "entries.cpp"
    source.write_text(source.read_text() + "\n// changed\n")
    third = install(tree, python)
    changed = {name for name in first if third[name] != first[name]}
    assert third.keys() == first.keys()
    assert {Path(name).name for name in changed} == {"entries.cpp.o", "libcuda_preload.so"}
