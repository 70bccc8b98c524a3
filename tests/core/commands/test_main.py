# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core``: the table of commands."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
from cuda.core import __main__ as commands


def command(*arguments, **options):
    line = [sys.executable, "-m", "cuda.core", *arguments]
    return subprocess.run(line, capture_output=True, text=True, **options)


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_each_row_names_a_function(name):
    module, _, function = commands.COMMANDS[name][0].partition(":")
    assert callable(getattr(import_module(f"cuda.core.{module}"), function))


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_the_commands(capsys, option):
    assert commands.main([option]) == 0
    usage = capsys.readouterr().out
    assert all(f"python -m cuda.core {name}".strip() in usage for name in commands.COMMANDS)


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["doctor", "--xml"], ["doctor", "x"], ["shims"], ["shims", "-x"]]
)
def test_what_is_not_understood_shows_the_usage(capsys, arguments):
    assert commands.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("usage:")
    assert captured.out == ""


def test_a_command_that_is_none_is_named(capsys):
    assert commands.main(["nothing"]) == 2
    assert capsys.readouterr().err.endswith(
        "\npython -m cuda.core: there is no command 'nothing'\n"
    )


def test_the_status_is_that_of_the_report():
    done = command("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["is_healthy"] else 1)
    assert report["schema"] == 1
    assert set(report) == {"schema", "is_healthy", "problems", "warnings", "facts"}


def test_in_brief_it_is_a_few_lines():
    done = command()
    lines = done.stdout.splitlines()
    assert lines[0].startswith("halfwarp ")
    assert lines[1].startswith("backend: ")
    assert len(lines) < 10
    assert done.stderr == ""
