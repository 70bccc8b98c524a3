# SPDX-License-Identifier: Apache-2.0
"""The libraries of a project: those with decisions, each read and resolved once."""

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
    facts = api_file.read(project / "api" / f"{library}.api")
    decided = decisions.read(project / "overrides" / f"{library}.toml")
    return resolve.resolve(facts, decided, {name: load(name, project) for name in decided.uses})


def load_all(project: Path = HERE) -> dict[str, Library]:
    """The models of all libraries of a project, by name."""
    return {name: load(name, project) for name in library_names(project)}


def library_names(project: Path = HERE) -> list[str]:
    """Every library that decisions were made about."""
    return sorted(path.stem for path in (project / "overrides").glob("*.toml"))
