# SPDX-License-Identifier: Apache-2.0
"""A line that says how far long work has come, on a terminal only."""

import sys
from contextlib import contextmanager
from time import monotonic

PAUSE = 0.2  # seconds between two lines
PATIENCE = 1.0  # seconds before the first one: short work says nothing
CLEAR = "\r\x1b[K"


class Progress:
    """Counts steps; `total` may be None where nobody knows it."""

    def __init__(self, what, total, stream):
        self.what, self.total, self.stream = what, total, stream
        self.done, self.begin = 0, monotonic()
        self.next, self.is_shown = self.begin + PATIENCE, False

    def step(self, count=1):
        """So many steps more are done."""
        self.done += count
        if self.stream is not None and monotonic() >= self.next:
            self.show()

    def show(self):
        now = monotonic()
        self.next, self.is_shown = now + PAUSE, True
        text = f"{self.what}: {self.done:,}"
        if self.total:
            left = (now - self.begin) / max(1, self.done) * (self.total - self.done)
            part = 100 * self.done // self.total
            text += f" of {self.total:,} ({part} %), {left:.0f} s left"
        self.stream.write(f"{CLEAR}{text}")
        self.stream.flush()

    def end(self):
        """Take the line away."""
        if self.is_shown:
            self.stream.write(CLEAR)
            self.stream.flush()


@contextmanager
def progress(what, total=None, stream=None):
    """A `Progress` for the block. Nothing is written where stderr is no terminal, or there is none.

    Parameters
    ----------
    what : str
        Of what the steps are, as in ``"calls"``.
    total : int, optional
        How many steps there will be.
    """
    stream = sys.stderr if stream is None else stream
    is_terminal = stream is not None and stream.isatty()
    counted = Progress(what, total, stream if is_terminal else None)
    try:
        yield counted
    finally:
        counted.end()
