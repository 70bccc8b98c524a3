# SPDX-License-Identifier: Apache-2.0
"""Kinds of installations, their files, and lists of files in messages."""

import json

import pytest

from halfwarp import installation


@pytest.mark.parametrize("extra", [0, 1, 2])
def test_only_lists_of_more_than_five_files_are_shortened(extra):
    text = installation.shortened([f"file{i}" for i in range(5 + extra)])
    expected = "file0, file1, file2, file3, file4"
    assert text == expected + (f" and {extra} more" if extra else "")


class Distribution:
    """A distribution whose files have the given texts."""

    def __init__(self, **texts):
        self.texts = texts

    def read_text(self, name):
        return self.texts.get(name.partition(".")[0])


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        ({"direct_url": json.dumps({"dir_info": {"editable": True}})}, "editable"),
        ({"direct_url": json.dumps({"dir_info": {"editable": False}})}, "source tree"),
        ({"direct_url": json.dumps({"url": "file:///x.whl"})}, "source tree"),
        ({}, "source tree"),
        (None, "source tree"),
    ],
)
def test_the_kind_of_an_installation_without_our_files(monkeypatch, texts, kind):
    monkeypatch.setattr(installation, "our_wheel", lambda distributions: None)
    known = {} if texts is None else {installation.OUR_NAME: Distribution(**texts)}
    assert installation.kind_of_installation(known) == kind


def test_a_distribution_of_our_files_is_a_wheel(monkeypatch):
    monkeypatch.setattr(installation, "our_wheel", lambda distributions: Distribution())
    assert installation.kind_of_installation({}) == "wheel"


def test_changed_and_missing_files_are_those_with_a_hash(tmp_path):
    (tmp_path / "same").write_text("a")
    (tmp_path / "changed").write_text("b")
    (tmp_path / "unhashed").write_text("c")
    digest = "sha256=ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs"  # of "a", by sha256sum
    recorded = dict.fromkeys(("same", "changed", "absent"), digest)
    recorded |= {"unhashed": "", "absent and unhashed": ""}
    assert installation.hash_of(b"a") == digest
    assert installation.changed_files(tmp_path, recorded) == ["changed"]
    assert installation.missing_files(tmp_path, recorded) == ["absent"]


def test_the_root_of_the_package_has_its_folders():
    root = installation.package_root()
    assert (root / "halfwarp" / "__init__.py").is_file() and (root / "cuda" / "core").is_dir()
    assert installation.environment_roots()[0] == root.resolve()
