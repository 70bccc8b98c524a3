# SPDX-License-Identifier: Apache-2.0
"""Steps that are undone together unless all of them succeed."""

from contextlib import ExitStack


class Transaction:
    """Collects what would undo each step; leaving without `commit` runs it, last step first.

    Each is run, whatever another raises; the last exception comes out of the block. Host only.
    """

    def __init__(self):
        self._undo = ExitStack()

    def append(self, fn, /, *args, **kwargs):
        """Add a call that undoes the step just made."""
        self._undo.callback(fn, *args, **kwargs)

    def commit(self):
        """Keep the steps made so far."""
        self._undo.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._undo.close()
