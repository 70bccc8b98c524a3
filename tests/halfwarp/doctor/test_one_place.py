# SPDX-License-Identifier: Apache-2.0
"""The folders from which our packages are imported, and the lowest versions that we require."""

from types import SimpleNamespace

import pytest

from halfwarp.doctor.probes import files, packages


@pytest.fixture
def check(tmp_path, findings, monkeypatch):
    """Return the problems where packages are imported from some folders."""

    def check(**folders):
        places = {f"cuda.{name}": folder and str(folder) for name, folder in folders.items()}
        monkeypatch.setattr(files, "place_of", places.get)
        files.check_one_place(findings, tmp_path)
        assert findings.facts == places
        return [(problem["what"], problem["remedy"]) for problem in findings.problems]

    return check


def test_packages_beside_halfwarp(check, tmp_path):
    assert check(bindings=tmp_path / "cuda/bindings", core=tmp_path / "cuda/core") == []


def test_a_package_that_is_missing(check, tmp_path):
    problem = ("cuda.bindings is missing", files.REPAIR)
    assert check(bindings=None, core=tmp_path / "cuda/core") == [problem]


def test_a_package_of_another_folder(check, tmp_path):
    ((what, remedy),) = check(bindings=tmp_path / "cuda/bindings", core="/other/cuda/core")
    assert what == f"halfwarp is in {tmp_path}, but cuda.core is imported from /other/cuda/core"
    assert remedy == "uninstall that installation, or remove one of the two folders from sys.path"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (SimpleNamespace(submodule_search_locations=["/a/b/../c", "/d"]), "/a/c"),
        (SimpleNamespace(submodule_search_locations=None), None),
        (SimpleNamespace(submodule_search_locations=[]), None),
        (None, None),
    ],
)
def test_the_place_of_a_package(monkeypatch, spec, expected):
    monkeypatch.setattr(files, "find_spec", lambda name: spec)
    assert files.place_of("package") == expected


def test_a_package_without_its_namespace_has_no_place(monkeypatch):
    def find(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(files, "find_spec", find)
    assert files.place_of("package") is None


@pytest.mark.parametrize(
    ("version", "says"),
    [("2.1", None), ("2.0", None), ("1.9", "1.9 is installed"), (None, "it is not installed")],
)
def test_what_halfwarp_requires(findings, version, says):
    ours = SimpleNamespace(requires=['extra-only; extra == "x"', "other", "needed >=2.0,<3"])
    installed = {"other": SimpleNamespace(version="1")}
    if version:
        installed["needed"] = SimpleNamespace(version=version)
    packages.check_own_requirements(findings, ours, installed)
    texts = [problem["what"] for problem in findings.problems]
    assert texts == [f"halfwarp needs needed>=2.0,<3, but {says}"][: says is not None]
