# SPDX-License-Identifier: Apache-2.0
"""Writes `<library>.pyi`: what type checkers and editors know of `<library>`.

Result tuples are typed as they are on success; on an error every output is None.
"""

from __future__ import annotations

from ..classify import split_type
from ..model import Enum, Field, Function, Handle, Library, Param, Struct

INDENT = "    "
FLOATS = ("float", "double")
INTEGER = "SupportsIndex"
HEAD = '''\
# {origin}
"""The {name} API. Functions return a tuple: result code, then outputs (None on an error)."""

import builtins
from enum import IntEnum
from typing import Any, Literal, Self, SupportsIndex, SupportsInt, TypeAlias
from typing import overload, type_check_only

from typing_extensions import Buffer

_Address: TypeAlias = SupportsIndex | SupportsInt | Buffer | None
_KernelParams: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]] | SupportsIndex | Buffer | None


@type_check_only
class _Handle:
    def __new__(cls, init_value: SupportsIndex | SupportsInt = 0, _ptr: int = 0) -> Self: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def getPtr(self) -> int: ...


@type_check_only
class _Struct:
    def getPtr(self) -> int: ...
    def asdict(self) -> dict[str, Any]: ...
    def copy(self) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
'''
ATTRIBUTE_TYPES = {
    "bool": "bool",
    "float": "float",
    "address": "int",
    "text": "bytes",
    "buffer": "bytes",
    "bytes": "bytes",
}


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {f"{lib.folder}/{name}.pyi": Writer(lib).module() for name, lib in libraries.items()}


class Writer:
    def __init__(self, library: Library):
        self.library = library
        self.handles = {h.name for h in library.handles}
        self.structs = {s.name for s in library.structs}
        self.enums = {e.name for e in library.enums}

    def module(self) -> str:
        classes = [self.enum(e) for e in self.library.enums]
        classes += [self.handle(h) for h in self.library.handles]
        classes += [self.struct(s) for s in self.library.structs]
        constants = "\n".join(f"{c.name}: int" for c in self.library.constants)
        functions = "\n".join(self.function(f) for f in self.library.functions if f.in_python)
        head = HEAD.format(name=self.library.name, origin=self.library.origin)
        sizeof = "def sizeof(objType: type) -> int: ..."
        return "\n\n".join([head, "\n\n".join(classes), constants, f"{functions}\n{sizeof}\n"])

    # --- classes -------------------------------------------------------------------------------

    def enum(self, enum: Enum) -> str:
        """As an IntEnum, which type checkers know, and which FastEnum behaves like."""
        first: dict[int, str] = {}
        lines = []
        for member in enum.members:
            alias = first.setdefault(member.value, member.name)
            lines.append(f"{member.name} = {member.value if alias == member.name else alias}")
        return self.class_text(f"{enum.name}(IntEnum)", lines)

    def handle(self, handle: Handle) -> str:
        lines = ["def __cuda_stream__(self) -> tuple[int, int]: ..."] if handle.is_stream else []
        return self.class_text(f"{handle.name}(_Handle)", lines)

    def struct(self, struct: Struct) -> str:
        if struct.base:
            return self.class_text(f"{struct.name}({struct.base})", [])
        lines = []
        for field in struct.fields:
            lines += self.field(field)
        if struct.joint_lists:
            types = {f.name: self.field_type(f) for f in struct.fields}
            given = ", ".join(f"{name}: {types[name]}" for name in struct.joint_lists)
            lines.append(f"def {struct.joint_method}(self, {given}) -> None: ...")
        if not struct.view_only:
            given = [
                f"{f.name}: {self.field_type(f)} = ..." for f in struct.fields if not f.readonly
            ]
            params = ", ".join(["cls", "*", *given, "_ptr: int = 0"])
            lines.append(f"def __new__({params}) -> Self: ...")
        return self.class_text(f"{struct.name}(_Struct)", lines)

    def field(self, field: Field) -> list[str]:
        if not field.readonly:
            return [f"{field.name}: {self.field_type(field)}"]
        return ["@property", f"def {field.name}(self) -> {self.field_type(field)}: ..."]

    def field_type(self, field: Field) -> str:
        word, _, name = field.kind.partition(":")
        if word.startswith("bytes["):
            return "builtins.bytes" if field.name == "bytes" else "bytes"
        if word in ("arr", "ptr[]"):
            return f"list[{self.value_type(name)}]"
        if word in ("struct", "handle", "enum"):
            return name
        return {"kparams": "Any", "voidp": "Any", "void_ptr": "int"}.get(word) or self.value_type(
            word
        )

    def value_type(self, name: str) -> str:
        if name in self.handles | self.structs | self.enums:
            return name
        return "float" if name in FLOATS else "int"

    def class_text(self, head: str, lines: list[str]) -> str:
        body = "\n".join(INDENT + line for line in lines)
        return f"class {head}:\n{body}\n" if lines else f"class {head}: ...\n"

    # --- functions -----------------------------------------------------------------------------

    def function(self, function: Function) -> str:
        params, result = self.parameters(function), self.result(function)
        plain = f"def {function.name}({params}) -> {result}: ..."
        variants = [*self.attribute_variants(function), *function.overloads]
        if not variants:
            return plain
        texts = [f"@overload\ndef {function.name}{v}: ..." for v in variants]
        return "\n".join([*texts, f"@overload\n{plain}"])

    def parameters(self, function: Function, given: dict[str, str] | None = None) -> str:
        by_name = {p.name: p for p in function.params}
        parts = []
        for text in function.py:
            name, _, default = text.partition("=")
            kind = (given or {}).get(name) or self.input_type(by_name[name])
            parts.append(f"{name}: {kind}{f' = {default}' if default else ''}")
        return ", ".join(parts)

    def result(self, function: Function, given: dict[str, str] | None = None) -> str:
        by_name = {p.name: p for p in function.params}
        outputs = [
            (given or {}).get(name) or self.output_type(by_name[name])
            for name in function.returns
            if name in by_name
        ]
        if function.ret != self.library.result_enum:
            outputs.insert(0, "bytes")
        return f"tuple[{', '.join([self.library.result_enum, *outputs])}]"

    def attribute_variants(self, function: Function) -> list[str]:
        """One signature for each type that an attribute can have."""
        value = next((p for p in function.params if p.kind.startswith("out:attr:")), None)
        if value is None:
            return []
        enum = value.kind.rpartition(":")[2]
        attribute = next(p.name for p in function.params if p.c_name == value.aux)
        members: dict[str, list[str]] = {}
        for member, kind in self.library.attributes[enum].items():
            members.setdefault(self.attribute_type(kind), []).append(f"{enum}.{member}")
        variants = []
        for kind, names in members.items():
            given = {attribute: f"Literal[{', '.join(names)}]"}
            result = self.result(function, {value.name: kind})
            variants.append(f"({self.parameters(function, given)}) -> {result}")
        return variants

    def attribute_type(self, kind: str) -> str:
        word, _, name = kind.partition(":")
        if word == "list":
            return f"list[{ATTRIBUTE_TYPES.get(name, 'int')}]"
        return name or ATTRIBUTE_TYPES.get(word, "int")

    def input_type(self, param: Param) -> str:
        word, _, name = param.kind.partition(":")[2].partition(":")
        if not word:
            return "float" if split_type(param.c_type)[0] in FLOATS else INTEGER
        simple = {
            "voidp": "_Address",
            "rawptr": INTEGER,
            "kparams": "_KernelParams",
            "callback_data": "_Address",
            "callback": f"{split_type(param.c_type)[0]} | {INTEGER} | None",
            "bytes": "bytes | bytearray" if "const" in param.c_type else "bytes | Buffer",
            "attr": "Any",
            "attrlist": "list[Any] | tuple[Any, ...] | None",
            "count": "int",
            "float*": "float | list[float] | tuple[float, ...]",
            "enum": f"{name} | int",
            "struct": name,
            "struct*": f"{name} | None",
            "handle": f"{name} | {INTEGER} | None",
            "ptr": f"{name} | {INTEGER} | None",
            "iterator": f"{name} | None",
        }
        if word in simple:
            return simple[word]
        if word in ("list", "list5"):
            element = {"voidp": "_Address", "bytes": "bytes"}.get(name) or self.value_type(name)
            return f"list[{element}] | tuple[{element}, ...] | None"
        return INTEGER

    def output_type(self, param: Param) -> str:
        words = param.kind.split(":")
        if len(words) == 1:
            return self.value_type(split_type(param.c_type)[0])
        word, name = words[1], words[-1]
        if word in ("enum", "iterator"):
            return name
        if word in ("list", "list(callee)"):
            return f"list[{self.value_type(name.partition('[')[0])}]"
        simple = {
            "voidp": "int",
            "cstr": "bytes",
            "charbuf": "bytes",
            "attr": "Any",
            "attrlist": "list[Any]",
        }
        return simple.get(word) or ("bytes" if word.startswith("bytes[") else self.value_type(word))
