# SPDX-License-Identifier: Apache-2.0
"""Stubs of the convention "status_codes": a tuple of the result code and the outputs.

The type of an output is its type on success, joined with `Any`, since it is None on an error. Type
checkers then accept code that checks the result code and code that checks the output, and report
wrong uses of the value in both.
"""

from __future__ import annotations

from textwrap import indent

from ...classify import split_type
from ...kinds import INTEGER, VALUES, Kind
from ...model import Field, Function, Handle, Library, Param, Struct
from ..numpy_values import FLOATS
from .writing import INDENT, KERNEL_PARAMS, Writer, docstring

SIZEOF = """\
Returns the size in bytes of a C type. Host only.

Parameters
----------
objType
    Class of this module for the type."""
HEAD = """\
_NoneOnError: TypeAlias = Any
_Got = TypeVar("_Got", covariant=True)
_Given = TypeVar("_Given", contravariant=True)


@type_check_only
class _Field(Generic[_Got, _Given]):
    @overload
    def __get__(self, owner: None, kind: type[Any], /) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type[Any] | None = None, /) -> _Got: ...
    def __set__(self, owner: Any, value: _Given, /) -> None: ...


_Int: TypeAlias = _Field[int, SupportsIndex]
_Float: TypeAlias = _Field[float, float]
_Pointer: TypeAlias = _Field[int, _Address]
_Bytes: TypeAlias = _Field[builtins.bytes, builtins.bytes | bytearray | Sequence[int]]


@type_check_only
class _Handle:
    def __new__(cls, init_value: SupportsIndex = 0, _ptr: int = 0) -> Self: ...
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
    def __buffer__(self, flags: int, /) -> memoryview: ...
"""
NUMBERS = {  # type that is read -> type that is accepted
    "int": INTEGER,
    "float": "float",
    "builtins.bytes": "builtins.bytes | bytearray | Sequence[int]",
}
FIELDS = {
    ("int", NUMBERS["int"]): "_Int",
    ("float", NUMBERS["float"]): "_Float",
    ("int", "_Address"): "_Pointer",
    ("builtins.bytes", NUMBERS["builtins.bytes"]): "_Bytes",
}


class StatusCodesWriter(Writer):
    purpose = (
        "The {name} API. Functions return a tuple: result code, then outputs (None on an error)."
    )

    def __init__(self, library: Library):
        super().__init__(library)
        self.homes = {}  # class -> its name in the stub
        for name, used in library.uses.items():
            self.homes |= {c.name: f"{name}.{c.name}" for c in classes_of(used)}
        self.homes |= {c.name: c.name for c in classes_of(library)}
        self.enums = {e.name for lib in (*library.uses.values(), library) for e in lib.enums}
        self.bases = {h.name: h.base for h in library.handles}

    def parts(self) -> list[str]:
        library = self.library
        functions = [self.function(f) for f in library.functions if f.in_python]
        functions.append(f"def sizeof(objType: type) -> int:\n{indent(docstring(SIZEOF), INDENT)}")
        return [
            f"{KERNEL_PARAMS}\n{HEAD}",
            *map(self.enum, library.enums),
            *map(self.handle, library.handles),
            *map(self.struct, library.structs),
            self.constants(library.offered),
            "\n".join(functions),
        ]

    # --- classes -------------------------------------------------------------------------------

    def handle(self, handle: Handle) -> str:
        lines = ["def __cuda_stream__(self) -> tuple[int, int]: ..."] if handle.is_stream else []
        return self.class_text(f"{handle.name}({handle.base or '_Handle'})", lines)

    def struct(self, struct: Struct) -> str:
        if struct.base:
            return self.class_text(f"{struct.name}({struct.base})", [])
        lines = [self.field(field) for field in struct.fields]
        inputs = {f.name: self.field_types(f)[1] for f in struct.fields if not f.readonly}
        if struct.joint_lists:
            lists = ", ".join(f"{name}: {inputs[name]}" for name in struct.joint_lists)
            lines.append(f"def {struct.joint_method}(self, {lists}) -> None: ...")
        if not struct.view_only:
            settable = [f.name for f in struct.fields if f.is_settable]
            keywords = [f"{name}: {inputs[name]} = ..." for name in settable]
            params = ", ".join(["cls", "*", *keywords, "_ptr: int = 0"])
            lines.append(f"def __new__({params}) -> Self: ...")
        return self.class_text(f"{struct.name}(_Struct)", lines)

    def field(self, field: Field) -> str:
        read, written = self.field_types(field)
        if not field.is_settable:
            return f"@property\ndef {field.name}(self) -> {read}: ..."
        spelled = FIELDS.get((read, written)) or f"_Field[{read}, {written}]"
        return f"{field.name}: {spelled}"

    def field_types(self, field: Field) -> tuple[str, str]:
        """The type that is read from a field, and the type that it accepts."""
        shape, name = field.kind.shape, field.kind.element
        if shape in ("array", "list"):
            element = self.value_type(name)
            return f"list[{element}]", f"list[{element}] | tuple[{element}, ...]"
        if shape == "struct":
            return self.homes[name], self.homes[name]
        if shape == "handle":
            return self.homes[name], self.handle_input(name)
        if shape == "enum":
            return self.homes[name], f"{self.homes[name]} | int"
        simple = {"kparams": ("int", "_KernelParams"), "voidp": ("int", "_Address")}
        read = field.kind.row.stub or self.value_type(name)
        return simple.get(shape) or (read, NUMBERS.get(read, read))

    def value_type(self, name: str) -> str:
        return self.homes.get(name) or ("float" if name in FLOATS else "int")

    def handle_input(self, name: str) -> str:
        """The accepted types of a handle: its class, the base class in another library, an int."""
        base = self.bases.get(name)
        return " | ".join(filter(None, [self.homes[name], base, "int", "None"]))

    # --- functions -----------------------------------------------------------------------------

    def function(self, function: Function) -> str:
        return self.overloaded(function, function.name, self.signatures(function))

    def signatures(self, function: Function) -> list[str]:
        """The signatures of a function, the general one last."""
        plain = f"({self.parameters(function)}) -> {self.result(function)}"
        return [*self.attribute_variants(function), *function.overloads, plain]

    def parameters(self, function: Function, chosen: dict[str, str] | None = None) -> str:
        by_name = {p.name: p for p in function.params}
        parts = []
        for text in function.py:
            name, _, default = text.partition("=")
            kind = (chosen or {}).get(name) or self.input_type(by_name[name])
            parts.append(f"{name}: {kind}{f' = {default}' if default else ''}")
        return ", ".join(parts)

    def result(self, function: Function, chosen: dict[str, str] | None = None) -> str:
        by_name = {p.name: p for p in function.params}
        if function.returns == ["object"] and "inline" in function.flags:
            return self.value_type(function.ret)
        outputs = [
            (chosen or {}).get(name) or self.output_type(by_name[name])
            for name in function.returns
            if name in by_name
        ]
        if function.returns[:1] == ["object"]:
            outputs.insert(0, self.value_type(function.ret))
        elif function.ret != self.library.decisions.result_enum:
            outputs.insert(0, "bytes")
        outputs = [out if out == "Any" else f"{out} | _NoneOnError" for out in outputs]
        return f"tuple[{', '.join([self.library.decisions.result_enum, *outputs])}]"

    def attribute_variants(self, function: Function) -> list[str]:
        """A signature for each type that an attribute can have."""
        value = next((p for p in function.params if p.kind.shape == "attr"), None)
        if value is None:
            return []
        is_output = value.kind.direction == "out"
        enum = value.kind.element
        attribute = next(p.name for p in function.params if p.c_name == value.aux)
        members: dict[str, list[str]] = {}
        for member, kind in self.library.attributes[enum].items():
            typed = self.attribute_type(kind) if is_output else self.attribute_input(kind)
            members.setdefault(typed, []).append(f"{self.homes[enum]}.{member}")
        variants = []
        for kind, names in members.items():
            chosen = {attribute: f"Literal[{', '.join(names)}]", value.name: kind}
            result = self.result(function, chosen)
            variants.append(f"({self.parameters(function, chosen)}) -> {result}")
        return variants

    def attribute_type(self, kind: Kind) -> str:
        name = kind.element
        return VALUES[name].read_type if kind.shape == "plain" else self.homes.get(name, "int")

    def attribute_input(self, kind: Kind) -> str:
        """The accepted types of a setter: numbers, and classes of numbers or their values."""
        name = kind.element
        if kind.shape == "plain":
            return VALUES[name].accepted_type
        if name in self.homes:
            return f"{self.homes[name]} | {'int' if name in self.enums else INTEGER}"
        return INTEGER

    def input_type(self, param: Param) -> str:
        kind, name = param.kind, param.kind.element
        if kind.row.stub:
            return kind.row.stub.format(home=self.homes.get(name))
        if kind.shape == "number":
            return "float" if split_type(param.c_type)[0] in FLOATS else INTEGER
        if kind.shape == "bytes":
            return "bytes | bytearray" if "const" in param.c_type else "bytes | Buffer"
        if kind.shape in ("list", "list5"):
            element = {"voidp": "_Address", "bytes": "bytes"}.get(name) or self.value_type(name)
            return f"list[{element}] | tuple[{element}, ...] | None"
        is_callback = kind.shape == "callback"
        return self.handle_input(split_type(param.c_type)[0] if is_callback else name)

    def output_type(self, param: Param) -> str:
        kind, name = param.kind, param.kind.element
        if kind.shape == "number":
            return self.value_type(name or split_type(param.c_type)[0])
        if kind.shape in ("list", "callee list"):
            return f"list[{self.value_type(name)}]"
        if kind.shape in ("enum", "iterator"):
            return self.homes[name]
        return kind.row.stub or self.value_type(name)


def classes_of(library: Library) -> list:
    return [*library.enums, *library.handles, *library.structs]
