# SPDX-License-Identifier: Apache-2.0
"""Installed distributions: which is ours, what each has recorded of its files."""

import csv
import json
import re
from importlib import metadata
from pathlib import Path

OUR_NAME = "halfwarp"
FOLDERS = ("cuda/bindings/", "cuda/core/")


def package_root():
    """The folder that `cuda/core` lies in."""
    return Path(__file__).parents[3]


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
    if ours is not None and is_beside_us(ours) and "cuda/core/__init__.py" in record(ours):
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
