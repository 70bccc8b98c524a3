# SPDX-License-Identifier: Apache-2.0
"""The compilation database, by which editors and clang tools find headers and flags."""

from __future__ import annotations

import json
from pathlib import Path


def write(path: Path, commands: list[dict]) -> None:
    """Write the commands of this build; other entries of the file remain."""
    written = {each["output"] for each in commands}
    known = json.loads(path.read_text()) if path.exists() else []
    known = [each for each in known if each["output"] not in written]
    path.write_text(json.dumps(known + commands, indent=0))
