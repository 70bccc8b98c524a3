# SPDX-License-Identifier: Apache-2.0
"""Installed distributions: which is ours, which files each has recorded, which of ours differ."""

import base64
import csv
import hashlib
import json
import re
from importlib import metadata
from pathlib import Path

OUR_NAME = "halfwarp"
FOLDERS = ("cuda/bindings/", "cuda/core/")  # where NVIDIA's wheels install files as well

NAMED = 5  # so many files of a list are named in a message


def package_root():
    """The folder that `halfwarp` lies in."""
    return Path(__file__).parents[1]


def normal_name(name):
    """A distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name or "").lower()


def installed():
    """The first distribution of each name on the path, by normalised name."""
    found = {}
    for distribution in metadata.distributions():
        name = (distribution.metadata or {}).get("Name")  # none: remains of an installation
        found.setdefault(normal_name(name), distribution)
    return found


def record(distribution):
    """Path -> hash, of the files that a distribution has recorded; empty without a RECORD."""
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1}


def is_beside_us(distribution):
    """Whether a distribution is installed in the folder that we are in."""
    return Path(distribution.locate_file("")).resolve() == package_root().resolve()


def our_wheel(distributions):
    """Our distribution if the package that runs is what it installed, else None."""
    ours = distributions.get(OUR_NAME)
    if ours is not None and is_beside_us(ours) and "halfwarp/__init__.py" in record(ours):
        return ours
    return None


def kind_of_installation(distributions):
    """``"wheel"``, ``"editable"`` or ``"source tree"``."""
    if our_wheel(distributions):
        return "wheel"
    ours = distributions.get(OUR_NAME)
    direct = ours and ours.read_text("direct_url.json")
    if direct and json.loads(direct).get("dir_info", {}).get("editable"):
        return "editable"
    return "source tree"


def hash_of(data):
    """The hash of some bytes, as a RECORD states it."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def changed_files(root, recorded):
    """The recorded files that are there with other content; those without a hash cannot be."""
    there = [path for path, expected in recorded.items() if expected and (root / path).exists()]
    return [path for path in there if hash_of((root / path).read_bytes()) != recorded[path]]


def missing_files(root, recorded):
    """The recorded files that are gone; compiled Python files are made anew when they are."""
    return [name for name in recorded if recorded[name] and not (root / name).exists()]


def sharing_distributions(distributions):
    """The other distributions that have recorded files in our folders, by name."""
    return {
        name: distribution
        for name, distribution in sorted(distributions.items())
        if name != OUR_NAME and is_beside_us(distribution) and files_among_ours(distribution)
    }


def files_among_ours(distribution):
    """The files of a distribution that lie in our folders."""
    return [path for path in record(distribution) if path.startswith(FOLDERS)]


def some(names):
    """A list of files, shortened for a message."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
