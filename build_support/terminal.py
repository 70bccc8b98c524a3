# SPDX-License-Identifier: Apache-2.0
"""The terminal of the user, where a build shows its progress."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def terminal() -> TextIO | None:
    """Return the user's terminal: pip captures stderr of the build. None if there is none."""
    if sys.stderr.isatty():
        return sys.stderr
    with suppress(OSError):
        device = open("/dev/tty", "w")  # noqa: SIM115
        if os.tcgetpgrp(device.fileno()) == os.getpgrp():  # not in the background
            return device
    return None
