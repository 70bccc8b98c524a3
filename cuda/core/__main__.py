# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core [COMMAND]``: each command is a row of one table."""

import sys
from importlib import import_module

# command -> (module: function, arguments, what it does)
COMMANDS = {
    "": ("_doctor.command:brief", "", "versions, backend, devices and the first problem"),
    "doctor": ("_doctor.command:main", "[--json]", "what is installed, what works, what to do"),
    "shims": ("_commands.shims:main", "DIR", "write wheels that stand in for NVIDIA's packages"),
}


def usage():
    """One line for each command."""
    rows = [
        (f"python -m cuda.core {name} {arguments}".strip(), what)
        for name, (_, arguments, what) in COMMANDS.items()
    ]
    width = max(len(command) for command, _ in rows)
    return "usage:\n" + "\n".join(f"  {command:{width}}  {what}" for command, what in rows)


def main(arguments):
    """Run one command; its exit status."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name not in COMMANDS:
        asks = name in ("-h", "--help")
        complaint = "" if asks else f"\npython -m cuda.core: there is no command {name!r}"
        print(usage() + complaint, file=sys.stdout if asks else sys.stderr)
        return 0 if asks else 2
    module, _, function = COMMANDS[name][0].partition(":")
    return getattr(import_module(f"cuda.core.{module}"), function)(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
