# SPDX-License-Identifier: Apache-2.0
"""Arguments and usage of the command of the emulator."""

import sys
from pathlib import Path

USAGE = """\
usage: {0}          print the device table
       {0} run [--cov] [--OPTION VALUE]... SCRIPT [ARG]...
       {0} exec [--OPTION VALUE]... PROGRAM [ARG]...
       {0} profile [--json FILE] [--html FILE] PROGRAM [ARG]...    count accesses
       {0} --fidelity PROGRAM [ARG]...     list the PTX that it executed
       {0} path     print a folder for LD_LIBRARY_PATH
       {0} explore N [--] PROGRAM [ARG]...    run N seeds
       {0} sarif [--suppress FILE] REPORTS.jsonl OUTPUT.sarif

The page "Without a GPU" of the guide describes the options. Two examples:
       {0} exec --check race,init python program.py
       {0} run --devices 2 --mode adversarial --seed 7 script.py"""


def program_name():
    """Return the command as the user typed it."""
    program = Path(sys.argv[0])
    is_halfwarp = "halfwarp" in (program.name, program.parent.name)
    return "halfwarp emulate" if is_halfwarp else "python -m cuda.core.emulation"


def usage():
    return USAGE.format(program_name())


def read_options(arguments, switches=()):
    """Split arguments into options, and the script with its arguments. Switches have no value."""
    options, remaining = {}, list(arguments)
    while remaining and remaining[0].startswith("--"):
        name, has_value, value = remaining.pop(0)[2:].replace("-", "_").partition("=")
        if not has_value and name not in switches:
            value = remaining.pop(0) if remaining else ""
        options[name] = value
    return options, remaining


def explain_start(program, error):
    """Print why a program does not start; return its exit status, as a shell does."""
    print(f"{program_name()}: {program}: {error.strerror}", file=sys.stderr)
    return 127 if isinstance(error, FileNotFoundError) else 126
