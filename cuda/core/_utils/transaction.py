# SPDX-License-Identifier: Apache-2.0
"""Steps that are undone together unless all succeed."""

from contextlib import ExitStack


class Transaction:
    """Collects undo calls; leaving the block without `commit` runs them, last step first.

    All calls run even if some raise; the block raises the last exception. Host only.
    """

    def __init__(self):
        self._undo = ExitStack()

    def append(self, fn, /, *args, **kwargs):
        """Add a call that undoes the latest step."""
        self._undo.callback(fn, *args, **kwargs)

    def commit(self):
        """Discard the undo calls of all steps so far."""
        self._undo.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._undo.close()
