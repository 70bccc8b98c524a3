# SPDX-License-Identifier: Apache-2.0
"""What a cache counts, under the lock that guards it."""

import os
import threading
import weakref


class Counted:
    """A lock, and the counts of this process that it guards.

    A fork forgets who held the lock in the parent: that thread is not in the child.
    """

    __slots__ = ("__weakref__", "counts", "lock")

    def __init__(self):
        self.counts = dict.fromkeys(("hits", "misses", "writes", "evictions"), 0)
        self.lock = threading.RLock()  # the collector may run a cache's code while it is held
        _all.add(self)

    def count(self, what, times=1):
        with self.lock:
            self.counts[what] += times


_all = weakref.WeakSet()


def _after_fork():
    for counted in list(_all):
        counted.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
