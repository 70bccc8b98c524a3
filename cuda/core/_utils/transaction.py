# SPDX-License-Identifier: Apache-2.0
"""Steps that are undone together unless all of them succeed."""


class Transaction:
    """Collects what would undo each step; leaving without `commit` runs it, last step first.

    Host only.
    """

    def __init__(self):
        self._undo = []

    def append(self, fn, /, *args, **kwargs):
        """Add a call that undoes the step just made."""
        self._undo.append((fn, args, kwargs))

    def commit(self):
        """Keep the steps made so far."""
        self._undo.clear()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        while self._undo:
            fn, args, kwargs = self._undo.pop()
            fn(*args, **kwargs)
