# SPDX-License-Identifier: Apache-2.0
"""Console samples of the guide equal the commands' output, except numbers, paths and packages."""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs").rglob("*.rst"))
BLOCK = re.compile(r"^\.\. code-block:: console\n\n((?:(?:   .*)?\n)+)", re.M)
# Sections that depend on the installation: only the form of their lines is compared.
LOCAL = {"Packages", "Files", "Driver", "Libraries", "Environment", "Problems"}
FORMS = {
    "Packages": r"halfwarp .*|(wheel|editable|source tree) in /.*|[a-z0-9-]+ [\d.]+",
    "Files": r"\d+ recorded, \d+ changed, \d+ missing, \d+ not ours|no record of .*",
    "Driver": r"CUDA [\d.]+, /.*|kernel module [\d.]+|lacks \d+ of \d+ .*|not found|looked in .*",
    "Libraries": r"\w+ +[\d.]+ +/.* \(.*\)|\w+ +not found|looked in .*",
    "Environment": r"\w+=.*",
    "Problems": r"none|\d+\. .*| +remedy: .*",
}


def samples():
    """Return (command, environment, output) of each sample in the guide."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text() + "\n"):
            prompt, _, output = textwrap.dedent(block).partition("\n")
            words = shlex.split(prompt.removeprefix("$ "))
            split = words.index("halfwarp")
            yield words[split:], dict(word.split("=") for word in words[:split]), output.strip("\n")


def masked(text):
    """Mask the parts that differ between machines."""
    text = re.sub(r"/[\w./+-]+", "PATH", text)
    text = re.sub(r"Linux-\S+", "PLATFORM", text)
    return re.sub(r"\d+(\.\d+)*", "N", text)


def sections(page):
    """Map the titles of the sections to their lines."""
    parts = (part.split("\n") for part in page.split("\n\n"))
    return {title: [line.removeprefix("  ") for line in lines] for title, *lines in parts}


def run(command, environment):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HALFWARP_", "CUDA_"))}
    line = [sys.executable, "-m", *command]
    return subprocess.run(line, env={**inherited, **environment}, capture_output=True, text=True)


SAMPLES = list(samples())


def test_the_guide_shows_both_commands():
    shown = [" ".join(command) for command, _, _ in SAMPLES]
    assert shown == ["halfwarp", "halfwarp doctor"]


@pytest.mark.parametrize(("command", "environment", "output"), SAMPLES, ids=["brief", "doctor"])
def test_a_sample_equals_the_output_of_the_command(command, environment, output):
    done = run(command, environment)
    printed = done.stdout.rstrip("\n")
    if "doctor" not in command:
        assert masked(printed) == masked(output)
        return
    ours, theirs = sections(output), sections(printed)
    assert list(ours) == list(theirs)
    for title in ours:
        if title in LOCAL:
            for line in ours[title] + theirs[title]:
                assert re.fullmatch(FORMS[title], line), (title, line)
        elif title == "Warnings":  # there may be more lines
            assert {line[2:] for line in ours[title]} <= {line[2:] for line in theirs[title]}
        else:
            assert masked("\n".join(ours[title])) == masked("\n".join(theirs[title]))
