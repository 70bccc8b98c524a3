# SPDX-License-Identifier: Apache-2.0
"""Extracts facts: reads the C headers of one library with libclang."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

from clang.cindex import Cursor, CursorKind, Index, StorageClass, TranslationUnit, Type, TypeKind

from . import releases
from .classify import Classifier
from .classify_exceptions import ExceptionsClassifier
from .decisions import Decisions
from .facts import (
    FactConstant,
    FactEnum,
    FactField,
    FactFunction,
    FactParam,
    FactRecord,
    Facts,
    FactTypedef,
)

ROOT = Path(__file__).resolve().parent.parent
POINTER_ALIGNMENT = 8
RECORDS = {CursorKind.STRUCT_DECL: "struct", CursorKind.UNION_DECL: "union"}


def extract(decisions: Decisions, folders: list[Path]) -> Facts:
    """Read the facts of one library from the headers in its decisions."""
    reader = HeaderReader(decisions, folders)
    reader.read()
    return reader.facts


class HeaderReader:
    def __init__(self, decisions: Decisions, folders: list[Path]):
        self.decisions = decisions
        self.folders = folders
        self.facts = Facts(decisions.library, "", list(decisions.headers))
        self.type_macros: dict[str, str] = {}
        compiler_headers = subprocess.run(
            [os.environ.get("CC", "gcc").split()[-1], "-print-file-name=include"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        self.arguments = [
            "-x",
            "c",
            *(f"-I{f}" for f in folders),
            *(f"-I{ROOT / f}" for f in decisions.include_dirs),
            f"-I{compiler_headers}",
            *(f"-D{name}" for name in decisions.defines),
        ]

    def read(self) -> None:
        unit = self.parse()
        cursors = [c for c in unit.cursor.get_children() if self.is_selected(c)]
        self.read_types(cursors)
        self.read_type_macros(unit)
        self.read_constants(unit)
        self.read_functions(cursors, self.hidden())
        self.facts.version = self.read_version()
        if self.decisions.declares_itself:
            self.facts.guards = self.read_guards()

    def parse(
        self, tail: str = "", check: bool = True, extra: list[str] | None = None
    ) -> TranslationUnit:
        text = "".join(
            f"#include <{h}>\n" for h in [*self.decisions.before, *self.decisions.headers]
        )
        options = (
            TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
            | TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
        )
        unit = Index.create().parse(
            "api.h",
            args=[*self.arguments, *(extra or [])],
            options=options,
            unsaved_files=[("api.h", text + tail)],
        )
        errors = [str(d) for d in unit.diagnostics if d.severity >= 3]
        if errors and check:
            raise SystemExit(
                f"{self.facts.library}: the headers do not parse:\n" + "\n".join(errors[:5])
            )
        return unit

    def header_of(self, cursor: Cursor) -> str:
        """Return the name of the library's header that contains a declaration, or ""."""
        file = cursor.location.file
        name = Path(file.name).name if file else ""
        known = (*self.decisions.headers, *(Path(h).name for h in self.decisions.before))
        return name if name in known else ""

    def is_selected(self, cursor: Cursor) -> bool:
        header = self.header_of(cursor)
        names = self.decisions.partial_headers.get(header, [cursor.spelling])
        is_skipped = re.fullmatch(self.decisions.skip, cursor.spelling)
        return bool(header) and cursor.spelling in names and not is_skipped

    def read_version(self) -> str:
        macro = self.decisions.version_macro
        value = next((c.value for c in self.facts.constants if c.name == macro), 0)
        return f"{value // 1000}.{value % 1000 // 10}" if value else ""

    def read_guards(self) -> dict[str, str]:
        """Map headers to the macro of their include guard, or ""."""
        guards = {}
        for folder, header in ((f, h) for h in self.decisions.headers for f in self.folders):
            if (folder / header).exists():
                text = (folder / header).read_text("utf-8", "replace")
                guard = re.search(r"^\s*#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+\1\b", text, re.M)
                guards.setdefault(header, guard[1] if guard else "")
        return guards

    # --- types ---------------------------------------------------------------------------------

    def read_types(self, cursors: list[Cursor]) -> None:
        for cursor in cursors:
            header = self.header_of(cursor)
            if cursor.kind in RECORDS and cursor.is_definition() and is_named(cursor):
                self.facts.types.append(self.read_record(cursor, header))
            elif cursor.kind == CursorKind.ENUM_DECL and cursor.is_definition():
                if is_named(cursor) or "(" in cursor.spelling:  # "(unnamed enum at ...)"
                    self.facts.types.append(read_enum(cursor, header))
            elif cursor.kind == CursorKind.TYPEDEF_DECL:
                item = self.read_typedef(cursor, header)
                if not isinstance(item, FactTypedef) or item.name != item.target:
                    self.facts.types.append(item)
                elif item.word == "enum" or self.decisions.convention == "exceptions":
                    self.mark_typedef(item.name)

    def read_type_macros(self, unit: TranslationUnit) -> None:
        """Read macros that name types: `#define cudaStreamAttrID cudaLaunchAttributeID`."""
        known = {getattr(t, "name", None) or t.tag for t in self.facts.types}
        for name, macro in self.read_macros(unit).items():
            target = [t.spelling for t in macro.get_tokens()][1:]
            if len(target) == 1 and target[0] in known:
                self.facts.types.append(
                    FactTypedef("define", name, target[0], self.header_of(macro))
                )
                self.type_macros[name] = target[0]

    def mark_typedef(self, name: str) -> None:
        """Mark the tag of `typedef enum X {...} X` as a typedef, unless it has one already."""
        if any(isinstance(t, FactTypedef) and t.target == name for t in self.facts.types):
            return
        for item in self.facts.types:
            if isinstance(item, FactEnum | FactRecord) and item.tag == name:
                item.word = f"typedef {item.word.split()[-1]}"

    def read_record(self, cursor: Cursor, header: str = "") -> FactRecord:
        record = FactRecord(
            RECORDS[cursor.kind], cursor.spelling if is_named(cursor) else "", [], header
        )
        if cursor.type.get_align() > POINTER_ALIGNMENT:
            record.alignment, record.size = cursor.type.get_align(), cursor.type.get_size()
        named = {
            declaration_of(c.type).hash
            for c in cursor.get_children()
            if c.kind == CursorKind.FIELD_DECL
        }
        for child in cursor.get_children():
            if child.kind == CursorKind.FIELD_DECL:
                record.fields.append(self.read_field(child))
            elif child.kind in RECORDS and child.hash not in named and not is_named(child):
                record.fields.append(FactField("", "", self.read_record(child)))
            elif child.kind in RECORDS and child.is_definition() and is_named(child):
                nested = self.read_record(child, header)
                nested.scope = record.tag
                self.facts.types.append(nested)
        return record

    def read_field(self, cursor: Cursor) -> FactField:
        declaration = declaration_of(cursor.type)
        if declaration.kind in RECORDS and not is_named(declaration):
            extent = re.search(r"(?:\[\d+\])*$", cursor.type.spelling).group()
            return FactField(cursor.spelling, extent, self.read_record(declaration))
        return FactField(cursor.spelling, plain(cursor.type))

    def read_typedef(self, cursor: Cursor, header: str) -> FactTypedef | FactRecord | FactEnum:
        target = cursor.underlying_typedef_type
        declaration = target.get_declaration()
        if declaration.kind in RECORDS and not is_named(declaration):
            record = self.read_record(declaration, header)
            record.word = "typedef " + record.word
            record.tag = cursor.spelling
            return record
        if declaration.kind == CursorKind.ENUM_DECL and not is_named(declaration):
            return FactEnum(
                cursor.spelling, read_enum(declaration, header).members, header, "typedef enum"
            )
        return FactTypedef(word_for(target), cursor.spelling, plain(target), header)

    # --- constants -----------------------------------------------------------------------------

    def read_constants(self, unit: TranslationUnit) -> None:
        """Read macros with integer values; the compiler evaluates them as enumerators."""
        macros = self.read_macros(unit)
        values = self.evaluate(list(macros))
        anonymous = [t for t in self.facts.types if isinstance(t, FactEnum) and not t.tag]
        self.facts.types = [t for t in self.facts.types if t not in anonymous]
        self.facts.constants = [
            FactConstant(name, values[name], self.header_of(cursor), cast_of(cursor))
            for name, cursor in macros.items()
            if name in values
        ]
        self.facts.constants += [
            FactConstant(n, v, e.header) for e in anonymous for n, v in e.members
        ]
        self.facts.constants.sort(key=lambda c: c.name)

    def read_macros(self, unit: TranslationUnit) -> dict[str, Cursor]:
        """Return the macros of the library's own headers that have a value."""
        return {
            c.spelling: c
            for c in unit.cursor.get_children()
            if c.kind == CursorKind.MACRO_DEFINITION
            and self.header_of(c) in self.decisions.headers
            and len(list(c.get_tokens())) > 1
            and (c.spelling[0] != "_" or c.spelling in self.decisions.underscored_constants)
        }

    def evaluate(self, names: list[str]) -> dict[str, int]:
        while True:
            lines = [f"enum {{ value_of_{n} = (long long)({n}) }};\n" for n in names]
            unit = self.parse("".join(lines), check=False)
            first = len(self.decisions.before) + len(self.decisions.headers) + 1
            bad = {
                d.location.line - first
                for d in unit.diagnostics
                if d.severity >= 3 and d.location.file and d.location.file.name == "api.h"
            }
            if not bad:
                break
            names = [n for i, n in enumerate(names) if i not in bad]
        values = {}
        for cursor in unit.cursor.get_children():
            if cursor.kind == CursorKind.ENUM_DECL:
                values.update(
                    (c.spelling, c.enum_value)
                    for c in cursor.get_children()
                    if c.kind == CursorKind.ENUM_CONSTANT_DECL
                )
        return {n: values[f"value_of_{n}"] for n in names}

    # --- functions -----------------------------------------------------------------------------

    def read_aliases(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Map public names to C names and flags.

        Forms: `#define X X_v2`, `#define X __CUDA_API_PTSZ(X_v2)`.

        The names come from the text of the header, because a parse lacks macros that only a build
        for per-thread default streams defines."""
        aliases = {}
        if self.decisions.convention == "exceptions":  # names keep their suffix
            return aliases
        for folder, header in ((f, h) for h in self.decisions.headers for f in self.folders):
            path = folder / header
            if not path.exists():
                continue
            pattern = r"^\s*#define[ \t]+(\w+)[ \t]+(?:__\w+_API_(PTDS|PTSZ)\((\w+)\)|(\w+))[ \t]*$"
            for name, stream, wrapped, bare in re.findall(
                pattern, path.read_text("utf-8", "replace"), re.M
            ):
                flags = (stream.lower(),) if stream else ()
                aliases.setdefault(name, (wrapped or bare, flags))
        return aliases

    def hidden(self) -> dict[str, Cursor]:
        """Return declarations that programs use but that need a macro of the driver's build."""
        if not self.decisions.hidden:
            return {}
        unit = self.parse(extra=[f"-D{self.decisions.hidden_macro}"])
        self.hidden_unit = unit  # a cursor is valid as long as its unit
        return {
            c.spelling: c
            for c in unit.cursor.get_children()
            if c.kind == CursorKind.FUNCTION_DECL and c.spelling in self.decisions.hidden
        }

    def read_functions(self, cursors: list[Cursor], hidden: dict[str, Cursor]) -> None:
        visible = {c.spelling: c for c in cursors if c.kind == CursorKind.FUNCTION_DECL}
        declared = visible | hidden
        public = {target: (name, flags) for name, (target, flags) in self.read_aliases().items()}
        streams = {base_name(target): flags for target, (_, flags) in public.items()}
        versions = self.read_versions(declared)
        rules = {"status_codes": Classifier, "exceptions": ExceptionsClassifier}
        classifier = rules[self.decisions.convention](self.facts, self.decisions)
        for c_name, cursor in declared.items():
            name, flags = public.get(c_name, (c_name, ()))
            if c_name in hidden:
                flags = (*streams.get(base_name(c_name), ()), "hidden")
            params = self.parameters(cursor)
            if cursor.storage_class == StorageClass.STATIC:
                flags = (*flags, "inline")
            flags = (*flags, *self.older_variants(c_name, versions.get(c_name, "")))
            function = FactFunction(
                name,
                c_name,
                plain(cursor.result_type),
                params,
                self.header_of(cursor),
                versions.get(c_name, ""),
                flags,
            )
            classifier.classify(function, cursor.raw_comment or "")
            self.facts.functions.append(function)
        self.facts.functions.sort(key=lambda f: f.name)

    def parameters(self, function: Cursor) -> list[FactParam]:
        """Return the parameters with the types of the header, including macros that name types."""
        arguments = list(function.get_arguments())
        words = " ".join(t.spelling for t in function.get_tokens()) if self.type_macros else ""
        written = words.partition("(")[2].split(",")
        params = []
        for argument, text in zip_longest(arguments, written[: len(arguments)], fillvalue=""):
            c_type = plain(argument.type)
            for macro in self.type_macros.keys() & set(text.split()):
                c_type = re.sub(rf"\b{self.type_macros[macro]}\b", macro, c_type)
            params.append(FactParam(c_type, argument.spelling, ""))
        return params

    def read_versions(self, declared: dict[str, Cursor]) -> dict[str, str]:
        """Map C names to CUDA releases, by the `PFN_<name>_v<number>` typedefs.

        A typedef has no variant number. Variants and releases both ascend, and the newest variant
        belongs to the newest release."""
        variants: dict[str, list[str]] = {}
        for c_name in declared:
            variants.setdefault(base_name(c_name), []).append(c_name)
        versions = {}
        for base, names in variants.items():
            numbers = sorted(self.releases.get(base, ()))
            newest = max(variant_number(n) for n in names)
            for name in names:
                index = len(numbers) - 1 - (newest - variant_number(name))
                if numbers:
                    versions[name] = releases.release(numbers[max(index, 0)])
        return versions

    @cached_property
    def releases(self) -> releases.Releases:
        headers = ((f, h) for h in self.decisions.typedef_headers for f in self.folders)
        paths = [folder / header for folder, header in headers]
        return releases.read(p.read_text("utf-8", "replace") for p in paths if p.exists())

    def older_variants(self, c_name: str, since: str) -> tuple[str, ...]:
        """Return a flag for each older release with a variant of the same C types: "also 2.0"."""
        variants = self.releases.get(base_name(c_name), {})
        numbers = releases.equal_and_older(variants, releases.number(since))
        return tuple(f"also {releases.release(n)}" for n in numbers)


def declaration_of(c_type: Type) -> Cursor:
    """Return the declaration of a type, or of the elements of an array."""
    while c_type.kind == TypeKind.CONSTANTARRAY:
        c_type = c_type.element_type
    return c_type.get_declaration()


def is_named(cursor: Cursor) -> bool:
    """Return whether a struct, union or enum has a tag. libclang invents spellings without one."""
    if not cursor.spelling or "(" in cursor.spelling or cursor.is_anonymous():
        return False
    words = [t.spelling for t, _ in zip(cursor.get_tokens(), range(2), strict=False)]
    return words[1:] != ["{"]


def cast_of(macro: Cursor) -> str:
    """Return the cast in a macro: `CUstream` of `#define CU_STREAM_LEGACY ((CUstream)0x1)`."""
    text = "".join(t.spelling for t in list(macro.get_tokens())[1:])
    match = re.match(r"\(\((\w+)(\**)\)", text)
    return f"{match[1]} {match[2]}".rstrip() if match else ""


def read_enum(cursor: Cursor, header: str) -> FactEnum:
    members = [
        (c.spelling, c.enum_value)
        for c in cursor.get_children()
        if c.kind == CursorKind.ENUM_CONSTANT_DECL
    ]
    return FactEnum(cursor.spelling if is_named(cursor) else "", members, header)


def word_for(target: Type) -> str:
    canonical = target.get_canonical()
    if canonical.kind == TypeKind.POINTER:
        pointee = canonical.get_pointee().kind
        return (
            "callback"
            if pointee in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO)
            else "opaque"
        )
    words = {TypeKind.ENUM: "enum", TypeKind.RECORD: "struct", TypeKind.FUNCTIONPROTO: "function"}
    return words.get(canonical.kind, "number")


def plain(c_type: Type) -> str:
    """Return the C spelling without the redundant words `struct`, `union` and `enum`."""
    return re.sub(r"\b(struct|union|enum) ", "", c_type.spelling).replace("_Bool", "bool")


def base_name(c_name: str) -> str:
    return re.sub(r"_v\d+$", "", c_name)


def variant_number(c_name: str) -> int:
    match = re.search(r"_v(\d+)$", c_name)
    return int(match.group(1)) if match else 1
