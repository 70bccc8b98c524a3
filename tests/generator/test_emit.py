# SPDX-License-Identifier: Apache-2.0
"""Generated files of a model: goldens, determinism, files that do not change."""

import os
import subprocess
import sys

import pytest

from generator import __main__ as command
from generator.emit import stubs
from generator.emit.cimport import class_pxd, cy_pxd, cy_pyx

EMITTERS = [cy_pxd, cy_pyx, class_pxd, stubs]


@pytest.mark.parametrize("emitter", EMITTERS, ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_library_with_every_feature_gives_the_golden_files(toy, golden, emitter):
    for path, text in emitter.emit({"toy": toy}).items():
        golden(path.rpartition("/")[2], text)


def test_every_generated_file_names_its_origin():
    for path, text in command.emit_all().items():
        if "/_include/" in path:  # copies of sources, for foreign packages
            continue
        first = text.partition("\n")[0]
        assert "enerated by `python -m generator emit`" in first, path


def test_generated_files_name_no_path_of_this_machine():
    for path, text in command.emit_all().items():
        assert str(command.ROOT) not in text, path


def test_another_process_generates_the_same_bytes():
    """Sets iterate in another order in another process."""
    script = (
        "import hashlib; from generator.__main__ import emit_all;"
        "print(hashlib.sha256(repr(sorted(emit_all().items())).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=command.ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_emitting_needs_only_the_standard_library():
    script = (
        "import sys; sys.path.insert(0, '.');"
        "from generator.__main__ import emit_all; emit_all();"
        "print(sys.modules.keys() & {'clang', 'Cython', 'numpy'})"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", script],
        cwd=command.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "set()"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Set up a root of its own, and emitters that write one file."""
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "emit_all", lambda *_: {"build/one.txt": "text\n"})
    return tmp_path


def test_an_unchanged_file_keeps_its_modification_time(tree):
    command.main(["emit"])
    path = tree / "build" / "one.txt"
    os.utime(path, (1, 1))
    command.main(["emit"])
    assert path.stat().st_mtime == 1


def test_a_file_that_changes_is_replaced(tree, monkeypatch):
    command.main(["emit"])
    monkeypatch.setattr(command, "emit_all", lambda *_: {"build/one.txt": "other\n"})
    command.main(["emit"])
    assert (tree / "build" / "one.txt").read_text() == "other\n"
    assert [p.name for p in (tree / "build").iterdir()] == ["one.txt"]


def test_check_passes_after_emit(tree):
    command.main(["emit"])
    assert command.main(["emit", "--check"]) == 0


def test_check_names_missing_and_stale_files(tree, monkeypatch, capsys):
    assert command.main(["emit", "--check"]) == 1
    assert capsys.readouterr().err == "missing: build/one.txt\n"
    command.main(["emit"])
    (tree / "build" / "one.txt").write_text("edited\n")
    assert command.main(["emit", "--check"]) == 1
    assert capsys.readouterr().err == "stale: build/one.txt\n"


def test_check_names_nondeterministic_files(tree, monkeypatch, capsys):
    command.main(["emit"])
    texts = iter(["text\n", "other\n"])
    monkeypatch.setattr(command, "emit_all", lambda *_: {"build/one.txt": next(texts)})
    assert command.main(["emit", "--check"]) == 1
    assert capsys.readouterr().err == "differs from run to run: build/one.txt\n"


def test_obsolete_copies_are_removed_when_all_are_generated(tree):
    stale = tree / "cuda" / "core" / "_include" / "old.hpp"
    stale.parent.mkdir(parents=True)
    stale.touch()
    command.main(["emit", "--only", "cimport"])
    assert stale.exists()
    command.main(["emit"])
    assert not stale.exists()


def test_declarations_for_cimport_need_no_optional_header(toy):
    toy.decisions.optional_headers = frozenset(toy.facts.headers)
    text = cy_pxd.emit({"toy": toy})["cuda/bindings/cytoy.pxd"]
    assert 'cdef extern from "toy.h"' not in text
    assert "#if __has_include(<toy.h>)\n    #include <toy.h>\n    #endif" in text


def test_another_project_is_extracted_emitted_and_reported(toy_folder, tmp_path):
    """Run the generator on a foreign library."""
    pytest.importorskip("clang.cindex", reason="extraction needs libclang (extra `dev`)")
    decisions = (toy_folder / "toy.toml").read_text()
    (tmp_path / "overrides").mkdir()
    (tmp_path / "overrides" / "toy.toml").write_text(
        decisions.replace('name = "toy"', 'name = "toy"\npackage = "toys.low"')
    )
    project = ["--project", str(tmp_path)]
    assert command.main([*project, "extract", "--include", str(toy_folder)]) == 0
    assert command.main([*project, "emit", "--only", "cimport", "--only", "stubs"]) == 0
    assert command.main([*project, "report"]) == 0
    files = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert files == {
        "overrides/toy.toml",
        "api/toy.api",
        "report.md",
        "build/generated/driver/cytoy_calls.h",
        "toys/low/cytoy.pxd",
        "toys/low/cytoy.pyx",
        "toys/low/toy.pxd",
        "toys/low/toy.pyi",
    }
