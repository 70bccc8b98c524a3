# SPDX-License-Identifier: Apache-2.0
"""The command ``halfwarp``: its table, help, errors, and aliases."""

import json
import subprocess
import sys
from importlib import import_module

import pytest

from halfwarp import __version__, command_line


def run(module, *arguments):
    line = [sys.executable, "-m", module, *arguments]
    return subprocess.run(line, capture_output=True, text=True)


def main(*arguments):
    """Return the exit status, also where argparse exits."""
    try:
        return command_line.main(list(arguments))
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize("name", command_line.COMMANDS)
def test_each_row_names_a_function(name):
    module, _, function = command_line.COMMANDS[name].function.partition(":")
    assert callable(getattr(import_module(f"halfwarp.{module}"), function))


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_the_commands(capsys, option):
    assert main(option) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.startswith("    ")} >= {
        *command_line.COMMANDS
    }


def test_help_fits_on_one_screen_and_has_examples(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    main("--help")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("  halfwarp emulate exec python") for line in lines)


def completed(*words):
    """Return what bash offers for the last of the words."""
    script = (
        f'eval "$({sys.executable} -m halfwarp completion bash)"\n'
        f"COMP_WORDS=({' '.join(words)}) COMP_CWORD={len(words) - 1}\n"
        '_halfwarp; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_and_their_arguments():
    assert completed("halfwarp", "''")[: len(command_line.COMMANDS)] == [*command_line.COMMANDS]
    assert completed("halfwarp", "rep") == ["repair", "replay"]
    assert completed("halfwarp", "emulate", "e") == ["exec", "explore"]
    assert completed("halfwarp", "shims", "--h") == ["--here", "--help"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_every_command(capsys, shell):
    assert main("completion", shell) == 0
    printed = capsys.readouterr().out
    assert [name for name in command_line.COMMANDS if name not in printed] == []


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run"], ["run", "absent.py"], ["exec", "--seed", "x", "y"]]
)
def test_emulate_names_itself_as_it_was_called(arguments):
    done = run("halfwarp", "emulate", *arguments)
    assert "halfwarp emulate" in done.stdout + done.stderr
    assert "cuda.core.emulation" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["doctor", "repair", "shims"])
def test_each_command_has_help(capsys, name):
    assert main(name, "--help") == 0
    assert capsys.readouterr().out.startswith(f"usage: halfwarp {name}")


@pytest.mark.parametrize("arguments", [["emulate", "--help"], ["bench", "--help"]])
def test_forwarded_commands_show_the_help_of_their_programs(arguments):
    done = run("halfwarp", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.lower().startswith("usage:")


def test_emulate_passes_all_arguments_on(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.argv[1:]); sys.exit(3)")
    done = run("halfwarp", "emulate", "run", "--seed", "5", str(script), "--mode", "x")
    assert (done.stdout, done.returncode) == ("['--mode', 'x']\n", 3)


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["doctor", "--xml"], ["doctor", "x"], ["shims", "-x"], ["repair", "x"]],
)
def test_invalid_arguments_show_the_usage(capsys, arguments):
    assert main(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("usage: halfwarp")
    assert captured.out == ""


def test_the_version_equals_the_distribution(capsys):
    assert main("--version") == 0
    assert capsys.readouterr().out == f"halfwarp {__version__}\n"


@pytest.mark.parametrize("module", ["halfwarp", "cuda.core"])
def test_the_status_comes_from_the_report(module):
    done = run(module, "doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["is_healthy"] else 1)
    assert report["schema"] == 1
    assert set(report) == {"schema", "is_healthy", "problems", "warnings", "facts"}


def test_the_brief_report_has_a_few_lines():
    done = run("halfwarp")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("halfwarp ")
    assert lines[1].startswith("backend: ")
    assert len(lines) < 10
    assert done.stderr == ""


def test_the_command_imports_nothing_of_cuda(run_python):
    code = """
import sys
from halfwarp import archive, command_line, damage, installation, pytest_plugin, repair, shims
from halfwarp.doctor import command
print([name for name in sys.modules if name.partition(".")[0] == "cuda"])
"""
    assert run_python(code).strip() == "[]"
