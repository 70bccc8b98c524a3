# SPDX-License-Identifier: Apache-2.0
"""The libraries of a project: each has decisions, and is read and resolved once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from . import api_file, decisions
from .model import Library
from .resolution import resolve

HERE = Path(__file__).resolve().parent


@cache
def load(library: str, project: Path = HERE) -> Library:
    """The model of one library, from `api/<library>.api` and `overrides/<library>.toml`."""
    decided = decisions.read(overrides_of(library, project))
    facts = api_file.read(project / "api" / f"{decided.face_of or library}.api")
    return resolve.resolve(facts, decided, {name: load(name, project) for name in decided.uses})


def load_all(project: Path = HERE) -> dict[str, Library]:
    """The models of all libraries of a project by name, followed by their further faces."""
    return {name: load(name, project) for name in (*library_names(project), *face_names(project))}


def library_names(project: Path = HERE) -> list[str]:
    """All libraries with decisions."""
    return sorted(path.stem for path in (project / "overrides").glob("*.toml"))


def face_names(project: Path = HERE) -> list[str]:
    """All further faces: `v2_driver` for `overrides/v2/driver.toml`."""
    paths = (project / "overrides").glob("*/*.toml")
    return sorted(f"{path.parent.name}_{path.stem}" for path in paths)


def overrides_of(library: str, project: Path) -> Path:
    """The path of the decisions about a library or a face."""
    is_face = library in face_names(project)
    name = library.replace("_", "/", 1) if is_face else library
    return project / "overrides" / f"{name}.toml"
