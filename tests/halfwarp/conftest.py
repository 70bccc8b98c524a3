# SPDX-License-Identifier: Apache-2.0
"""An installation in a folder of its own, whose files and distributions a test writes."""

import base64
import hashlib
import sys

import pytest

from halfwarp import installation
from halfwarp.doctor.findings import Findings

OUR_FILES = (
    "halfwarp/__init__.py",
    "cuda/core/__init__.py",
    "cuda/core/_core.so",
    "cuda/bindings/__init__.py",
)


class Site:
    """A folder of installed packages."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, text="# ours\n"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def install(self, name, version, files=(), requires=()):
        """Write files, and the records that pip writes for them."""
        rows = []
        for file in files:
            self.write(file, f"# {name}\n")
            data = (self.folder / file).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            rows.append(f"{file},sha256={digest},{len(data)}")
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {each}" for each in requires]
        self.write(f"{info}/METADATA", "\n".join(lines) + "\n")
        rows += [f"{info}/METADATA,,", f"{info}/RECORD,,"]
        self.write(f"{info}/RECORD", "\n".join(rows) + "\n")


@pytest.fixture
def make_site():
    return Site


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A site with halfwarp installed from a wheel, visible in place of the real one."""
    site = Site(tmp_path)
    site.install("halfwarp", "0.1.0", OUR_FILES, requires=["cuda-pathfinder>=1.3"])
    site.install("cuda-pathfinder", "1.9.0")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(installation, "package_root", lambda: tmp_path)
    return site


@pytest.fixture
def findings():
    return Findings()
