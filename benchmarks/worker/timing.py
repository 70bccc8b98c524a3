# SPDX-License-Identifier: Apache-2.0
"""How a call is timed: the least of many short loops over it."""

from time import perf_counter_ns

# Many short windows: on a shared machine some of them are undisturbed, and the least is theirs.
REPEATS = 60
WINDOW_NS = 150_000


# How many calls it takes the interpreter to fit the loop to what it calls now.
WARMING = range(100)


def loop(function, count):
    """Nanoseconds a call over `count` calls; the loop itself is in the empty call as well."""
    for calls in (WARMING, range(count)):
        start = perf_counter_ns()
        for _ in calls:
            function()
    return (perf_counter_ns() - start) / count


def nothing():
    """An empty Python call."""


def least(function, repeats=REPEATS):
    """The least time of a call, and of an empty Python call, over `repeats` windows of each.

    In turns: a shared machine runs faster and slower for a while, and what two such times differ by
    says something only where both saw the same of it.
    """
    count = windows(function)
    empty_count = windows(nothing)
    times = [(loop(function, count), loop(nothing, empty_count)) for _ in range(repeats)]
    return tuple(map(min, zip(*times, strict=True)))


def windows(function):
    """How many calls fill a window."""
    return max(20, int(WINDOW_NS / max(loop(function, 100), 10.0)))
