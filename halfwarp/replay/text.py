# SPDX-License-Identifier: Apache-2.0
"""Formats sizes, times and the report as text."""


def size_text(size):
    """Format 1536 as 1.5 KiB."""
    if size < 1024:
        return f"{size} bytes"
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.4g} {unit}"
    return f"{size / 1024:.4g} TiB"


def time_text(nanoseconds):
    """Format 1500 as 1.5 us."""
    for unit in ("ns", "us", "ms"):
        if nanoseconds < 1000:
            return f"{nanoseconds:.3g} {unit}"
        nanoseconds /= 1000
    return f"{nanoseconds:.3g} s"


def percent(part):
    return f"{100 * part:.1f} %"


def times_of(times):
    """Return the number of calls, and their median, 99th percentile and maximum in nanoseconds."""
    ordered = sorted(times) or [0]
    return {
        "calls": len(times),
        "median_ns": ordered[len(ordered) // 2],
        "p99_ns": ordered[len(ordered) * 99 // 100],
        "max_ns": ordered[-1],
    }


def times_text(nanoseconds):
    times = times_of(nanoseconds)
    if not times["calls"]:
        return "no calls"
    median, p99, maximum = (time_text(times[key]) for key in ("median_ns", "p99_ns", "max_ns"))
    return f"{times['calls']} calls, median {median}, 99 % within {p99}, at most {maximum}"


def report(log, calls, resource, outcome, advice):
    """Return the text that the command prints."""
    threads = len({call.thread for call in calls})
    streams = len({call.stream for call in calls})
    rows = [
        ("log", f"{log}: {len(calls)} calls, {threads} threads, {streams} streams"),
        ("resource", repr(resource)),
        ("in use", f"{size_text(outcome.peak_in_use)} at the peak"),
        ("reserved", f"{size_text(outcome.peak_reserved)} at the peak"),
        ("fragmentation", f"{percent(outcome.fragmentation)} at the peak: 1 - in use / reserved"),
        ("allocate", times_text(outcome.allocate_ns)),
        ("free", times_text(outcome.free_ns)),
    ]
    if outcome.recovered:
        rows.append(("recovered", f"{outcome.recovered} allocations that failed then do not here"))
    rows += [("advice", line) for line in advice or ["none"]]
    return "\n".join(f"{name:<14} {text}" for name, text in rows)
