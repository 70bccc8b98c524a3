# SPDX-License-Identifier: Apache-2.0
"""``halfwarp shims``: distributions that stand in for NVIDIA's.

They contain only metadata, and require halfwarp. pip identifies an installed distribution by its
name, so with them a requirement of ``cuda-bindings`` is satisfied without NVIDIA's files.

As wheels (``DIR``) they can be put into an index, and remain when halfwarp is uninstalled.
Installed beside halfwarp (``--here``) they are files of its RECORD, and are uninstalled with it.
"""

import os
import re
import shlex
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from halfwarp import installation

# The versions of `cuda.bindings` and `cuda.core`, without importing them.
BINDINGS_LEVEL, CORE_LEVEL = "13.5.0", "1.2.2"
LABEL = "+halfwarp"  # local version, which distinguishes them from NVIDIA's
TAG = "py3-none-any"
WHEEL = f"Wheel-Version: 1.0\nGenerator: halfwarp\nRoot-Is-Purelib: true\nTag: {TAG}\n"
EPOCH = (1980, 1, 1, 0, 0, 0)  # for reproducible archives
REGULAR_FILE = 0o100644 << 16


@dataclass(frozen=True)
class StandIn:
    """A distribution: name, version, and the extras that others may require."""

    name: str
    level: str
    extras: tuple

    @property
    def stem(self):
        """Name and version in the form of file names."""
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
        """Map the path of each installed file to its text; the RECORD is last."""
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


def main(arguments):
    """Write the wheels and print how to install them, or install them here."""
    if arguments.here == bool(arguments.folder):
        print("halfwarp shims: pass a folder, or --here", file=sys.stderr)
        return 2
    try:
        return install_here() if arguments.here else write_wheels(Path(arguments.folder))
    except OSError as error:
        print(f"halfwarp shims: {error}", file=sys.stderr)
        return 1


def write_wheels(folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = [write(stand_in, folder) for stand_in in STAND_INS]
    print("pip install --no-deps", *(shlex.quote(str(path)) for path in paths))
    return 0


def write(stand_in, folder):
    """Write one wheel and return its path."""
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
        distribution = distributions.get(stand_in.name)
        if distribution is not None and LABEL not in distribution.version:
            print(
                f"halfwarp shims: {stand_in.name} {distribution.version} is installed; "
                "`halfwarp repair` replaces it with a stand-in",
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

    Their rows have no hashes, because pip may replace a stand-in without damage to our files.
    """
    files = {name: text for each in stand_ins for name, text in each.files().items()}
    base = Path(ours.locate_file(""))
    paths = {name: installation.contained_path(name, base, [base.resolve()]) for name in files}
    recorded = installation.record(ours)
    (own_record,) = (path for path in recorded if re.fullmatch(r"halfwarp-[^/]*/RECORD", path))
    record_path = installation.contained_path(own_record, base, [base.resolve()])
    for name, text in files.items():
        replace(paths[name], text.encode())
    rows = [f"{name},,\n" for name in files if name not in recorded]
    text = ours.read_text("RECORD").rstrip("\n") + "\n" + "".join(rows)
    replace(record_path, text.encode())


def record_row(name, text):
    """Return the row of a file in a RECORD."""
    return f"{name},{installation.hash_of(text.encode())},{len(text.encode())}"


def replace(path, data):
    """Write a file atomically; a link at its path is replaced, and its target is unchanged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with open(fresh, "xb") as file:  # does not follow a link
        file.write(data)
    fresh.replace(path)
