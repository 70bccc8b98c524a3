# SPDX-License-Identifier: Apache-2.0
"""``halfwarp shims``: distributions that stand in for NVIDIA's.

They hold metadata only, each requires halfwarp. pip counts an installed distribution by its name:
with these installed, a package that requires ``cuda-bindings`` is satisfied and keeps ours.

As wheels (``DIR``) they can go into an index, and stay when halfwarp is uninstalled; installed
beside halfwarp (``--here``) they are files of its own RECORD, so that they go when it goes.
"""

import os
import re
import shlex
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from halfwarp import installation

# What `cuda.bindings` and `cuda.core` state as their versions, without importing them.
BINDINGS_LEVEL, CORE_LEVEL = "13.5.0", "1.2.2"
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

    def files(self):
        """Path -> text, of all that it installs; the last is the RECORD of the others."""
        info = f"{self.stem}.dist-info"
        files = {f"{info}/METADATA": self.metadata(), f"{info}/WHEEL": WHEEL}
        rows = [record_row(name, text) for name, text in files.items()]
        files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
        return files


STAND_INS = [
    StandIn("cuda-bindings", BINDINGS_LEVEL, ("all",)),
    StandIn("cuda-core", CORE_LEVEL, ("cu12", "cu13")),
    StandIn("cuda-python", BINDINGS_LEVEL, ("all",)),
]


def main(given):
    """Write the wheels and print how to install them, or install them here."""
    if given.here == bool(given.folder):
        print("halfwarp shims: give a folder, or --here", file=sys.stderr)
        return 2
    try:
        return install_here() if given.here else write_wheels(Path(given.folder))
    except OSError as error:
        print(f"halfwarp shims: {error}", file=sys.stderr)
        return 1


def write_wheels(folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = [write(stand_in, folder) for stand_in in STAND_INS]
    print("pip install --no-deps", *(shlex.quote(str(path)) for path in paths))
    return 0


def write(stand_in, folder):
    """Write one wheel; its path."""
    path = folder / f"{stand_in.stem}-{TAG}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in stand_in.files().items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = REGULAR_FILE
            archive.writestr(entry, text)
    return path


def install_here():
    distributions = installation.installed()
    ours = distributions.get(installation.OUR_NAME)
    if ours is None or not ours.read_text("RECORD"):
        print("halfwarp shims: halfwarp is not installed here, so use DIR", file=sys.stderr)
        return 1
    for stand_in in STAND_INS:
        there = distributions.get(stand_in.name)
        if there is not None and LABEL not in there.version:
            print(
                f"halfwarp shims: {stand_in.name} {there.version} is installed; `halfwarp repair` "
                "puts a stand-in in its place",
                file=sys.stderr,
            )
            return 1
    absent = [each for each in STAND_INS if each.name not in distributions]
    install(absent, ours)
    for stand_in in absent:
        print(f"installed {stand_in.name} {stand_in.level}{LABEL}")
    return 0


def install(stand_ins, ours):
    """Write stand-ins beside a distribution, as files of its RECORD.

    Without hashes there: pip may replace a stand-in, and that damages nothing of ours.
    """
    files = {name: text for each in stand_ins for name, text in each.files().items()}
    for name, text in files.items():
        replace(Path(ours.locate_file(name)), text.encode())
    recorded = installation.record(ours)
    (own,) = (path for path in recorded if re.fullmatch(r"halfwarp-[^/]*/RECORD", path))
    rows = [f"{name},,\n" for name in files if name not in recorded]
    text = ours.read_text("RECORD").rstrip("\n") + "\n" + "".join(rows)
    replace(Path(ours.locate_file(own)), text.encode())


def record_row(name, text):
    """What a RECORD says of one file."""
    return f"{name},{installation.hash_of(text.encode())},{len(text.encode())}"


def replace(path, data):
    """Write a file in one step, so that nobody sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_bytes(data)
    fresh.replace(path)
