# SPDX-License-Identifier: Apache-2.0
"""The command ``profile``: run a program, and print the counters of its kernels."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cuda.core.emulation import library
from cuda.core.emulation.arguments import explain_start, program_name, read_options, usage
from cuda.core.emulation.environment import environment_of_programs
from cuda.core.emulation.profiling import page, text
from cuda.core.emulation.profiling.profile import Profile

OUTPUTS = ("json", "html")


def main(arguments):
    """Run ``profile [--json FILE] [--html FILE] [--OPTION VALUE]... PROGRAM [ARG]...``."""
    options, program = read_options(arguments)
    outputs = {name: Path(options.pop(name)) for name in OUTPUTS if name in options}
    if not program:
        print(usage(), file=sys.stderr)
        return 2
    try:
        require_places(outputs.values())
        chosen = {name: library.check_option(name, value) for name, value in options.items()}
        status, profile = run(program, chosen)
        if profile is not None:
            print_profile(profile)
            write(profile, outputs)
    except (ValueError, RuntimeError, OSError) as error:
        print(f"{program_name()}: {error}", file=sys.stderr)
        return 2
    return status


def require_places(paths):
    """Raise OSError if a file cannot be written, before a long run instead of after it."""
    for path in paths:
        place = path if path.exists() else path.parent
        if path.is_dir() or not os.access(place, os.W_OK):
            raise OSError(f"{os.fspath(path)!r} cannot be written")


def run(program, options):
    """Run a program or script; return its exit status, and the profile of its processes.

    The profile is None if the program does not start.
    """
    if program[0].endswith(".py"):
        program = [sys.executable, *program]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "profile.jsonl")
        environment = environment_of_programs({**options, "profile": os.fspath(path)})
        try:
            status = subprocess.run(program, env=environment, check=False).returncode
        except OSError as error:
            return explain_start(program[0], error), None
        lines = path.read_text().splitlines() if path.exists() else []
    # A signal that ended the program is a negative number.
    status = 128 - status if status < 0 else status
    return status, Profile.from_records([json.loads(line) for line in lines])


def print_profile(profile):
    """Print the table of the kernels, and one of the lines of each."""
    print(profile)
    for kernel in profile:
        print(f"\n{kernel.name}\n{text.table_of_lines(kernel)}")


def write(profile, outputs):
    """Write the files that were asked for."""
    if "json" in outputs:
        outputs["json"].write_text(json.dumps(profile.as_dict(), indent=1) + "\n")
    if "html" in outputs:
        outputs["html"].write_text(page.page_of(profile.kernels, profile.advice), encoding="utf-8")
