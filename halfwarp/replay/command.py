# SPDX-License-Identifier: Apache-2.0
"""``halfwarp replay``."""

import json
import sys
from pathlib import Path

from halfwarp.replay import advice, calls, log, resources, text, timeline


def main(given):
    """Replay a log; the exit status."""
    try:
        found = log.read(given.log)
        options = dict(map(resources.setting, given.option or ()))
        replay(given, found, options)
    except Exception as error:
        if not isinstance(error, (OSError, ValueError, RuntimeError, errors_of_the_driver())):
            raise
        print(f"halfwarp replay: {error}", file=sys.stderr)
        return 1
    return 0


def errors_of_the_driver():
    """Their class, where something of `cuda.core` was used; else none."""
    core = sys.modules.get("cuda.core")
    return getattr(core, "CUDAError", ()) if core else ()


def replay(given, found, options):
    """Make the calls of the log, and say what they showed."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    under_test = resources.make(given.resource, options, device)
    outcome = calls.replay(found, under_test, device)
    helpful = advice.advise(given.resource, outcome)
    print(text.report(given.log, found, under_test.resource, outcome, helpful))
    if given.json:
        data = as_data(given, options, found, outcome) | {"advice": helpful}
        write(given.json, json.dumps(data, indent=1) + "\n")
    if given.svg:
        title = f"{Path(given.log).name} on {given.resource}"
        write(given.svg, timeline.draw(title, outcome.samples))
    under_test.close()


def write(path, content):
    Path(path).write_text(content, encoding="utf-8")


def as_data(given, options, found, outcome):
    """What ``--json`` writes. Sizes in bytes, times in nanoseconds."""
    return {
        "log": given.log,
        "resource": given.resource,
        "options": options,
        "calls": len(found),
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
        "left": outcome.left,
        "statistics": outcome.statistics,
        "samples": outcome.samples,
    }
