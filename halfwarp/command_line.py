# SPDX-License-Identifier: Apache-2.0
"""The command ``halfwarp``, which is ``python -m halfwarp`` and ``python -m cuda.core`` as well."""

import argparse
import sys
from dataclasses import dataclass
from importlib import import_module

from halfwarp import __version__


@dataclass(frozen=True)
class Command:
    """One command: what it does, the function that runs it, the arguments that it takes.

    ``function`` is ``module:name`` below `halfwarp`; it takes the parsed arguments and returns the
    exit status. Without ``arguments``, it gets the list of what follows it, as it is written.
    """

    does: str
    function: str
    arguments: dict | None = None


COMMANDS = {
    "doctor": Command(
        "examine the installation, the driver and each library; a remedy for each problem",
        "doctor.command:doctor",
        {"--json": {"action": "store_true", "help": "print all that was found as JSON"}},
    ),
    "repair": Command(
        "put the files of halfwarp back that another package has overwritten or removed",
        "repair:main",
        {"--dry-run": {"action": "store_true", "help": "say what would be done, and do nothing"}},
    ),
    "shims": Command(
        "stand in for NVIDIA's packages where others require them",
        "shims:main",
        {
            "folder": {"nargs": "?", "metavar": "DIR", "help": "write the wheels there"},
            "--here": {
                "action": "store_true",
                "help": "install them beside halfwarp; uninstalling halfwarp takes them along",
            },
        },
    ),
    "cache": Command(
        "show what a folder of compiled programs has, or make it smaller",
        "forwarded:cache",
        {
            "folder": {
                "nargs": "?",
                "metavar": "DIR",
                "help": "the folder of a FileStreamProgramCache; without it, the one of this user",
            },
            "--prune": {
                "metavar": "BYTES",
                "help": "remove what was not used for the longest time, until no more than BYTES "
                "are left; 200K, 50M and 2G are understood",
            },
            "--clear": {"action": "store_true", "help": "remove all programs"},
        },
    ),
    "replay": Command(
        "make the calls of an allocation log once more, on any memory resource and settings",
        "replay.command:main",
        {
            "log": {
                "metavar": "LOG",
                "help": "what a LoggingMemoryResource wrote; it may be compressed by gzip",
            },
            "--resource": {
                "choices": ("pool", "driver", "virtual"),
                "default": "pool",
                "help": "PoolMemoryResource (the default), DeviceMemoryResource with a pool of its "
                "own, or VirtualMemoryResource",
            },
            "--option": {
                "action": "append",
                "metavar": "NAME=VALUE",
                "help": "a setting of the resource, initial_size=64M for instance; "
                "upstream=virtual for a pool on virtual memory",
            },
            "--json": {"metavar": "FILE", "help": "write all that was found there"},
            "--svg": {"metavar": "FILE", "help": "draw in-use and reserved bytes over time there"},
        },
    ),
    "emulate": Command(
        "run a script or any program on the emulated driver; the arguments of "
        "python -m cuda.core.emulation",
        "forwarded:emulate",
    ),
    "bench": Command(
        "measure; the arguments of python -m benchmarks (in a source tree)", "forwarded:bench"
    ),
}
BRIEF = Command("what is installed, in a few lines", "doctor.command:brief")


def main(arguments=None):
    """Run one command; its exit status. Without a command: what is installed, in a few lines."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command = COMMANDS.get(arguments[0]) if arguments else BRIEF
    if command is not None and command.arguments is None:
        given = arguments[1:]
    else:
        given = parser().parse_args(arguments)
        command = COMMANDS[given.command]
    module, _, name = command.function.partition(":")
    return getattr(import_module(f"halfwarp.{module}"), name)(given)


def parser():
    """All commands, with the help that each of them prints."""
    top = argparse.ArgumentParser(
        prog="halfwarp", description="Without a command: what is installed, in a few lines."
    )
    top.add_argument("--version", action="version", version=f"halfwarp {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        one = commands.add_parser(name, help=command.does, description=command.does)
        for argument, how in (command.arguments or {}).items():
            one.add_argument(argument, **how)
    return top
