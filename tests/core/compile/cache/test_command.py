# SPDX-License-Identifier: Apache-2.0
"""``halfwarp cache``."""

import subprocess
import sys

import pytest
from cuda.core.compile.cache import command
from cuda.core.utils import FileStreamProgramCache


@pytest.fixture(params=["halfwarp", "cuda.core"])
def run(request):
    def run(*arguments, **environment):
        words = [sys.executable, "-m", request.param, "cache", *map(str, arguments)]
        return subprocess.run(
            words, capture_output=True, text=True, check=False, env=environment or None
        )

    return run


@pytest.fixture
def root(tmp_path):
    cache = FileStreamProgramCache(tmp_path)
    for key in "abc":
        cache[key] = b"x" * 1000
    return tmp_path


def test_it_shows_path_entries_and_bytes(run, root):
    done = run(root)
    assert done.returncode == 0 and done.stderr == ""
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert rows == [["path", str(root)], ["entries", "3"], ["bytes", "3000"]]


@pytest.mark.parametrize(("limit", "remaining"), [("2000", 2), ("1k", 1), ("1M", 3), ("0", 0)])
def test_prune_limits_the_size(run, root, limit, remaining):
    done = run(root, "--prune", limit)
    assert done.returncode == 0 and f"removed {3 - remaining} of 3" in done.stdout
    assert len(FileStreamProgramCache(root)) == remaining


def test_clear_removes_all(run, root):
    assert "removed 3 of 3" in run(root, "--clear").stdout
    assert len(FileStreamProgramCache(root)) == 0


def test_the_default_is_the_folder_of_the_user(run, tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path / "xdg")}
    done = run(**environment)
    assert done.returncode == 0 and "no cache exists yet" in done.stdout
    assert not (tmp_path / "xdg").exists()
    FileStreamProgramCache(tmp_path / "xdg/cuda-python/program-cache")["k"] = b"1"
    assert "bytes    1" in run(**environment).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prune", "many"], "--prune requires a number of bytes such as 50M, got 'many'"),
        (["--prune", "-5"], ""),
        (["--prune", "1", "--clear"], "exclude each other"),
    ],
)
def test_errors_are_reported_and_nothing_is_removed(run, root, arguments, message):
    done = run(root, *arguments)
    assert done.returncode != 0 and message in done.stderr
    assert len(FileStreamProgramCache(root)) == 3


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_a_folder_without_a_cache_is_left_unchanged(run, tmp_path, make):
    path = tmp_path / "documents"
    make(path)
    existed = path.exists()
    for arguments in ([], ["--clear"], ["--prune", "0"]):
        done = run(path, *arguments)
        assert done.returncode == 1 and "is not a program cache" in done.stderr
    assert path.exists() == existed and not (path / "entries").exists()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        (" 12 ", 12),
        ("3k", 3 * 1024),
        ("5M", 5 * 1024**2),
        ("2g", 2 * 1024**3),
        ("1T", None),
        ("K", None),
        ("-1", None),
        ("1.5M", None),
        ("", None),
    ],
)
def test_sizes_have_binary_units(text, number):
    assert command._bytes_of(text) == number


class TestStatus:
    """The status is 1 if the command complains, and else 0."""

    def test_a_cache_is_shown_and_pruned(self, root, capsys):
        assert command.main(str(root), None, False) == 0
        assert "removed" not in capsys.readouterr().out
        assert command.main(str(root), "1G", False) == 0
        assert capsys.readouterr().out.startswith("removed 0 of 3\n")

    def test_no_cache_of_the_user_is_no_error(self, monkeypatch, tmp_path, capsys):
        monkeypatch.setattr(command, "program_cache_folder", lambda: str(tmp_path))
        assert command.main(None, None, False) == 0
        assert capsys.readouterr().out == f"{tmp_path}: no cache exists yet\n"

    @pytest.mark.parametrize(
        ("prune", "clear", "message"),
        [
            ("1M", True, "--prune and --clear exclude each other"),
            ("0", True, "--prune and --clear exclude each other"),
            ("x", False, "--prune requires a number of bytes such as 50M, got 'x'"),
        ],
    )
    def test_wrong_arguments(self, root, capsys, prune, clear, message):
        assert command.main(str(root), prune, clear) == 1
        assert capsys.readouterr().err == f"halfwarp cache: {message}\n"

    def test_a_folder_that_is_no_cache_or_cannot_be_read(self, root, tmp_path, capsys, monkeypatch):
        assert command.main(str(tmp_path / "absent"), None, False) == 1
        assert "is not a program cache" in capsys.readouterr().err

        def fail(path):
            raise PermissionError("no access")

        monkeypatch.setattr(command, "FileStreamProgramCache", fail)
        assert command.main(str(root), None, False) == 1
        assert capsys.readouterr().err == "halfwarp cache: no access\n"
