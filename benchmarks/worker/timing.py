# SPDX-License-Identifier: Apache-2.0
"""Timing of a call: the minimum of many short loops."""

from time import perf_counter_ns

# Many short windows: on a shared machine some are undisturbed, and the minimum comes from those.
REPEATS = 60
WINDOW_NS = 150_000


# Number of calls until the interpreter has specialized the loop for the current function.
WARMING = range(100)


def loop(function, count):
    """Return nanoseconds per call over `count` calls; the empty call includes the loop too."""
    for calls in (WARMING, range(count)):
        start = perf_counter_ns()
        for _ in calls:
            function()
    return (perf_counter_ns() - start) / count


def nothing():
    """An empty Python call."""


def least(function, repeats=REPEATS):
    """Return the minimum times of a call and of an empty Python call over `repeats` windows.

    Alternates the two: the speed of a shared machine varies over time, and a difference is valid
    only if both saw the same speed.
    """
    count = windows(function)
    empty_count = windows(nothing)
    times = [(loop(function, count), loop(nothing, empty_count)) for _ in range(repeats)]
    return tuple(map(min, zip(*times, strict=True)))


def windows(function):
    """Return the number of calls that fill a window."""
    return max(20, int(WINDOW_NS / max(loop(function, 100), 10.0)))
