# SPDX-License-Identifier: Apache-2.0
"""Changed, missing, foreign and broken files, and other distributions in our folders."""

import email.message  # noqa: F401, needed late by importlib.metadata, when no path leads to it
import sys

import pytest

from halfwarp.doctor.probes import files


@pytest.fixture(autouse=True)
def our_modules(monkeypatch):
    """The compiled modules of the test site are text; the modules of this process are valid."""
    monkeypatch.setattr(files, "broken_extensions", lambda root: {})
    monkeypatch.setattr(files, "check_one_place", lambda findings, root: None)


def look(findings):
    files.probe(findings)
    return findings.facts


def test_a_sound_installation_has_no_findings(site, findings):
    facts = look(findings)
    assert (findings.problems, findings.warnings) == ([], [])
    assert facts["recorded"] == 6
    assert not any(facts[key] for key in ("changed", "missing", "sharing", "not_ours"))


def test_a_changed_file_is_a_problem(site, findings):
    site.write("cuda/core/__init__.py", "# edited\n")
    assert look(findings)["changed"] == ["cuda/core/__init__.py"]
    (problem,) = findings.problems
    assert problem["what"] == "1 files differ from what was installed: cuda/core/__init__.py"
    assert problem["remedy"] == "halfwarp repair"


def test_a_missing_file_is_a_problem(site, findings):
    (site.folder / "cuda/core/_core.so").unlink()
    assert look(findings)["missing"] == ["cuda/core/_core.so"]
    assert "1 files are missing: cuda/core/_core.so" in findings.problems[0]["what"]


def test_nvidias_distribution_over_ours_is_a_problem(site, findings):
    over = ("cuda/bindings/__init__.py", "cuda/bindings/driver.so", "cuda/bindings/_lib/x.py")
    site.install("cuda-bindings", "13.5.0", over)
    facts = look(findings)
    assert facts["sharing"] == [{"name": "cuda-bindings", "version": "13.5.0", "files": 3}]
    assert facts["changed"] == ["cuda/bindings/__init__.py"]
    assert facts["nvidias_folders"] == ["cuda/bindings/_lib"]
    mixed, changed = findings.problems
    assert "cuda-bindings 13.5.0 installed 3 files into our folders" in mixed["what"]
    assert mixed["remedy"] == "halfwarp repair"
    assert "differ" in changed["what"]


def test_a_stand_in_shares_nothing(site, findings):
    site.install("cuda-bindings", "13.5.0+halfwarp")
    assert look(findings)["sharing"] == []
    assert not findings.problems


def test_files_of_an_uninstalled_distribution_are_found(site, findings):
    site.write("cuda/core/cu13/_device.so")
    site.write("cuda/core/__pycache__/x.pyc")
    assert look(findings)["not_ours"] == ["cuda/core/cu13/_device.so"]
    assert "folders (cuda/core/cu13)" in findings.problems[0]["what"]
    assert "cuda/core/cu13/_device.so" in findings.warnings[0]["what"]


def test_long_lists_are_shortened(site, findings):
    for number in range(8):
        site.write(f"cuda/core/x{number}.py")
    look(findings)
    assert findings.warnings[0]["what"].endswith("cuda/core/x4.py and 3 more")


def test_files_of_the_same_name_elsewhere_are_not_ours(site, findings, tmp_path, monkeypatch):
    other = tmp_path / "other"
    site.folder = other
    site.install("cuda-core", "1.2.2", ["cuda/core/__init__.py"])
    monkeypatch.setattr(sys, "path", [str(other), *sys.path])
    assert look(findings)["sharing"] == []


def test_a_module_that_cannot_be_imported_is_a_problem(site, findings, monkeypatch):
    monkeypatch.setattr(files, "broken_extensions", lambda root: {"cuda.core._core": "no symbol"})
    look(findings)
    assert "cuda.core._core: no symbol" in findings.problems[0]["what"]


def test_source_trees_have_no_record(findings):
    facts = look(findings)
    assert facts["changed"] == facts["missing"] == []
