# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions that raise: handles are ints, buffers have sizes, structs are arrays."""

import hostile
from values import ADDRESS, LARGE, SMALL, WRONG, Values

INPUTS = b"garbage\0" * 8, b"", bytearray(64), memoryview(b"x" * 16)
NAMES = "fuzz", "", "x" * 3000, "é", "\udcff", "a\0b"
OPTIONS = ("-arch=sm_90", "-lto", "-O3"), ("-arch=compute_90",), ("-opt=0",), ("-64", "-cuda")


class ExceptionValues(Values):
    """With ``wild``, any integer is a handle, since the C library inspects none."""

    def __init__(self, module, library, rng, wild):
        super().__init__(module, library, rng)
        self.wild = wild
        self.numpy_structs = {t.name: t for t in library.numpy_structs if hasattr(module, t.name)}

    def look_at(self, function):
        self.counts = {p.aux for p in function.params if p.words.startswith("out")}

    # ---- results of earlier calls

    def remember_result(self, function, outputs):
        returned = [p for p in function.params if p.words == "out:intptr"]
        if len(returned) == 1 and isinstance(outputs, int):
            self.live[returned[0].c_type.removesuffix("*").strip()].append(outputs)

    def forget(self, function, arguments):
        """Forget the handle that a call destroys; the C library never receives it again."""
        for parameter, value in arguments:
            param = next((p for p in function.params if p.name == parameter), None)
            if param and param.words == "in:intptr*":
                known = self.live[param.c_type.removesuffix("*").strip()]
                self.live[param.c_type.removesuffix("*").strip()] = [
                    handle for handle in known if handle != value
                ]

    # ---- right values

    def known_handle(self, c_type):
        known = self.live[c_type.removesuffix("*").strip()]
        if known and (self.rng.random() < 0.9 or not self.wild):
            return self.rng.choice(known)
        return self.pick(0, 1, ADDRESS, *LARGE) if self.wild else 0

    def data(self, name):
        """Return a data object, its address or None; occasionally an object of a wrong class."""
        data_object = self.data_object(name)
        return (
            self.pick(data_object, data_object, None, 0, ADDRESS)
            if self.wild
            else self.pick(data_object, None)
        )

    def data_object(self, name):
        cls = getattr(self.module, name)
        if self.numpy_structs[name].is_array:
            return cls(self.pick(0, 1, 1, 2, 5))
        return cls()

    def right(self, param):
        word, _, detail = param.words.partition(":")
        kind, _, name = detail.partition(":")
        if word == "in" and kind in ("data", "object"):
            return self.data(name)
        if param.c_name in self.counts:
            return self.pick(*SMALL, 80, 1000)
        makers = {
            "intptr": lambda: self.known_handle(param.c_type),
            "nonnull": lambda: self.known_handle(param.c_type),
            "intptr*": lambda: self.known_handle(param.c_type),
            "int": lambda: self.pick(0, 1, 2, 3, 10, 77, -1, 2**31 - 1),
            "str": lambda: self.rng.choice(NAMES),
            "buffer": lambda: self.rng.choice(INPUTS),
            "buffer*": lambda: self.pick(bytearray(1 << 16), bytearray(1), bytes(8)),
            "options": lambda: list(self.rng.choice(OPTIONS)),
        }
        return makers.get(kind, self.number)()

    def agree(self, function, arguments):
        """Set sizes to the lengths of their buffers and lists."""
        at = {
            p.c_name: i for p in function.params for i, g in enumerate(arguments) if g[0] == p.name
        }
        for param in function.params:
            i, aux = at.get(param.c_name), at.get(param.aux)
            if i is not None and aux is not None and param.words.startswith("in:"):
                value = arguments[i][1]
                sized = type(value) in (list, tuple, bytes, bytearray)
                arguments[aux] = (arguments[aux][0], len(value) if sized else 0)

    # ---- wrong values

    def wrong(self, param):
        kind = param.words.removeprefix("in:").partition(":")[0]
        if kind in ("data", "object"):
            other = self.data_object(self.rng.choice([*self.numpy_structs]))
            return self.pick(*hostile.invalid_values(), *WRONG, other)
        if kind in ("intptr", "intptr*", "nonnull"):
            return self.pick(
                *hostile.invalid_values(), *WRONG[3:], None, *(self.dull if self.wild else ())
            )
        if kind in ("buffer", "buffer*"):
            return self.pick(*hostile.invalid_values(), *hostile.buffers(), *WRONG[3:])
        if kind == "options":
            elements = [self.rng.choice(self.dull) for _ in range(self.pick(1, 2, 5))]
            names = hostile.emptied_list(*NAMES[:4]), hostile.Sequence(NAMES), "-lto"
            return self.pick(elements, tuple(elements), None, hostile.Raises(), *names)
        if param.c_name in self.counts:
            return self.pick(*hostile.invalid_values(), *WRONG, None)
        return self.pick(None, *WRONG, *self.dull)
