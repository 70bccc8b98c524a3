# SPDX-License-Identifier: Apache-2.0
"""What ``HALFWARP_REPORT_LEAKS=1`` prints at the end of the process: memory still in use."""

import os
import sys
from weakref import WeakSet

VARIABLE = "HALFWARP_REPORT_LEAKS"
_watched = WeakSet()


def check_variable(environment):
    """ValueError for a value that is not understood. Host only."""
    value = environment.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE}={value} is not understood: it may be 0 or 1")


def watch(resource):
    """Report at the end what a resource has not got back by then, if that is asked for.

    Host only. `resource` has a method `report_leaks` and can be weakly referenced.
    """
    if os.environ.get(VARIABLE) == "1":
        _watched.add(resource)


def lines():
    """The report. Host only."""
    found = []
    for resource in list(_watched):
        records = resource.report_leaks()
        if records:
            total = sum(record.size for record in records)
            found.append(
                f"halfwarp: {len(records)} allocations of {resource!r}, {total} bytes, were not "
                "given back:"
            )
            found += map(str, records)
    return found


def print_at_exit():
    """Print the report, if there is anything to say. It never raises. Host only."""
    try:
        report = lines()
        if report and sys.stderr is not None:
            print("\n".join(report), file=sys.stderr, flush=True)
    except Exception as error:
        write_plainly(f"halfwarp: the report of allocations failed: {error!r}\n")


def write_plainly(text):
    """To the descriptor, where the object that stands for it may be gone."""
    try:
        os.write(2, text.encode())
    except OSError:
        return


def _after_fork():
    """In the child: what is in use is the parent's."""
    _watched.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
