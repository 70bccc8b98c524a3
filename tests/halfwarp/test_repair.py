# SPDX-License-Identifier: Apache-2.0
"""The repair of a simulated installation: restored, removed and unchanged files."""

import os
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


class TestPathsOutside:
    """A RECORD is data of another package, and may name files of the user."""

    @pytest.fixture
    def home(self, tmp_path, monkeypatch):
        """A folder beside the environment, with a file of the user."""
        environment, home = tmp_path / "env", tmp_path / "home"
        home.mkdir()
        (home / "diary").write_text("mine")
        environment.mkdir()
        monkeypatch.setattr("sys.prefix", str(environment))
        return home

    @pytest.fixture
    def inner(self, home, make_site, monkeypatch):
        site = make_site(home.parent / "env/lib/site-packages")
        files = ("halfwarp/__init__.py", "cuda/core/__init__.py")
        site.install("halfwarp", "0.1.0", files)
        monkeypatch.setattr("sys.path", [str(site.folder)])
        monkeypatch.setattr(installation, "package_root", lambda: site.folder)
        archive.pack(site.folder)
        return site

    def record_also(self, site, *names):
        site.install("cuda-core", "1.2.2", ["cuda/core/_stream.so"])
        record = site.folder / "cuda_core-1.2.2.dist-info/RECORD"
        record.write_text("".join(f"{name},,\n" for name in names) + record.read_text())

    @pytest.mark.parametrize("form", ["absolute", "above", "link", "target of a link"])
    def test_a_file_of_the_user_remains_and_is_reported(self, home, inner, capsys, form):
        name = {
            "absolute": str(home / "diary"),
            "above": "cuda/../../../../home/diary",
            "link": "cuda/core/linked/diary",
            "target of a link": "cuda/core/alias",
        }[form]
        (inner.folder / "cuda/core/linked").symlink_to(home)
        (inner.folder / "cuda/core/alias").symlink_to(home / "diary")
        self.record_also(inner, name)
        assert repair.main(DO) == (0 if form == "target of a link" else 1)
        assert (home / "diary").read_text() == "mine"
        assert not (inner.folder / "cuda/core/_stream.so").exists()
        output = capsys.readouterr().err
        assert ("outside the environment and remain: " + name in output) is bool(output)

    def test_bytecode_outside_remains_and_is_no_failure(self, home, inner, capsys):
        bytecode = home / "cache/cuda/core/__init__.cpython-311.pyc"
        bytecode.parent.mkdir(parents=True)
        bytecode.touch()
        self.record_also(inner, os.path.relpath(bytecode, inner.folder))
        assert repair.main(DO) == 0
        assert bytecode.exists() and not capsys.readouterr().err

    def test_a_script_of_the_environment_is_removed(self, home, inner):
        script = home.parent / "env/bin/tool"
        script.parent.mkdir()
        script.write_text("#!")
        self.record_also(inner, "../../bin/tool")
        assert repair.main(DO) == 0
        assert not script.parent.exists() and script.parents[1].exists()

    @pytest.mark.parametrize("name", ["./halfwarp/__init__.py", "x/../halfwarp/__init__.py"])
    def test_another_spelling_of_our_file_is_protected(self, inner, name):
        self.record_also(inner, name)
        repair.main(DO)
        assert (inner.folder / "halfwarp/__init__.py").exists()

    def test_a_file_of_a_remaining_distribution_is_protected(self, inner):
        inner.install("numbers", "1.0", ["numbers/__init__.py"])
        self.record_also(inner, "numbers/__init__.py")
        assert repair.main(DO) == 0
        assert (inner.folder / "numbers/__init__.py").exists()

    def test_nothing_is_restored_through_a_link_out_of_the_environment(self, home, inner, capsys):
        package = inner.folder / "cuda/core"
        package.rename(home / "core")
        package.symlink_to(home / "core")
        (home / "core/__init__.py").write_text("# theirs")
        assert repair.main(DO) == 1
        assert (home / "core/__init__.py").read_text() == "# theirs"
        assert "cuda/core/__init__.py" in capsys.readouterr().err

    def test_no_stand_in_is_written_through_a_link(self, home, inner, capsys):
        (inner.folder / "cuda_core-1.2.2+halfwarp.dist-info").symlink_to(home)
        self.record_also(inner)
        assert repair.main(DO) == 1
        assert [path.name for path in home.iterdir()] == ["diary"]
        assert "halfwarp repair: cuda_core-1.2.2+halfwarp.dist-info" in capsys.readouterr().err
