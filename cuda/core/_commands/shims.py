# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core shims DIR``: wheels that stand in for NVIDIA's packages.

They hold metadata only, each requires halfwarp. pip counts an installed distribution by its name:
with these installed, a package that requires ``cuda-bindings`` is satisfied and keeps ours.
"""

import base64
import hashlib
import shlex
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from cuda.bindings import __version__ as bindings_level
from cuda.core import __version__ as core_level

USAGE = "usage: python -m cuda.core shims DIR"
LABEL = "+halfwarp"  # the local version, which tells them from NVIDIA's
TAG = "py3-none-any"
WHEEL = f"Wheel-Version: 1.0\nGenerator: halfwarp\nRoot-Is-Purelib: true\nTag: {TAG}\n"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever they are written
REGULAR_FILE = 0o100644 << 16


@dataclass(frozen=True)
class StandIn:
    """One distribution by its name, and the extras that may be asked of it."""

    name: str
    level: str
    extras: tuple

    @property
    def stem(self):
        """Name and version, as file names start with."""
        return f"{self.name.replace('-', '_')}-{self.level}{LABEL}"

    def metadata(self):
        lines = [
            "Metadata-Version: 2.1",
            f"Name: {self.name}",
            f"Version: {self.level}{LABEL}",
            f"Summary: halfwarp provides what {self.name} provides",
            "License: Apache-2.0",
            "Requires-Python: >=3.11",
            "Requires-Dist: halfwarp",
        ]
        for extra in self.extras:
            lines.append(f"Provides-Extra: {extra}")
            if extra == "cu13":
                lines.append(f'Requires-Dist: halfwarp[{extra}]; extra == "{extra}"')
        return "\n".join(lines) + "\n"


STAND_INS = [
    StandIn("cuda-bindings", bindings_level, ("all",)),
    StandIn("cuda-core", core_level, ("cu12", "cu13")),
    StandIn("cuda-python", bindings_level, ("all",)),
]


def main(arguments):
    """Write the wheels, and print how to install them."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = [write(stand_in, folder) for stand_in in STAND_INS]
    except OSError as error:
        print(f"python -m cuda.core shims: {error}", file=sys.stderr)
        return 1
    print("pip install --no-deps", *(shlex.quote(str(path)) for path in paths))
    return 0


def write(stand_in, folder):
    """Write one wheel; its path."""
    info = f"{stand_in.stem}.dist-info"
    files = {f"{info}/METADATA": stand_in.metadata(), f"{info}/WHEEL": WHEEL}
    record = [f"{name},{digest(text)},{len(text.encode())}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    path = folder / f"{stand_in.stem}-{TAG}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = REGULAR_FILE
            archive.writestr(entry, text)
    return path


def digest(text):
    """A file's hash, as a RECORD states it."""
    made = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
    return f"sha256={made.decode().rstrip('=')}"
