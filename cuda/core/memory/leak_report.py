# SPDX-License-Identifier: Apache-2.0
"""The report of allocations in use that ``HALFWARP_REPORT_LEAKS=1`` prints at process exit."""

import os
import sys
from weakref import WeakSet

from cuda.core.arguments.shown import shown

VARIABLE = "HALFWARP_REPORT_LEAKS"
_watched = WeakSet()


def watch(resource):
    """Add a resource to the report at process exit, if the variable is 1.

    Host only. `resource` has a method `report_leaks` and supports weak references.
    """
    if os.environ.get(VARIABLE) == "1":
        _watched.add(resource)


def lines():
    """Return the lines of the report. Host only."""
    report = []
    for resource in list(_watched):
        records = resource.report_leaks()
        if records:
            total = sum(record.size for record in records)
            report.append(
                f"halfwarp: {len(records)} allocations of {shown(resource)}, {total} bytes, were "
                "not freed:"
            )
            report += map(str, records)
    return report


def print_at_exit():
    """Print the report unless it is empty. Never raises. Host only."""
    try:
        report = lines()
        if report and sys.stderr is not None:
            print("\n".join(report), file=sys.stderr, flush=True)
    except Exception as error:
        write_plainly(f"halfwarp: the report of allocations failed: {error!r}\n")


def write_plainly(text):
    """Write to file descriptor 2, since `sys.stderr` may be closed already."""
    try:
        os.write(2, text.encode())
    except OSError:
        return


def _after_fork():
    """Clear the report in the child process: the parent owns the allocations."""
    _watched.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
