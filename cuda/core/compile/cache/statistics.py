# SPDX-License-Identifier: Apache-2.0
"""The counters of a cache and the lock that guards them."""

import os
import weakref
from _thread import RLock  # faster to import than `threading`


class Counted:
    """A lock, and the counters of this process that it guards.

    A forked child replaces the lock, since the thread that held it does not exist there.
    """

    __slots__ = ("__weakref__", "counts", "lock")

    def __init__(self):
        self.counts = dict.fromkeys(("hits", "misses", "writes", "evictions"), 0)
        self.lock = RLock()  # reentrant: the collector may run cache code under it
        _all.add(self)

    def count(self, event, times=1):
        with self.lock:
            self.counts[event] += times


_all = weakref.WeakSet()


def _after_fork():
    for counted in list(_all):
        counted.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
