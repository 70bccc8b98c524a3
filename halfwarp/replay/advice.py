# SPDX-License-Identifier: Apache-2.0
"""Advice on settings, derived from the measurements of a replay."""

from halfwarp.replay.text import percent, size_text, time_text

MUCH = 0.1  # fraction of the reserved memory or of the time


def advise(kind, outcome):
    """Return a line for each possible improvement."""
    advice = [rule(kind, outcome) for rule in RULES]
    return [line for line in advice if line]


def about_failures(kind, outcome):
    if not outcome.failures:
        return None
    call, text = outcome.failures[0]
    return (
        f"{len(outcome.failures)} allocations failed, the first in line {call.line}, "
        f"{size_text(call.size)}: {text.splitlines()[0]}"
    )


def about_growth(kind, outcome):
    """Suggest to allocate at once what the pool allocated upstream in several steps."""
    growing = outcome.statistics.get("upstream_allocs", 0)
    if kind != "pool" or growing < 2 or not outcome.allocate_ns:
        return None
    share = sum(sorted(outcome.allocate_ns)[-growing:]) / sum(outcome.allocate_ns)
    return (
        f"the pool grew {growing} times; the slowest {growing} allocations took "
        f"{percent(share)} of the time of all: initial_size={outcome.peak_reserved} takes the "
        "memory at once"
    )


def about_repeated_growth(kind, outcome):
    """Suggest a threshold if memory was freed upstream and allocated again."""
    grown = outcome.samples[0][2]
    for before, after in zip(outcome.samples, outcome.samples[1:], strict=False):
        grown += max(0, after[2] - before[2])
    regrown = grown - outcome.peak_reserved
    if kind == "virtual" or regrown <= MUCH * outcome.peak_reserved:
        return None
    return (
        f"{size_text(regrown)} were freed upstream and allocated again: "
        f"release_threshold={outcome.peak_reserved} keeps them"
    )


def about_fragmentation(kind, outcome):
    if outcome.fragmentation <= MUCH:
        return None
    wasted = size_text(outcome.peak_reserved - outcome.peak_in_use)
    remedy = {
        "pool": "try upstream=virtual, and allocate long-lived memory before short-lived memory",
        "driver": "try --resource pool",
        "virtual": "each allocation is rounded up to a page of the device: try --resource pool "
        "--option upstream=virtual",
    }[kind]
    return f"{wasted} more than the peak in use were reserved: {remedy}"


def about_mapping(kind, outcome):
    if kind != "virtual" or not outcome.allocate_ns:
        return None
    median = sorted(outcome.allocate_ns)[len(outcome.allocate_ns) // 2]
    return (
        f"memory is mapped in each call, {time_text(median)} in the median: --resource pool "
        "--option upstream=virtual maps segments once"
    )


def about_streams(kind, outcome):
    waits = outcome.statistics.get("cross_stream_waits", 0)
    if not waits:
        return None
    return (
        f"{waits} times a stream had to wait for another one to reuse its memory: free on the "
        "stream that allocates next, or leave the pool more memory"
    )


def about_leaks(kind, outcome):
    if not outcome.unfreed:
        return None
    return (
        f"{outcome.unfreed} allocations, {size_text(outcome.in_use)}, are not freed in the log: a "
        "TrackingMemoryResource reports where they are allocated"
    )


RULES = (
    about_failures,
    about_growth,
    about_repeated_growth,
    about_fragmentation,
    about_mapping,
    about_streams,
    about_leaks,
)
