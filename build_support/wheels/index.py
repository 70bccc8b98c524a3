# SPDX-License-Identifier: Apache-2.0
"""python -m build_support.wheels.index DIST SITE

Writes a package index (PEP 503) of the archives in DIST: ``pip install --extra-index-url`` takes
the address of SITE. Each link has the digest that pip compares, and the required Python.
"""

from __future__ import annotations

import hashlib
import html
import re
import shutil
import sys
import tarfile
from pathlib import Path

from . import normal

PAGE = "<!DOCTYPE html>\n<title>{title}</title>\n{links}\n"


def write(archives: Path, site: Path) -> list[Path]:
    """Copy the archives to an index in an empty folder; return the copies."""
    names: dict[str, list[Path]] = {}
    for path in sorted([*archives.glob("*.whl"), *archives.glob("*.tar.gz")]):
        names.setdefault(project_of(path), []).append(path)
    if not names:
        raise SystemExit(f"{archives} has neither a wheel nor a source archive")
    for name, paths in names.items():
        folder = site / name
        folder.mkdir(parents=True)
        for path in paths:
            shutil.copy(path, folder)
        write_page(folder, f"Links for {name}", [link(path) for path in paths])
    write_page(site, "Simple index", [f'<a href="{name}/">{name}</a><br>' for name in names])
    return [site / name / path.name for name, paths in names.items() for path in paths]


def write_page(folder: Path, title: str, links: list[str]) -> None:
    text = PAGE.format(title=title, links="\n".join(links))
    (folder / "index.html").write_text(text, "utf-8")


def project_of(path: Path) -> str:
    """Return the normalized name of the project."""
    return re.sub(r"[-_.]+", "-", path.name.split("-")[0]).lower()


def link(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    required = re.search(r"^Requires-Python: (.+)$", metadata_of(path), re.M)
    limit = f' data-requires-python="{html.escape(required[1])}"' if required else ""
    target = f"{path.name.replace('+', '%2B')}#sha256={digest}"
    return f'<a href="{target}"{limit}>{path.name}</a><br>'


def metadata_of(path: Path) -> str:
    """Return METADATA of a wheel, or PKG-INFO of a source archive."""
    if path.suffix == ".whl":
        files = normal.read_wheel(path)
        (name,) = (name for name in files if name.endswith(".dist-info/METADATA"))
        return files[name].decode()
    with tarfile.open(path) as archive:
        (entry,) = (e for e in archive if re.fullmatch(r"[^/]+/PKG-INFO", e.name))
        return normal.content(archive, entry).decode()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    for copy in write(Path(sys.argv[1]), Path(sys.argv[2])):
        print(copy)
