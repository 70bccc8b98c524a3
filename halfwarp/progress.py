# SPDX-License-Identifier: Apache-2.0
"""A progress line for long work, on a terminal only."""

import sys
from contextlib import contextmanager
from time import monotonic

INTERVAL = 0.2  # seconds between two updates
DELAY = 1.0  # seconds before the first line: short work shows none
CLEAR = "\r\x1b[K"


class Progress:
    """Counts steps; `total` is None if unknown."""

    def __init__(self, unit, total, stream):
        self.unit, self.total, self.stream = unit, total, stream
        self.done, self.begin = 0, monotonic()
        self.next, self.is_shown = self.begin + DELAY, False

    def step(self, count=1):
        """Count completed steps."""
        self.done += count
        if self.stream is not None and monotonic() >= self.next:
            self.show()

    def show(self):
        now = monotonic()
        self.next, self.is_shown = now + INTERVAL, True
        text = f"{self.unit}: {self.done:,}"
        if self.total:
            remaining = (now - self.begin) / max(1, self.done) * (self.total - self.done)
            part = 100 * self.done // self.total
            text += f" of {self.total:,} ({part} %), {remaining:.0f} s left"
        self.stream.write(f"{CLEAR}{text}")
        self.stream.flush()

    def end(self):
        """Remove the line."""
        if self.is_shown:
            self.stream.write(CLEAR)
            self.stream.flush()


@contextmanager
def progress(unit, total=None, stream=None):
    """Show a `Progress` during the block. Writes nothing if stderr is no terminal or is missing.

    Parameters
    ----------
    unit : str
        Name of the steps, such as ``"calls"``.
    total : int, optional
        Expected number of steps.
    """
    stream = sys.stderr if stream is None else stream
    is_terminal = stream is not None and stream.isatty()
    counted = Progress(unit, total, stream if is_terminal else None)
    try:
        yield counted
    finally:
        counted.end()
