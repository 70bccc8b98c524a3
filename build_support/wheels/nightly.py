# SPDX-License-Identifier: Apache-2.0
"""Adds the date and the commit to the version of a wheel of the day."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VERSION = re.compile(r'^(__version__ = "[\d.]+)"$', re.M)


@contextmanager
def version(root: Path, epoch: int) -> Iterator[str]:
    """Give `halfwarp.__version__` a local part, such as 0.1.0+20261128.d31173e, for a build.

    pip installs a local version without ``--pre`` and prefers it to the release of that number.
    PyPI accepts none, so that such a wheel cannot be published by mistake.
    """
    path = root / "halfwarp" / "__init__.py"
    text = path.read_text("utf-8")
    command = ["git", "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    local = f"{time.strftime('%Y%m%d', time.gmtime(epoch))}.g{commit.strip()}"
    dated, count = VERSION.subn(rf'\1+{local}"', text)
    if count != 1:
        raise SystemExit(f"{path}: no version of numbers only")
    path.write_text(dated, "utf-8")
    try:
        yield local
    finally:
        path.write_text(text, "utf-8")
