# SPDX-License-Identifier: Apache-2.0
"""How a call is timed: the least of many short loops over it."""

from time import perf_counter_ns

# Many short windows: on a shared machine some of them are undisturbed, and the least is theirs.
REPEATS = 60
WINDOW_NS = 150_000


def loop(function, count):
    """Nanoseconds a call over `count` calls; the loop itself is in the empty call as well."""
    calls = range(count)
    start = perf_counter_ns()
    for _ in calls:
        function()
    return (perf_counter_ns() - start) / count


def least(function, repeats=REPEATS):
    """The least time of a call over `repeats` windows."""
    first = max(loop(function, 100), 10.0)
    count = max(20, int(WINDOW_NS / first))
    return min(loop(function, count) for _ in range(repeats))


def empty_call():
    """What calling a Python function that does nothing costs here."""
    return least(lambda: None)
