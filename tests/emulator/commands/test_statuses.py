# SPDX-License-Identifier: Apache-2.0
"""Statuses and messages of the functions of ``python -m cuda.core.emulation``."""

import os
import sys
import zipfile
from types import SimpleNamespace

import pytest
from cuda.core.emulation import command


def test_the_columns_of_the_table_are_aligned(capsys):
    assert command.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert not [line for line in lines if line.split()[0] == "MAX"]
    longest = max(lines[1:], key=lambda line: len(line.split()[0]))
    assert longest[len(longest.split()[0])] == " "


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["-h"], 0), (["--help"], 0), (["walk"], 2), (["run"], 2), (["exec"], 2)],
)
def test_the_usage_is_an_answer_or_an_error(capsys, arguments, status):
    assert command.main(arguments) == status
    output = capsys.readouterr()
    assert command.usage() == (output.err if status else output.out).removesuffix("\n")
    assert not (output.out if status else output.err)


def test_the_path_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(command, "driver_folder", lambda: "/folder")
    assert command.main(["path"]) == 0
    assert capsys.readouterr().out == "/folder\n"


@pytest.mark.parametrize("name", ["run", "exec"])
def test_a_wrong_option_is_a_plain_error(capsys, name):
    assert command.main([name, "--mode", "fast", sys.executable]) == 2
    assert capsys.readouterr().err.startswith(f"{command.program_name()}: ")


def test_a_script_that_python_cannot_run_is_a_plain_error(capsys, tmp_path):
    assert command.main(["run", str(tmp_path)]) == 2
    assert "is a folder without __main__.py" in capsys.readouterr().err


def test_a_program_that_cannot_start_has_the_status_of_a_shell(tmp_path):
    assert command.main(["exec", str(tmp_path / "absent")]) == 127
    assert command.main(["exec", str(tmp_path)]) == 126


class TestProblems:
    @pytest.mark.parametrize("name", command.MAIN_FILES)
    def test_what_python_can_run_has_none(self, tmp_path, name):
        script = tmp_path / "script.py"
        script.write_text("")
        (tmp_path / name).write_text("")
        with zipfile.ZipFile(tmp_path / "archive", "w") as archive:
            archive.writestr("other.py", "")
            archive.writestr(name, "")
        for path in (script, tmp_path, tmp_path / "archive"):
            assert command.problem_of(str(path)) is None

    def test_what_python_cannot_run_has_one(self, tmp_path, monkeypatch):
        assert command.problem_of(str(tmp_path / "absent")).startswith("there is no script")
        with zipfile.ZipFile(tmp_path / "archive", "w") as archive:
            archive.writestr("other.py", "")
        assert "is a zip archive without" in command.problem_of(str(tmp_path / "archive"))
        assert "is a folder without" in command.problem_of(str(tmp_path))
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        assert command.problem_of(str(tmp_path)).startswith("no permission to read")


@pytest.fixture
def emulator(monkeypatch):
    """The reports of a running emulator, and the calls to it."""
    state = SimpleNamespace(leaks=[], faults=0, calls=[], is_running=True)
    monkeypatch.setattr(command.control, "settle", lambda: state.calls.append("settle"))
    monkeypatch.setattr(command.control, "enable", lambda **options: state.calls.append(options))
    monkeypatch.setattr(command.control, "stats", lambda: {"faults": state.faults})
    monkeypatch.setattr(command.library, "is_running", lambda: state.is_running)

    def leaks():
        state.calls.append("leaks")
        return state.leaks

    monkeypatch.setattr(command.control, "leaks", leaks)
    return state


LEAK = SimpleNamespace(kind="stream", id=31, bytes=0, created_at="")
MEMORY = SimpleNamespace(kind="memory", id=32, bytes=64, created_at="a.py:7")


class TestReports:
    def test_leaks_are_printed_after_all_work(self, emulator, capsys):
        emulator.leaks = [LEAK, MEMORY]
        assert command.was_anything_reported() is True
        assert emulator.calls == ["settle", "leaks"]
        assert capsys.readouterr().err.splitlines() == [
            "emulator: leak: stream 0x1f",
            "emulator: leak: memory 0x20, 64 bytes, created at a.py:7",
        ]

    @pytest.mark.parametrize(
        ("faults", "is_running"), [(0, True), (1, True), (2, True), (1, False)]
    )
    def test_a_fault_counts_while_the_emulator_runs(self, emulator, faults, is_running):
        emulator.faults, emulator.is_running = faults, is_running
        assert command.was_anything_reported() is (faults > 0 and is_running)

    @pytest.mark.parametrize(
        ("end", "faults", "status"),
        [("", 0, 0), ("", 1, 1), ("raise SystemExit(3)", 1, 3), ("raise SystemExit('no')", 0, 1)],
    )
    def test_the_status_of_a_script(
        self, emulator, monkeypatch, tmp_path, capsys, end, faults, status
    ):
        script = tmp_path / "script.py"
        script.write_text(f"import sys; assert sys.argv == {[str(script), '-a']}\n{end}\n")
        monkeypatch.setattr(sys, "argv", [""])
        monkeypatch.setattr(sys, "path", ["", *sys.path])
        emulator.faults = faults
        assert command.main(["run", "--seed", "9", str(script), "-a"]) == status
        assert ("no\n" in capsys.readouterr().err) is ("'no'" in end)
        assert emulator.calls[0] == {"seed": "9"}
        assert sys.path[0] == str(tmp_path)

    @pytest.mark.parametrize("is_measured", [False, True])
    def test_only_an_option_measures_the_coverage(
        self, emulator, monkeypatch, tmp_path, is_measured
    ):
        from halfwarp.coverage import script as coverage_script

        script = tmp_path / "script.py"
        script.write_text("")
        monkeypatch.setattr(sys, "argv", [""])
        monkeypatch.setattr(sys, "path", ["", *sys.path])
        monkeypatch.setattr(coverage_script, "measure", lambda run: 40 + run())
        options = ["--cov"] if is_measured else []
        assert command.main(["run", *options, str(script)]) == (40 if is_measured else 0)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--devices 3 exec a b", "exec --devices 3 a b"),
        ("--devices=3 run a", "run --devices=3 a"),
        ("--devices 3 walk exec", "--devices 3 walk exec"),
        ("--devices 3", "--devices 3"),
        ("run a --devices 3", "run a --devices 3"),
    ],
)
def test_options_before_the_command_move_behind_it(arguments, expected):
    assert command.options_after_command(arguments.split()) == expected.split()


def test_the_list_of_executed_ptx_is_an_option_of_a_program(monkeypatch):
    monkeypatch.setattr(command, "run_program", lambda arguments: ["ran", *arguments])
    result = command.main(["--fidelity", "program", "argument"])
    assert result == ["ran", "--fidelity", "1", "program", "argument"]


@pytest.mark.parametrize(
    ("end", "status"),
    [(None, 0), (SystemExit(), 0), (SystemExit(0), 0), (SystemExit(4), 4), (KeyError("k"), 1)],
)
def test_a_guarded_script_has_a_status(capsys, end, status):
    def run_path(script, run_name):
        assert (script, run_name) == ("script.py", "__main__")
        if end is not None:
            raise end

    assert command.run_guarded(run_path, "script.py") == status
    assert ("KeyError: 'k'" in capsys.readouterr().err) is isinstance(end, KeyError)
