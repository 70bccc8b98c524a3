# SPDX-License-Identifier: Apache-2.0
"""The commands on the pages exist: modules, files, subcommands, options, extras."""

import importlib.util
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from functools import cache
from pathlib import Path

import pytest
from cuda.core.compile.cache.folders import program_cache_folder

from halfwarp.command_line import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.rst")), *sorted(ROOT.glob("*.md"))]
BLOCK = re.compile(r"^\.\. code-block:: (?:sh|console)\n\n((?:(?:   .*)?\n)+)", re.M)
CACHE = re.compile(r"~/\.cache/([\w/-]+)")
# Foreign programs, and files that a page asks its reader to write.
OTHERS = {"cmake", ".", "export", "mpiexec", "pytest", "check-jsonschema", "./program"}
OTHERS |= {"conda", "compute-sanitizer", "cuda-gdb", "nsys", "ncu", "mkdir", "ln"}
WRITTEN = {"first.py", "tutorial.py", "program.py"}
PACKAGES = {"pip", "pytest", "venv", "sphinx", "mpi4py"}


def commands():
    """Return (page, words) of each command in the blocks of the pages, without console output."""
    for path in PAGES:
        text = path.read_text() + "\n"
        if path.suffix == ".md":
            blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
        else:
            blocks = [textwrap.dedent(block) for block in BLOCK.findall(text)]
        for block in blocks:
            lines = block.replace("\\\n", " ").splitlines()
            is_console = any(line.startswith("$ ") for line in lines)
            for line in lines:
                if not is_console or line.startswith("$ "):
                    for part in re.split(r"&&|\|(?!\|)", line.removeprefix("$ ")):
                        words = without_settings(shlex.split(part, comments=True))
                        if words:
                            yield path.name, words


def without_settings(words):
    """Remove leading ``NAME=value`` words."""
    return words[1:] and without_settings(words[1:]) if words and "=" in words[0] else words


@cache
def help_of(*command):
    done = subprocess.run(
        [sys.executable, *command, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    if done.returncode != 0 and "ModuleNotFoundError: No module named" in done.stderr:
        pytest.skip(f"{' '.join(command)} needs the extra dev")
    return done.stdout + done.stderr


def wrong_in(words):
    """Return the invalid part of a command, or None."""
    program, *args = words
    name = program.rpartition("/")[2]
    if name == "pip":
        return wrong_in_pip(args)
    if name == "halfwarp":
        return None if not args or args[0] in COMMANDS else f"no subcommand {args[0]}"
    if name in ("python", "python3", "$PYTHON"):
        return wrong_in_python(args)
    if name == "pytest":
        return wrong_in_options(args, "-m", "pytest")
    if program.startswith((".ci/", "examples/")):
        return None if (ROOT / program).exists() else f"no file {program}"
    return None if program in OTHERS else f"unknown program {program}"


def wrong_in_python(words):
    if "-m" not in words:
        (file, *_) = [word for word in words if word.endswith(".py")]
        return None if file in WRITTEN or (ROOT / file).exists() else f"no file {file}"
    module, *args = words[words.index("-m") + 1 :]
    if module == "pip":
        return wrong_in_pip(args)
    if module in PACKAGES:
        return None
    if importlib.util.find_spec(module) is None:
        return f"no module {module}"
    return wrong_in_options(args, "-m", module)


def wrong_in_options(words, *command):
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    text = help_of(*command) if options else ""
    options = [option for option in options if not option.startswith("--cov")]  # of pytest-cov
    missing = [option for option in options if option not in text]
    return f"no option {missing}" if missing else None


def wrong_in_pip(words):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = set(project["project"]["optional-dependencies"])
    text = " ".join(words)
    named = {
        e for each in re.findall(r"(?:\.|halfwarp)\[([\w,]+)\]", text) for e in each.split(",")
    }
    groups = set(re.findall(r"--group (\w+)", text)) - set(project["dependency-groups"])
    return f"no extra or group {named - extras | groups}" if named - extras or groups else None


FOUND = list(commands())


def test_the_pages_have_commands():
    assert len(FOUND) > 60


@pytest.mark.parametrize("page", sorted({page for page, _ in FOUND}))
def test_the_commands_of_a_page_exist(page):
    wrong = [(" ".join(words), w) for p, words in FOUND if p == page and (w := wrong_in(words))]
    assert wrong == []


@pytest.mark.parametrize(
    "line", ["halfwarp replya", "python -m halfwrap", "pip install '.[cu14]'", "pytest --cuda-emu2"]
)
def test_a_nonexistent_command_is_found(line):
    assert wrong_in(shlex.split(line))


def test_the_pages_name_the_folder_of_the_caches(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/user")
    folders = {f"~/.cache/{name}" for p in PAGES for name in re.findall(CACHE, p.read_text())}
    known = program_cache_folder().replace("/home/user", "~")
    assert {known, str(Path(known).parent)} == folders
