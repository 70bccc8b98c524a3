# SPDX-License-Identifier: Apache-2.0
"""Runs a build command if its result is missing or out of date."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def make(
    target: Path,
    inputs: Sequence[Path],
    command: Sequence[str],
    record: Path | None = None,
    unrecorded: Sequence[str] = (),
    finish: Callable[[Path], object] = lambda _: None,
) -> None:
    """Run a command unless its target is newer than the inputs and has the same command.

    `unrecorded` has further arguments, which do not change the result. `finish` gets the
    path of the new file before it replaces the target.
    """
    record = record or target.with_name(target.name + ".cmd")
    text = shlex.join(part for part in command if part != "ccache")  # ccache changes no result
    if target.exists() and record.exists() and record.read_text() == text:
        time_of_target = target.stat().st_mtime
        if all(p.exists() and p.stat().st_mtime <= time_of_target for p in inputs):
            return
    record.parent.mkdir(parents=True, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    new, start = target.with_name(target.name + ".new"), time.time()
    subprocess.run([*command, *unrecorded, "-o", str(new)], check=True)
    finish(new)
    os.utime(new, (start, start))  # an input changed during the build is newer
    os.replace(new, target)  # a process that loaded the old file keeps it
    record.write_text(text)
