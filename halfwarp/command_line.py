# SPDX-License-Identifier: Apache-2.0
"""The command ``halfwarp``, also ``python -m halfwarp`` and ``python -m cuda.core``."""

import argparse
import sys
from dataclasses import dataclass
from importlib import import_module

from halfwarp import __version__


@dataclass(frozen=True)
class Command:
    """A command: its help text, the function that runs it, and its arguments.

    ``function`` is ``module:name`` below `halfwarp`. It receives the parsed arguments and returns
    the exit status. Without ``arguments``, it receives the list of unparsed arguments.
    """

    does: str
    function: str
    arguments: dict | None = None


COMMANDS = {
    "doctor": Command(
        "examine the installation and suggest remedies",
        "doctor.command:doctor",
        {"--json": {"action": "store_true", "help": "print all findings as JSON"}},
    ),
    "repair": Command(
        "restore files that another package overwrote",
        "repair:main",
        {"--dry-run": {"action": "store_true", "help": "print the actions without executing them"}},
    ),
    "shims": Command(
        "install stand-ins for NVIDIA's packages",
        "shims:main",
        {
            "folder": {"nargs": "?", "metavar": "DIR", "help": "write the wheels there"},
            "--here": {
                "action": "store_true",
                "help": "install them beside halfwarp; uninstalling halfwarp removes them too",
            },
        },
    ),
    "cache": Command(
        "show or shrink a folder of compiled programs",
        "forwarded:cache",
        {
            "folder": {
                "nargs": "?",
                "metavar": "DIR",
                "help": "the folder of a FileStreamProgramCache (default: the user's cache)",
            },
            "--prune": {
                "metavar": "BYTES",
                "help": "remove the least recently used programs, until no more than BYTES "
                "are left; 200K, 50M and 2G are understood",
            },
            "--clear": {"action": "store_true", "help": "remove all programs"},
        },
    ),
    "replay": Command(
        "repeat the calls of an allocation log",
        "replay.command:main",
        {
            "log": {
                "metavar": "LOG",
                "help": "a log of LoggingMemoryResource, optionally compressed by gzip",
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
            "--json": {"metavar": "FILE", "help": "write the results there"},
            "--svg": {"metavar": "FILE", "help": "draw in-use and reserved bytes over time there"},
        },
    ),
    "emulate": Command(
        "run a script or any program on the emulated driver",
        "forwarded:emulate",
    ),
    "bench": Command("run the benchmarks of a source tree", "forwarded:bench"),
    "completion": Command(
        "print the completion of this command for a shell",
        "completion:main",
        {"shell": {"choices": ("bash", "zsh", "fish"), "help": "the shell that reads the text"}},
    ),
}
EXAMPLES = """\
examples:
  halfwarp doctor                        what is wrong with this installation?
  halfwarp emulate exec python app.py    run a program without a GPU
  eval "$(halfwarp completion bash)"     complete names with the Tab key"""
BRIEF = Command("summarize the installation", "doctor.command:brief")


class OneScreen(argparse.RawDescriptionHelpFormatter):
    """Puts each command and its description on one line."""

    def __init__(self, prog):
        super().__init__(prog, max_help_position=16)


def main(arguments=None):
    """Run a command and return its exit status. Without a command, summarize the installation."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command = COMMANDS.get(arguments[0]) if arguments else BRIEF
    if command is not None and command.arguments is None:
        parsed = arguments[1:]
    else:
        parsed = parser().parse_args(arguments)
        command = COMMANDS[parsed.command]
    module, _, name = command.function.partition(":")
    return getattr(import_module(f"halfwarp.{module}"), name)(parsed)


def parser():
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="halfwarp",
        description="Without a command: summarizes the installation.",
        epilog=EXAMPLES,
        formatter_class=OneScreen,
    )
    top.add_argument("--version", action="version", version=f"halfwarp {__version__}")
    commands = top.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    commands.required = True
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(name, help=command.does, description=command.does)
        for argument, settings in (command.arguments or {}).items():
            subparser.add_argument(argument, **settings)
    return top
