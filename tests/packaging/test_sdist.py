# SPDX-License-Identifier: Apache-2.0
"""The sdist contains the tracked files, and a wheel built from it equals the wheel of the tree."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path, PurePath

import pytest

MADE = {"PKG-INFO", "setup.cfg"}


@pytest.fixture(scope="module")
def sdist(root, tmp_path_factory):
    # searched, not imported: setuptools refuses if another distutils was imported first
    if not importlib.util.find_spec("setuptools"):
        pytest.skip("a build needs setuptools")
    folder = tmp_path_factory.mktemp("sdist")
    code = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", str(path), "-C", str(folder)], check=True)
    (unpacked,) = (each for each in folder.iterdir() if each.is_dir())
    return unpacked


@pytest.fixture
def tree(sdist, tmp_path):
    """Return a copy to build in."""
    return shutil.copytree(sdist, tmp_path / "tree")


@pytest.fixture(scope="module")
def names(sdist):
    paths = [path.relative_to(sdist) for path in sdist.rglob("*") if path.is_file()]
    return {str(p) for p in paths if not p.parts[0].endswith(".egg-info")} - MADE


@pytest.fixture(scope="module")
def tracked(root):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return {name for name in listed.stdout.splitlines() if (root / name).is_file()}


def test_it_contains_all_tracked_files(names, tracked):
    assert sorted(tracked - names) == []


def test_it_contains_nothing_else(names, tracked):
    assert sorted(names - tracked) == []


def collected(folder, target):
    """Return the files of a build besides the extensions: name -> bytes."""
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", target]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    paths = [path for path in Path(target).rglob("*") if path.is_file()]
    return {str(path.relative_to(target)): path.read_bytes() for path in paths}


def without_extensions(content):
    return {name: data for name, data in content.items() if PurePath(name).suffix != ".so"}


def test_a_wheel_from_it_equals_the_wheel_of_the_tree(tree, wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        of_tree = {
            info.filename: archive.read(info)
            for info in archive.infolist()
            if info.filename.startswith(("cuda/", "halfwarp/"))
            and not info.filename.endswith(".xz")
        }
    of_sdist = without_extensions(collected(tree, tmp_path / "collected"))
    assert of_sdist.keys() == without_extensions(of_tree).keys()
    assert [name for name in of_sdist if of_sdist[name] != of_tree[name]] == []


@pytest.mark.slow
def test_it_builds_from_its_build_requirements_alone(root, tree, wheel, tmp_path):
    """The build uses an environment of its own, and no package index after the download."""
    required = tomllib.loads((root / "pyproject.toml").read_text())["build-system"]["requires"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    fetched = [*pip, "download", "--quiet", "-d", str(tmp_path / "fetched"), *required]
    if subprocess.run(fetched, capture_output=True).returncode != 0:
        pytest.skip("the build requirements are not to be had")
    options = ["--no-deps", "--quiet", "--no-index", "--find-links", str(tmp_path / "fetched")]
    command = [*pip, "wheel", *options, "-w", str(tmp_path), str(tree)]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(result) as ours, zipfile.ZipFile(wheel) as theirs:
        assert sorted(ours.namelist()) == sorted(theirs.namelist())


def test_the_build_uses_the_flags_of_the_environment(tree):
    names = {"HALFWARP_EXTENSIONS": "cuda.bindings.cycudla"}
    flags = {"CPPFLAGS": "-DOF_CPP", "CFLAGS": "-DOF_C", "CXXFLAGS": "-DOF_CXX"}
    flags["LDFLAGS"] = "-Wl,-soname,chosen.so"
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    environment = {**os.environ, **names, **flags}
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    (built,) = tree.rglob("cycudla*.so")
    assert b"chosen.so" in built.read_bytes()
    records = list((tree / "build" / "objects").rglob("*.o.cmd"))
    assert records
    for record in records:
        words = set(shlex.split(record.read_text()))
        of_cxx = {"-DOF_CXX"} if ".cpp" in record.name else set()
        assert words & {"-DOF_CPP", "-DOF_C", "-DOF_CXX"} == {"-DOF_CPP", "-DOF_C"} | of_cxx
