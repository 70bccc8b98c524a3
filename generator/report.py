# SPDX-License-Identifier: Apache-2.0
"""Writes a summary of the headers and of special cases; its diff shows changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from . import api_file
from .facts import FactEnum, FactRecord, Facts, FactTypedef
from .model import Library

HEAD = """\
# Summary of the generated API

Written by `python -m generator report`. Committed, so that its diff shows changes of the headers or
of a decision.
"""


def write(libraries: dict[str, Library]) -> str:
    return "\n".join([HEAD, *(section(lib) for lib in libraries.values())])


def section(library: Library) -> str:
    version = f" {library.facts.version}" if library.facts.version else ""
    parts = [
        f"## {library.name}{version}\n\nFrom {', '.join(library.facts.headers)}.\n",
        counts(library),
        decisions(library),
        newest(library),
        attributes(library),
    ]
    return "\n".join(p for p in parts if p)


def counts(library: Library) -> str:
    functions, structs = library.functions, library.structs
    shapes = Counter(h.shape for h in library.handles)
    rows = {
        "C functions": len(functions),
        "- in Python": sum(f.in_python for f in functions),
        "- for cimport only": sum(not f.in_python for f in functions),
        "- parameters": sum(len(f.params) for f in functions),
        "enums": len(library.enums),
        "- members": sum(len(e.members) for e in library.enums),
        "- explained members": sum(bool(m.doc) for e in library.enums for m in e.members),
        "handle classes": len(library.handles),
        **{f"- {shape}": shapes[shape] for shape in sorted(shapes)},
        "structs and unions": sum(not s.base for s in structs),
        "- anonymous": sum(s.view_only for s in structs),
        "- typedef subclasses": sum(bool(s.base) for s in structs),
        "- fields": sum(len(s.fields) for s in structs),
        "constants": len(library.constants),
    }
    return table(("item", "count"), rows.items())


def decisions(library: Library) -> str:
    """The accuracy of the heuristics, and the functions with special properties."""
    functions = library.functions
    corrected = [f for f in functions if f.is_corrected]
    share = 100 * (len(functions) - len(corrected)) / len(functions)
    rows = [
        ("roles corrected by hand", names(corrected)),
        ("body written by hand", names(f for f in functions if f.body)),
        ("callback wrapped", names(f for f in functions if f.wraps_callback)),
        ("keeps the GIL", names(f for f in functions if not f.releases_gil)),
        ("releases the GIL to threads only", names(f for f in functions if f.is_brief)),
        ("keeps the GIL of a lone thread", names(f for f in functions if f.is_submission)),
        ("not called at exit", names(f for f in functions if f.is_gated)),
        ("specialized", names(f for f in functions if f.is_hot)),
        ("no release known", names(f for f in functions if library.facts.version and not f.since)),
        ("wide alignment", ", ".join(s.name for s in library.structs if s.alignment)),
    ]
    text = f"The heuristics get {share:.1f} % of the functions right.\n\n"
    return text + table(
        ("decision", "functions"), [(title, members or "none") for title, members in rows]
    )


def names(functions) -> str:
    return ", ".join(f.name for f in functions)


def newest(library: Library) -> str:
    """Functions of the last two releases, to be reviewed on a header update."""
    releases = sorted({f.since for f in library.functions if f.since}, key=release_key)[-2:]
    rows = [
        (release, names(f for f in library.functions if f.since == release))
        for release in reversed(releases)
    ]
    return table(("since", "functions"), rows) if rows else ""


def release_key(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def attributes(library: Library) -> str:
    """Members of attribute enums without a type: reading or setting them raises TypeError."""
    members = {e.name: [m.name for m in e.members] for e in library.enums}
    rows = [
        (enum, ", ".join(m for m in members[enum] if m not in table_) or "none")
        for enum, table_ in library.attributes.items()
    ]
    return table(("attribute enum", "members without a type"), rows) if rows else ""


def table(head: tuple[str, str], rows) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {a} | {b} |" for a, b in rows)]) + "\n"


# --- changes of a header update ------------------------------------------------------------------


def changes(old: Path, new: Facts) -> str:
    """Lines for each declaration that was added, removed or changed."""
    if not old.exists():
        return ""
    try:
        before, after = declarations(api_file.read(old)), declarations(new)
    except ValueError as error:  # written in an older format
        return f"? nothing to compare with: {error}\n"
    lines = [f"+ {after[name]}" for name in after if name not in before]
    lines += [f"- {before[name]}" for name in before if name not in after]
    for name in after:
        if name in before and before[name] != after[name]:
            lines += [f"- {before[name]}", f"+ {after[name]}"]
    return "".join(f"{line}\n" for line in lines)


def declarations(facts: Facts) -> dict[str, str]:
    """Every fact by name, with one entry per enumerator."""
    declared = {f"const {c.name}": api_file.write_constant(c)[0] for c in facts.constants}
    for item in facts.types:
        if isinstance(item, FactEnum):
            for name, value in item.members:
                declared[f"{item.tag}.{name}"] = f"{item.tag}.{name} = {value}"
        elif isinstance(item, FactRecord):
            declared[f"struct {item.tag}"] = " ".join(
                line.strip() for line in api_file.write_type(item)
            )
        elif isinstance(item, FactTypedef):
            declared[f"type {item.name}"] = api_file.write_type(item)[0]
    declared |= {f"fn {f.c_name}": api_file.write_function(f) for f in facts.functions}
    return declared
