# SPDX-License-Identifier: Apache-2.0
"""The list of what a wheel contains that is not ours (PEP 770), in CycloneDX's format."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

NAME = "sboms/halfwarp.cdx.json"  # below *.dist-info
# Files of other projects whose code is in a wheel: the package of the build, and its license.
CONTENTS = {
    "nvidia-cuda-runtime": "LicenseRef-NVIDIA-Proprietary",  # static runtime, and inline functions
    "Cython": "Apache-2.0",  # the code that it adds to each module
}


def added(files: Mapping[str, bytes], pyproject: Path) -> dict[str, bytes]:
    """The files of a wheel, and the list of its contents."""
    (path,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    return {**files, path.replace("METADATA", NAME): text(files[path].decode(), pyproject)}


def text(metadata: str, pyproject: Path) -> bytes:
    """The file for a wheel with this METADATA, which pyproject.toml describes."""
    name, version = (re.search(rf"^{key}: (.+)$", metadata, re.M)[1] for key in ("Name", "Version"))
    bounds = required(pyproject.read_text())
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component("application", name, version, "Apache-2.0")},
        "components": [
            component("library", package, bounds[package.lower()], license)
            for package, license in sorted(CONTENTS.items())
        ],
    }
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def required(pyproject: str) -> Mapping[str, str]:
    """Map each requirement of the build to the versions that it may have."""
    table = re.search(r"^requires = \[(.*?)^\]", pyproject, re.M | re.S)[1]
    pairs = re.findall(r'"([\w-]+)([<>=!~][^"]*)"', table)
    return {package.lower(): bound.removeprefix("==") for package, bound in pairs}


def component(kind: str, name: str, version: str, license: str) -> dict:
    identified = re.fullmatch(r"[\d.]+(\+[\w.]+)?", version)
    encoded = version.replace("+", "%2B")
    purl = f"pkg:pypi/{name.lower()}" + (f"@{encoded}" if identified else "")
    key = "name" if license.startswith("LicenseRef") else "id"
    return {
        "type": kind,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{"license": {key: license}}],
    }
