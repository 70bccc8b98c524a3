# SPDX-License-Identifier: Apache-2.0
"""Decisions about one library, from `overrides/<library>.toml`, where each carries its reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Override:
    """What is special about one function."""

    reason: str
    roles: dict[str, str] = field(
        default_factory=dict
    )  # C parameter -> role in place of the heuristics'
    body: str | None = None
    doc: str = ""
    overloads: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Decisions:
    library: str
    headers: list[str]
    before: list[str]  # included ahead of the headers: what they forget to include
    include_dirs: list[str]  # below the root of the repository
    typedef_headers: list[str]
    version_macro: str
    result_enum: str
    success: str
    not_found: str
    package: str
    module_scope: list[str]  # headers whose types the .pxd declares outside `extern`
    optional_headers: list[str]
    # heuristics
    identity_integers: set[str]
    always_in: set[str]
    iterators: set[str]
    short_lists: set[str]
    lists_by_address: set[str]
    handles_by_address: str
    address_roles: dict[str, str]
    export_enums: set[str]
    # decisions
    streams: set[str]
    rename: dict[str, str]
    attributes: dict[str, dict[str, str]]
    stored_as: dict[str, str]
    hidden: set[str]
    hidden_macro: str
    cimport_only: set[str]
    keeps_gil: set[str]
    hot: set[str]
    wrapped_callbacks: set[str]
    functions: dict[str, Override]
    fields: dict[str, dict]
    joint_lists: dict[str, dict]
    enum_docs: dict[str, dict[str, str]]

    @property
    def attribute_enums(self) -> set[str]:
        return set(self.attributes) - self.export_enums


def read(path: Path) -> Decisions:
    """Read one overrides file. A missing table means that the library has nothing of that sort."""
    data = tomllib.loads(path.read_text("utf-8"))
    library = data["library"]

    def names(table: str, key: str = "names") -> list[str]:
        return data.get(table, {}).get(key, [])

    def texts(table: str) -> dict:
        return {k: v for k, v in data.get(table, {}).items() if k != "reason"}

    return Decisions(
        library=library["name"],
        headers=library["headers"],
        before=library.get("before", []),
        include_dirs=library.get("include_dirs", []),
        typedef_headers=library.get("typedef_headers", []),
        version_macro=library.get("version_macro", ""),
        result_enum=library["result_enum"],
        success=library["success"],
        not_found=library["not_found"],
        package=library.get("package", "cuda.bindings"),
        module_scope=names("module_scope"),
        optional_headers=names("optional_headers"),
        identity_integers=set(names("identity_integers")),
        always_in=set(names("always_in")),
        iterators=set(names("iterators")),
        short_lists=set(names("short_lists")),
        lists_by_address=set(names("lists_by_address")),
        handles_by_address=data.get("handles_by_address", {}).get("pattern", r"\bnone\b"),
        address_roles=texts("address_roles"),
        export_enums=set(names("export_enums")),
        streams=set(names("streams")),
        rename=texts("rename"),
        attributes=texts("attributes"),
        stored_as=texts("stored_as"),
        hidden=set(names("hidden")),
        hidden_macro=data.get("hidden", {}).get("macro", ""),
        cimport_only=set(names("cimport_only")),
        keeps_gil=set(names("keeps_gil")),
        hot=set(names("hot")),
        wrapped_callbacks=set(names("wrapped_callbacks")),
        functions={name: Override(**table) for name, table in data.get("functions", {}).items()},
        fields=texts("fields"),
        joint_lists=texts("joint_lists"),
        enum_docs=texts("docs"),
    )
