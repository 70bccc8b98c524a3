# SPDX-License-Identifier: Apache-2.0
"""Installed distributions: which is ours, their recorded files, and our files that differ."""

import base64
import csv
import hashlib
import json
import re
import sys
from importlib import metadata
from pathlib import Path

OUR_NAME = "halfwarp"
FOLDERS = ("cuda/bindings/", "cuda/core/")  # NVIDIA's wheels install files here too

NAMED = 5  # number of files that a message names


class OutsideError(OSError):
    """Raised for a file that a distribution names outside its environment."""


def package_root():
    """Return the folder that contains `halfwarp`."""
    return Path(__file__).parents[1]


def normal_name(name):
    """Return a distribution's name in pip's normalized form."""
    return re.sub(r"[-_.]+", "-", name or "").lower()


def installed():
    """Map each normalized name to its first distribution on the path."""
    distributions = {}
    for distribution in metadata.distributions():
        name = (distribution.metadata or {}).get("Name")  # None: remains of an installation
        distributions.setdefault(normal_name(name), distribution)
    return distributions


def record(distribution):
    """Map each recorded file of a distribution to its hash; empty without a RECORD."""
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1}


def environment_roots():
    """Return the resolved folders in which an installer of this environment writes files."""
    return [package_root().resolve(), Path(sys.prefix).resolve()]


def contained_path(name, base, roots):
    """Return the absolute path of a recorded file, with its folders resolved.

    The file itself is not resolved, so that a link is replaced or removed instead of its target.

    Parameters
    ----------
    name : str
        The path in the RECORD, relative to `base`.
    base : Path
    roots : list of Path
        Resolved folders, one of which must contain the file.

    Raises
    ------
    OutsideError
        If the path is absolute, or if ``..`` or a link leads out of all roots.
    """
    path = Path(base, name)
    if not Path(name).is_absolute() and path.name not in ("", ".."):
        resolved = resolved_folder(path.parent) / path.name
        if any(resolved.is_relative_to(root) and resolved != root for root in roots):
            return resolved
    folders = " and ".join(map(str, roots))
    raise OutsideError(f"{name} is outside {folders}")


def resolved_folder(path):
    try:
        return path.resolve()
    except (RuntimeError, ValueError) as error:  # a loop of links, or a null character
        raise OutsideError(f"{str(path)!r} is not a folder: {error}") from None


def is_beside_us(distribution):
    """Return whether a distribution is installed in the folder that contains this package."""
    return Path(distribution.locate_file("")).resolve() == package_root().resolve()


def our_wheel(distributions):
    """Return our distribution if it installed the running package, else None."""
    ours = distributions.get(OUR_NAME)
    if ours is not None and is_beside_us(ours) and "halfwarp/__init__.py" in record(ours):
        return ours
    return None


def kind_of_installation(distributions):
    """Return ``"wheel"``, ``"editable"`` or ``"source tree"``."""
    if our_wheel(distributions):
        return "wheel"
    ours = distributions.get(OUR_NAME)
    direct = ours and ours.read_text("direct_url.json")
    if direct and json.loads(direct).get("dir_info", {}).get("editable"):
        return "editable"
    return "source tree"


def hash_of(data):
    """Return a hash in the form of a RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def changed_files(root, recorded):
    """Return the recorded files with other content; files without a hash are not checked."""
    present = [path for path, expected in recorded.items() if expected and (root / path).exists()]
    return [path for path in present if hash_of((root / path).read_bytes()) != recorded[path]]


def missing_files(root, recorded):
    """Return the recorded files that are missing, without files that Python recompiles."""
    return [name for name in recorded if recorded[name] and not (root / name).exists()]


def sharing_distributions(distributions):
    """Map names to the other distributions with recorded files in our folders."""
    return {
        name: distribution
        for name, distribution in sorted(distributions.items())
        if name != OUR_NAME and is_beside_us(distribution) and files_among_ours(distribution)
    }


def files_among_ours(distribution):
    """Return the files of a distribution that are in our folders."""
    return [path for path in record(distribution) if path.startswith(FOLDERS)]


def shortened(names):
    """Join file names, shortened for a message."""
    remaining = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {remaining} more" if remaining > 0 else "")
