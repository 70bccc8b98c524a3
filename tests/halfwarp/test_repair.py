# SPDX-License-Identifier: Apache-2.0
"""The repair of a simulated installation: restored, removed and unchanged files."""

from argparse import Namespace

import pytest

from halfwarp import archive, installation, repair

THEIRS = ("cuda/core/__init__.py", "cuda/core/cu13/_stream.so", "cuda/core/cu13/x/y.so")
DO, SAY = Namespace(dry_run=False), Namespace(dry_run=True)


@pytest.fixture
def packed(site):
    """Return the site after a build, with copies of the files that others may overwrite."""
    archive.pack(site.folder)
    return site


def test_the_copies_are_the_files_with_shared_names(packed):
    assert set(archive.read(packed.folder)) == {
        "cuda/core/__init__.py",
        "cuda/bindings/__init__.py",
    }


def test_an_intact_installation_is_unchanged(packed, capsys):
    assert repair.main(DO) == 0
    assert capsys.readouterr().out == "restored: 0 files\n"


def test_changed_and_missing_files_are_restored(packed, capsys):
    packed.write("cuda/core/__init__.py", "# edited\n")
    (packed.folder / "cuda/bindings/__init__.py").unlink()
    assert repair.main(DO) == 0
    assert capsys.readouterr().out == "restored: 2 files\n"
    for name in ("cuda/core/__init__.py", "cuda/bindings/__init__.py"):
        assert (packed.folder / name).read_text() == "# halfwarp\n"


def test_a_file_without_a_copy_is_named_with_a_remedy(packed, capsys):
    (packed.folder / "cuda/core/_core.so").unlink()
    assert repair.main(DO) == 1
    output = capsys.readouterr().err
    assert output.startswith("no copy of 1 files: cuda/core/_core.so; run: pip install")


def test_a_copy_that_does_not_match_the_record_is_not_used(packed):
    packed.write("cuda/core/__init__.py", "# another release\n")
    archive.pack(packed.folder)
    assert repair.main(DO) == 1
    assert (packed.folder / "cuda/core/__init__.py").read_text() == "# another release\n"


def test_foreign_files_are_removed_and_ours_are_kept(packed, capsys):
    packed.install("cuda-core", "1.2.2", THEIRS)
    assert repair.main(DO) == 0
    assert (packed.folder / "cuda/core/__init__.py").read_text() == "# halfwarp\n"
    assert not (packed.folder / "cuda/core/cu13").exists()
    assert (packed.folder / "cuda/core/_core.so").exists()
    assert installation.installed()["cuda-core"].version == "1.2.2+halfwarp"
    assert "cuda-bindings" not in installation.installed()
    assert capsys.readouterr().out.splitlines() == [
        "uninstalled: cuda-core 1.2.2",
        "installed: cuda-core 1.2.2+halfwarp, which stands in",
        "restored: 1 files",
    ]


def test_a_second_repair_does_nothing(packed):
    packed.install("cuda-core", "1.2.2", THEIRS)
    assert repair.main(DO) == 0
    record = (packed.folder / "halfwarp-0.1.0.dist-info/RECORD").read_text()
    assert "cuda_core-1.2.2+halfwarp.dist-info/METADATA,," in record
    assert repair.main(DO) == 0
    assert (packed.folder / "halfwarp-0.1.0.dist-info/RECORD").read_text() == record


def test_a_dry_run_reports_and_changes_nothing(packed, capsys):
    packed.install("cuda-core", "1.2.2", THEIRS)
    assert repair.main(SAY) == 1
    assert capsys.readouterr().out.splitlines()[0] == "would be uninstalled: cuda-core 1.2.2"
    assert (packed.folder / "cuda/core/__init__.py").read_text() == "# cuda-core\n"
    assert installation.installed()["cuda-core"].version == "1.2.2"


def test_a_dry_run_of_an_intact_installation_succeeds(packed):
    assert repair.main(SAY) == 0


@pytest.mark.parametrize("names", [[], ["cuda-bindings", "cuda-core"]])
def test_a_source_tree_is_refused(site, capsys, names):
    (site.folder / "halfwarp-0.1.0.dist-info/RECORD").write_text("")
    for name in names:
        site.install(name, "13.5.0")
    assert repair.main(DO) == 1
    output = capsys.readouterr().out
    assert "are of a source tree" in output
    assert ("pip uninstall -y cuda-bindings cuda-core" in output) is bool(names)
