# SPDX-License-Identifier: Apache-2.0
"""Calls every function of a library in all call forms, on the null driver, and prints failures.

Arguments are built from the generator's model. Positional calls of hot functions use the
specialized form, calls by keyword use the table-driven form. Both must behave the same, with
good and bad arguments.
"""

import ctypes
import gc
import json
import os
import sys
from importlib import import_module

from generator import libraries
from tests.bindings.function_tables import slots

LIBRARY = libraries.load(os.environ["HALFWARP_SWEEP"])
module = import_module(f"{LIBRARY.package}.{LIBRARY.module}")
KEEPS = {"cuLinkCreate"}  # its options live until cuLinkDestroy
HANDLES = {h.name for h in LIBRARY.handles}
STRUCTS = {s.name for s in LIBRARY.structs}


def element(word):
    """Return an element of a list, or the value of a typed argument."""
    if word in HANDLES:
        return getattr(module, word)(1)
    if word in STRUCTS:
        return getattr(module, word)()
    if "." in word:
        other, _, name = word.partition(".")
        return getattr(import_module(f"cuda.bindings.{other}"), name)(1)
    if word in ("bytes", "text"):
        return b"text"
    return bytearray(16) if word == "buffer" else None if word == "voidp" else 1


def typed(word):
    """Return a value for an attribute type: `handle:T`, `list:T`, `unsigned int`..."""
    kind, _, name = word.partition(":")
    return [element(name)] if kind == "list" else element(name or kind)


def first_attribute(enum):
    member, kind = next(iter(LIBRARY.attributes[enum].items()))
    return int(getattr(getattr(module, enum), member)), str(kind)


class Arguments:
    """Valid arguments of one function, in Python order."""

    def __init__(self, function):
        self.params = {p.name: p for p in function.params}
        self.enums = {
            p.aux: p.words.rpartition(":")[2]
            for p in function.params
            if ":attr" in p.words and p.aux
        }
        self.names = [name.partition("=")[0] for name in function.py if "=" not in name]
        self.values = [self.value(self.params[name]) for name in self.names]

    def value(self, param):
        words = param.words.split(":")[1:]
        if param.c_name in self.enums:
            attribute = first_attribute(self.enums[param.c_name])[0]
            return [attribute] if "list" in words else attribute
        if not words:
            return 1.0 if param.c_type == "float" else 1
        return self.by_word(param, *words)

    def by_word(self, param, word, name=""):
        if word in ("attr", "attrlist"):
            value = typed(first_attribute(name)[1])
            return [value] if word == "attrlist" else value
        if word in ("list", "struct", "struct*", "ptr", "handle", "iterator"):
            value = element(name)
            return [value] if word == "list" else value
        if word == "bytes":
            return b"text" if param.c_type.startswith("const") else bytearray(64)
        nothing = {"voidp", "callback", "callback_data", "kparams", "list5"}
        return (
            None if word in nothing else 1.0 if word == "float*" else 0 if word == "rawptr" else 1
        )


def outcome(call):
    """Return the effect of a call, comparable with another call: types of the outputs, or the
    error."""
    try:
        result = call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not isinstance(result, tuple):
        return [0, type(result).__name__]
    return [int(result[0]), *(type(value).__name__ for value in result[1:])]


def check_good(function, arguments):
    call = getattr(module, function.name)
    positional = outcome(lambda: call(*arguments.values))
    repeated = Arguments(function)
    named = outcome(lambda: call(**dict(zip(repeated.names, repeated.values, strict=True))))
    if positional != named:
        yield f"positional {positional}, by keyword {named}"
    if isinstance(positional, str):
        yield positional
    elif len(positional) != 1 + len(function.returns):
        yield f"{len(positional)} results, {1 + len(function.returns)} expected"


def accepts_anything(param):
    return param.words.startswith("in:attr:") and first_attribute(param.words[8:])[1] == "bool"


def check_bad(function, arguments):
    call = getattr(module, function.name)
    for i, name in enumerate(arguments.names):
        if accepts_anything(arguments.params[name]):
            continue
        wrong = [*arguments.values[:i], object(), *arguments.values[i + 1 :]]
        positional = outcome(lambda wrong=wrong: call(*wrong))
        keywords = dict(zip(arguments.names, wrong, strict=True))
        named = outcome(lambda keywords=keywords: call(**keywords))
        expected = f"TypeError: {function.name}() argument '{name}': "
        if positional != named or not str(positional).startswith(expected):
            yield f"a bad {name!r} gives {positional!r}, by keyword {named!r}"


def blocks():
    gc.collect()
    return sys.getallocatedblocks()


def check_leaks(function):
    """Check that good and bad calls leak no object."""
    call, rounds = getattr(module, function.name), 100

    def run():
        for _ in range(rounds):
            arguments = Arguments(function)
            outcome(lambda arguments=arguments: call(*arguments.values))
            outcome(lambda arguments=arguments: call(*arguments.values[:-1], object()))

    for _ in range(20):  # a leak grows every time; free lists and caches fill up occasionally
        before = blocks()
        run()
        grown = blocks() - before
        if grown < rounds // 4 or function.name in KEEPS:
            return
    yield f"{grown} blocks left by {rounds} calls"


@ctypes.CFUNCTYPE(ctypes.c_int)
def succeed():
    return 0


def make_null():
    """Clear the function table. The null driver returns from its own functions only; others
    return success without effect."""
    address = ctypes.cast(succeed, ctypes.c_void_p).value
    for slot in slots(LIBRARY.name.removeprefix("v2_")).values():
        slot.value = address


def main():
    if LIBRARY.name != "driver":
        make_null()
    problems, swept = {}, 0
    gc.freeze()  # keeps collections short
    for function in LIBRARY.functions:
        if not function.in_python:
            continue
        arguments = Arguments(function)
        failures = [*check_bad(function, arguments), *check_good(function, arguments)]
        failures += check_leaks(function)
        swept += 1
        if failures:
            problems[function.name] = failures
    print(json.dumps({"swept": swept, "problems": problems}))


if __name__ == "__main__":
    main()
