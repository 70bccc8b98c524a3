# SPDX-License-Identifier: Apache-2.0
"""Stubs of the convention "exceptions": functions return outputs and raise on failure."""

from __future__ import annotations

import builtins
from dataclasses import replace
from textwrap import indent

from ...classify import split_type
from ...descriptions import status_check_text
from ...kinds import INTEGER, VALUES, Kind
from ...model import Function, Library, Param
from .. import numpy_values
from ..numpy_values import FLOATS
from .writing import INDENT, KERNEL_PARAMS, Writer, docstring

EXCEPTION = """\
class {name}(Exception):
    status: int
{attributes}    def __init__(self, status: SupportsIndex{arguments}) -> None: ...
"""
# Lists and tuples only: a str is also a sequence of str.
OPTIONS = """\
_Options: TypeAlias = (
    list[str] | list[bytes] | list[str | bytes] | tuple[str | bytes, ...] | SupportsIndex
)
"""
ARRAY = """\
@type_check_only
class _Data:
    @property
    def ptr(self) -> int: ...
    @classmethod
    def from_buffer(cls, buffer: Buffer) -> Self: ...
    @classmethod
    def from_data(cls, data: Any) -> Self: ...
    def copy(self) -> Self: ...
    def asdict(self) -> dict[str, Any]: ...
    def __int__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Self: ...
    def __setitem__(self, index: SupportsIndex | slice, value: Self) -> None: ...
@type_check_only
class _Struct(_Data):
    def __init__(self, **fields: Any) -> None: ...
    @classmethod
    def from_ptr(
        cls, ptr: SupportsIndex, readonly: bool = False, owner: object = None
    ) -> Self: ...
@type_check_only
class _Array(_Data):
    def __init__(self, size: SupportsIndex = 1, **fields: Any) -> None: ...
    @classmethod
    def from_ptr(
        cls,
        ptr: SupportsIndex,
        size: SupportsIndex = 1,
        readonly: bool = False,
        owner: object = None,
    ) -> Self: ...
    @overload
    def __getitem__(self, index: SupportsIndex | slice) -> Self: ...
    @overload
    def __getitem__(self, index: str) -> Any: ...
    @overload
    def __setitem__(self, index: SupportsIndex | slice, value: Self) -> None: ...
    @overload
    def __setitem__(self, index: str, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Self]: ...
@type_check_only
class _Numbers:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def format(self) -> str: ...
    @property
    def memview(self) -> memoryview: ...
    @property
    def ptr(self) -> int: ...
    def tolist(self) -> list[Any]: ...
    def tobytes(self) -> bytes: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Any: ...
    def __setitem__(self, index: SupportsIndex | slice, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
"""


class ExceptionsWriter(Writer):
    purpose = "The {name} API. Functions return their outputs, and raise where they fail."

    def __init__(self, library: Library):
        super().__init__(library)
        self.classes = {c.name for c in (*library.enums, *library.structs)}
        self.public = [t for t in library.numpy_structs if t.dtype]

    def parts(self) -> list[str]:
        library = self.library
        shown = [f for f in library.functions if f.in_python]
        aliases = [replace(f, python_name=alias) for f in shown for alias in f.aliases]
        functions = [self.function(f) for f in (*shown, *aliases)]
        return [
            KERNEL_PARAMS if any("_KernelParams" in text for text in functions) else "",
            OPTIONS if any("_Options" in text for text in functions) else "",
            *map(self.enum, library.enums),
            ARRAY if self.public else "",
            *map(self.numpy_struct, self.public),
            "\n".join(f"{t.dtype}: Any" for t in self.public),
            self.exceptions(),
            self.constants(library.offered),
            "\n".join(functions),
        ]

    def exceptions(self) -> str:
        """The exception class of the library, and its subclasses."""
        name = self.library.decisions.exception
        aliases = self.library.decisions.exception_aliases
        also = {each: f", builtins.{a}" for a, each in aliases.items() if hasattr(builtins, a)}
        derived = [
            f"class {each}({name}{also.get(each, '')}): ..." for each in self.library.exceptions
        ]
        derived += [f"{a} = {each}" for a, each in aliases.items()]
        derived += map(self.status_check, self.library.decisions.status_checks)
        extras = self.library.decisions.error_extras
        base = EXCEPTION.format(
            name=name,
            attributes="".join(f"    {each}: int | None\n" for each in extras.values()),
            arguments="".join(f", {each}: SupportsIndex | None = None" for each in extras),
        )
        return "\n\n".join([base, *derived])

    def imports(self, body: str) -> str:
        aliases = self.library.decisions.enum_aliases.items()
        homes = ((name, *target.split(".")) for name, target in aliases)
        lines = [f"from cuda.bindings.{home} import {c} as {name}" for name, home, c in homes]
        return "\n".join([super().imports(body), *lines])

    def status_check(self, name: str) -> str:
        """A function that returns the text of a status, or raises its exception."""
        head = f"def {name}(status: SupportsIndex) -> {'str' if 'error' in name else 'int'}"
        return f"{head}:\n{indent(docstring(status_check_text(name)), INDENT)}"

    def numpy_struct(self, numpy_struct) -> str:
        """The class of a struct, or of an array of them."""
        base = "_Array" if numpy_struct.is_array else "_Struct"
        fields = [
            f"{f.name}: {self.field_type(numpy_struct, f)}"
            for f in numpy_struct.fields
            if not f.is_hidden
        ]
        return self.class_text(f"{numpy_struct.name}({base})", fields)

    def field_type(self, numpy_struct, field) -> str:
        """The annotation of a field; `Any` for columns and arrays, which accept any sequence."""
        exact = field.form in ("number", "address", "text", "text_pointer", "structure")
        if numpy_struct.is_array or not exact:
            return "Any"
        return spelled(numpy_values.annotation(field))

    def function(self, function: Function) -> str:
        return self.overloaded(function, function.python_name, self.signatures(function))

    def signatures(self, function: Function) -> list[str]:
        """The signatures of a function, the general one last."""
        types = {p.name: self.input_type(p) for p in function.params}
        for name, field in numpy_values.assembled_fields(self.library, function).items():
            annotation = numpy_values.annotation(field)
            types[name] = {"int": INTEGER, "array": "Sequence[int] | bytes"}.get(
                annotation, annotation
            )
        parts = (p.partition("=") for p in function.py)
        params = ", ".join(
            f"{name}: {types[name]}{' = ' if equals else ''}{default}"
            for name, equals, default in parts
        )
        return [*function.overloads, f"({params}) -> {self.result(function)}"]

    def input_type(self, param: Param) -> str:
        kind = param.kind
        if kind.shape == "struct":
            return f"{kind.element} | {INTEGER}" if kind.element in self.classes else "Any"
        if kind.shape == "bytes":
            return "builtins.bytes | bytearray"
        number = "float" if split_type(param.c_type)[0] in FLOATS else INTEGER
        return kind.row.stub.format(element=kind.element) or number

    def result(self, function: Function) -> str:
        if function.result:
            return function.result
        by_name = {p.name: p for p in function.params}
        outputs = [
            spelled(numpy_values.result_annotation(self.library, by_name[name]))
            or self.output_type(by_name[name])
            if name in by_name and by_name[name].kind.is_returned
            else self.returned(function)
            for name in function.returns
        ]
        if len(outputs) > 1:
            return f"tuple[{', '.join(outputs)}]"
        return outputs[0] if outputs else "None"

    def returned(self, function: Function) -> str:
        """The result type of a function whose C function returns no result code."""
        return "str" if "char" in function.ret else "int"

    def output_type(self, param: Param) -> str:
        if param.kind.element in self.classes:
            return param.kind.element
        if param.kind.shape in ("attr", "attrlist"):
            return self.attribute_type(param.kind)
        number = "float" if split_type(param.c_type)[0] in FLOATS else "int"
        return param.kind.row.stub or number

    def attribute_type(self, kind: Kind) -> str:
        """The union of the types of an attribute's values."""
        values = self.library.attributes[kind.element].values()
        names = {VALUES[v.element].read_type if v.shape == "plain" else v.element for v in values}
        names = {"builtins.bytes" if name == "bytes" else name for name in names}
        joined = " | ".join(sorted(names))
        return f"list[{joined}]" if kind.shape == "attrlist" else joined


def spelled(annotation: str | None) -> str | None:
    """The annotation in the stub: the class of number arrays has no public name."""
    return "_Numbers" if annotation == "array" else annotation
