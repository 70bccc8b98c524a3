# SPDX-License-Identifier: Apache-2.0
"""Calls of the differential run: built from the kinds of the generator's model, by tables."""

import re
import tomllib
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from generator import libraries
from generator.emit import numpy_values

FOLDER = Path(__file__).parent
MEMBERS = 400  # maximal number of members with which an enum parameter is tried
WORDS = {
    "voidp": "address",
    "callback_data": "address",
    "rawptr": "raw_address",
    "kparams": "kernel_params",
    "callback": "callback",
    "attr": "attribute",
    "attrlist": "attributes",
    "enum": "enum",
    "struct": "struct",
    "struct*": "struct",
    "handle": "handle",
    "ptr": "handle_by_address",
    "iterator": "iterator",
    "list": "list",
    "list5": "short_list",
    "float*": "float",
    "count": "count",
    "attrsize": "integer",
    "str": "name",
    "intptr": "number_of",
    "intptr*": "number_of",
    "nonnull": "number_of",
    "int": "enum_number",
    "options": "options",
    "buffer": "data",
    "buffer*": "result_data",
    "data": "data_struct",
    "object": "data_struct",
    "values": "values",
}
ATTRIBUTE_VALUES = {
    "int": "1",
    "unsigned": "1",
    "bool": "True",
    "float": "0.5",
    "address": "0",
    "text": "b'text'",
    "buffer": "bytearray(4096)",
    "bytes": "b'text'",
    "list": "[]",
}


@cache
def table(name):
    return tomllib.loads((FOLDER / f"{name}.toml").read_text())


class Planner:
    """The cases of one library."""

    def __init__(self, name, backend):
        self.library = libraries.load(name)
        self.enums = {e.name: e for e in self.library.enums}
        self.handles = [h.name for h in self.library.handles]
        self.classes = {s.name for s in self.library.structs} | set(self.handles)
        self.things = table("things")["things"].get(name, {})
        self.prefix = f"{name}." if self.library.raises else ""
        self.enums_of_c = {e.c_name: e for e in self.library.enums}
        self.left_out = [
            row
            for row in table("left_out").get(name, [])
            if backend in row.get("backends", ["emulator", "gpu"])
        ]

    def functions(self):
        return [
            {
                "name": name_of(f),
                "ends things": bool(ENDING.search(name_of(f))),
                "cases": list(self.cases(f)),
            }
            for f in self.library.functions
            if f.in_python
        ]

    def is_left_out(self, function, variant=None):
        """Return whether the arguments cannot work, or the tables exclude the variant."""
        return any(
            re.fullmatch(row["names"], name_of(function))
            and (
                "variants" not in row
                if variant is None
                else re.fullmatch(row.get("variants", ""), variant)
            )
            for row in self.left_out
        )

    # --- cases ---------------------------------------------------------------------------------

    def cases(self, function):
        params = self.params(function)
        right = {p.name: self.right(function, p) for p in params}
        yield from self.miscounted(function, right)
        if self.is_left_out(function):
            yield from self.refused(function, right)
            return
        yield self.case(function, "", "right", right)
        if params:
            keywords = ", ".join(f"{n}={v}" for n, v in right.items())
            yield self.record(function, "", "keywords", f"m.{name_of(function)}({keywords})")
        for p in params:
            for variant, value in self.wrong(function, p).items():
                if self.is_left_out(function, variant):
                    continue
                yield self.case(function, p, variant, right | {p.name: value})
        yield from self.each_member(function, params, right)

    def miscounted(self, function, right):
        """Yield too many arguments, too few, and unknown names, which every layer refuses."""
        values = list(right.values())
        call = f"m.{name_of(function)}"
        yield self.record(function, "", "too many", f"{call}({', '.join([*values, 'None'])})")
        if any("=" not in text for text in function.py):
            yield self.record(function, "", "none at all", f"{call}()")
            required = [v for v, text in zip(values, function.py, strict=True) if "=" not in text]
            few = ", ".join(required[:-1])
            if few:
                yield self.record(function, "", "too few", f"{call}({few})")
        yield self.record(function, "", "unknown name", f"{call}(unknown_name=None)")

    def refused(self, function, right):
        """Yield arguments that no parameter accepts."""
        for variant, value in (("object", "object()"), ("list", "[]")):
            arguments = dict.fromkeys(right, value)
            if arguments:
                yield self.case(function, "", f"all {variant}", arguments)

    def each_member(self, function, params, right):
        """Yield the other members of an enum, with a value suited to each attribute."""
        for p in params:
            enum = self.enum_of(p)
            if enum is None or not 0 < len(enum.members) <= MEMBERS:
                continue
            in_list = word_of(p) == "list"
            if word_of(p) not in ("enum", "int") and not (
                in_list and enum.name in self.library.attributes
            ):
                continue
            for member in enum.members:
                text = f"m.{enum.name}.{member.name}"
                arguments = right | {p.name: f"[{text}]" if in_list else text}
                for value in params:
                    if value.aux == p.c_name and word_of(value) in ("attr", "attrlist"):
                        value_text = self.attribute(self.kind_of_value(enum.name, member.name))
                        arguments[value.name] = f"[{value_text}]" if in_list else value_text
                    if in_list and value.c_name == p.aux:
                        arguments[value.name] = "1"
                yield self.case(function, p, "member", arguments)

    def case(self, function, param, variant, arguments):
        call = f"m.{name_of(function)}({', '.join(arguments.values())})"
        return self.record(function, param, variant, call)

    def record(self, function, param, variant, call):
        return {
            "function": name_of(function),
            "parameter": param.name if param else "",
            "kind": param.words if param else "",
            "variant": variant,
            "call": call,
        }

    # --- values --------------------------------------------------------------------------------

    def params(self, function):
        by_name = {p.name: p for p in function.params}
        for name, field in numpy_values.assembled_fields(self.library, function).items():
            kind = {"int": "in", "float": "in", "str": "in:str", "array": "in:values"}
            annotation = numpy_values.annotation(field)
            words, c_type = kind.get(annotation, "in:values"), field.target or "int"
            by_name[name] = SimpleNamespace(
                name=name, c_name=name, c_type=c_type, words=words, aux=""
            )
        return [by_name[text.partition("=")[0]] for text in function.py]

    def right(self, function, param):
        arguments = table("values")["right"].get(self.prefix + name_of(function), {})
        if param.name in arguments:
            return arguments[param.name]
        word = word_of(param)
        if word == "attrlist" or (word == "list" and type_of(param) in self.library.attributes):
            return "[]"
        if word == "voidp":
            for row in table("values")["addresses"]:
                if "memory" in self.things and re.search(row["names"], param.c_name):
                    return row["value"]
        return self.fill(function, param, self.row(param)["right"])

    def wrong(self, function, param):
        right = self.right(function, param)
        texts = self.row(param)["wrong"].items()
        expressions = {variant: self.fill(function, param, text) for variant, text in texts}
        return {variant: text for variant, text in expressions.items() if text != right}

    def row(self, param):
        word = word_of(param)
        if word == "bytes":
            kind = "text" if "const" in param.c_type else "target"
        elif word in WORDS:
            kind = WORDS[word]
        else:
            is_float = param.c_type.split()[-1] in ("float", "double")
            kind = "float" if is_float else "integer"
        return table("values")["kinds"][kind]

    def fill(self, function, param, text):
        """Return the expression, with its parts replaced according to the function and the kind."""
        parts = {
            "T": lambda: type_of(param) or param.c_type,
            "other": lambda: self.other_handle(type_of(param)),
            "result": lambda: self.library.decisions.result_enum,
            "first": lambda: str(self.enums[type_of(param)].members[0].value),
            "type": lambda: param.c_type.rstrip("* "),
            "first_number": lambda: self.first_number(param),
            "element": lambda: self.element(type_of(param)),
            "integer": lambda: self.integer(function, param),
            "text": lambda: "b'text'",
            "attribute": lambda: self.attribute(self.kind_of_value(type_of(param))),
        }
        return re.sub(r"\{(\w+)\}", lambda match: parts[match[1]](), text)

    def enum_of(self, param):
        if word_of(param) == "int":
            return self.enums_of_c.get(param.c_type.removeprefix("const ").strip())
        return self.enums.get(type_of(param))

    def first_number(self, param):
        enum = self.enum_of(param)
        return str(enum.members[0].value) if enum else "0"

    def other_handle(self, name):
        other_handles = (h for h in self.handles if h != name)
        return next((f"m.{other}(0)" for other in other_handles), "object()")

    def element(self, name):
        if name in self.enums:
            return f"m.{name}({self.enums[name].members[0].value})"
        if name in self.classes:
            return f"the('{name}')"
        return {"bytes": "b'text'", "voidp": "0", "float": "0.5", "double": "0.5"}.get(name, "1")

    def integer(self, function, param):
        lists = [p for p in function.params if p.aux == param.c_name and p.words.startswith("in:")]
        if lists:
            is_empty = any(self.right(function, p) == "[]" for p in lists)
            return "0" if is_empty else "1"
        data = [p for p in function.params if p.words == "in:buffer" and p.aux == param.c_name]
        if data:
            return "4"
        options = [p for p in function.params if p.words == "in:options" and p.aux == param.c_name]
        if options:
            return "0"
        for row in table("values")["integers"]:
            if re.search(row["names"], param.c_name):
                return row["value"]
        return "0"

    def kind_of_value(self, enum, member=None):
        """Return the value type of an attribute; of the first one, if none is named."""
        member = member or self.enums[enum].members[0].name
        return str(self.library.attributes.get(enum, {}).get(member, "int"))

    def attribute(self, kind):
        word, _, name = kind.partition(":")
        if name and word != "list":
            return f"the('{name}')" if name in self.classes else f"m.{name}(0)"
        return ATTRIBUTE_VALUES.get(word, "1")


ENDING = re.compile(
    "(?i)Destroy|Free|Unload|Close|Unregister|Release|Complete|Pop|Attach|Detach|Delete"
    "|EndCapture|BeginCapture|RemoveDependencies"
)


def name_of(function):
    return getattr(function, "python_name", "") or function.name


def word_of(param):
    return param.words.partition(":")[2].partition(":")[0]


def type_of(param):
    return param.words.partition(":")[2].partition(":")[2].partition("[")[0]


def of_library(name, backend):
    """Return the input of `caller.py`."""
    return {
        "module": f"cuda.bindings.{name}",
        "things": table("things")["things"].get(name, {}),
        "no answer": table("things")["no_answer"].get(name, []),
        "before": table("things")["before"].get(name, []),
        "after": table("things")["after"].get(name, []),
        "functions": Planner(name, backend).functions(),
        **({"batch": table("things")["batch"][name]} if name in table("things")["batch"] else {}),
    }
