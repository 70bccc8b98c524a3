# SPDX-License-Identifier: Apache-2.0
"""``halfwarp replay``."""

import json
import sys
from pathlib import Path

from halfwarp.replay import advice, calls, log, resources, text, timeline


def main(arguments):
    """Replay a log and return the exit status."""
    try:
        logged_calls = log.read(arguments.log)
        options = dict(map(resources.setting, arguments.option or ()))
        replay(arguments, logged_calls, options)
    except Exception as error:
        if not isinstance(error, (OSError, ValueError, RuntimeError, driver_error_class())):
            raise
        print(f"halfwarp replay: {error}", file=sys.stderr)
        return 1
    return 0


def driver_error_class():
    """Return the class of driver errors if `cuda.core` was imported, else no class."""
    core = sys.modules.get("cuda.core")
    return getattr(core, "CUDAError", ()) if core else ()


def replay(arguments, logged_calls, options):
    """Execute the calls of the log and print a report."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    under_test = resources.create(arguments.resource, options, device)
    outcome = calls.replay(logged_calls, under_test, device)
    suggestions = advice.advise(arguments.resource, outcome)
    print(text.report(arguments.log, logged_calls, under_test.resource, outcome, suggestions))
    if arguments.json:
        data = as_data(arguments, options, logged_calls, outcome) | {"advice": suggestions}
        write(arguments.json, json.dumps(data, indent=1) + "\n")
    if arguments.svg:
        title = f"{Path(arguments.log).name} on {arguments.resource}"
        write(arguments.svg, timeline.draw(title, outcome.samples))
    under_test.close()


def write(path, content):
    Path(path).write_text(content, encoding="utf-8")


def as_data(arguments, options, logged_calls, outcome):
    """Return the data of ``--json``. Sizes in bytes, times in nanoseconds."""
    return {
        "log": arguments.log,
        "resource": arguments.resource,
        "options": options,
        "calls": len(logged_calls),
        "peak_in_use": outcome.peak_in_use,
        "peak_reserved": outcome.peak_reserved,
        "fragmentation_at_peak": outcome.fragmentation,
        "allocate": text.times_of(outcome.allocate_ns),
        "free": text.times_of(outcome.free_ns),
        "failures": [
            {"line": call.line, "size": call.size, "error": error}
            for call, error in outcome.failures
        ],
        "recovered": outcome.recovered,
        "left": outcome.unfreed,
        "statistics": outcome.statistics,
        "samples": outcome.samples,
    }
