# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions that raise: handles are ints, buffers have sizes, structs are arrays."""

import hostile
from values import ADDRESS, LARGE, SMALL, WRONG, Values

INPUTS = b"garbage\0" * 8, b"", bytearray(64), memoryview(b"x" * 16)
NAMES = "fuzz", "", "x" * 3000, "é", "\udcff", "a\0b"
OPTIONS = ("-arch=sm_90", "-lto", "-O3"), ("-arch=compute_90",), ("-opt=0",), ("-64", "-cuda")


class ExceptionValues(Values):
    """``wild``: the C library looks at no handle, so any integer is one."""

    def __init__(self, module, library, rng, wild):
        super().__init__(module, library, rng)
        self.wild = wild
        self.numpy_structs = {t.name: t for t in library.numpy_structs if hasattr(module, t.name)}

    def look_at(self, function):
        self.counts = {p.aux for p in function.params if p.words.startswith("out")}

    # ---- results of earlier calls

    def remember_result(self, function, result):
        made = [p for p in function.params if p.words == "out:intptr"]
        if len(made) == 1 and isinstance(result, int):
            self.live[made[0].c_type.removesuffix("*").strip()].append(result)

    def forget(self, function, given):
        """The handle that a call ends; the C library is never asked with it again."""
        for parameter, value in given:
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
        """A data object, its address or nothing; one more class than is right, now and then."""
        made = self.data_object(name)
        return self.pick(made, made, None, 0, ADDRESS) if self.wild else self.pick(made, None)

    def data_object(self, name):
        cls = getattr(self.module, name)
        if self.numpy_structs[name].is_array:
            return cls(self.pick(0, 1, 1, 2, 5))
        return cls()

    def right(self, param):
        word, _, rest = param.words.partition(":")
        kind, _, name = rest.partition(":")
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

    def agree(self, function, given):
        """Sizes become those of the buffers and lists that they are said of."""
        at = {p.c_name: i for p in function.params for i, g in enumerate(given) if g[0] == p.name}
        for param in function.params:
            i, aux = at.get(param.c_name), at.get(param.aux)
            if i is not None and aux is not None and param.words.startswith("in:"):
                value = given[i][1]
                sized = type(value) in (list, tuple, bytes, bytearray)
                given[aux] = (given[aux][0], len(value) if sized else 0)

    # ---- wrong values

    def wrong(self, param):
        kind = param.words.removeprefix("in:").partition(":")[0]
        if kind in ("data", "object"):
            other = self.data_object(self.rng.choice([*self.numpy_structs]))
            return self.pick(*hostile.others(), *WRONG, other)
        if kind in ("intptr", "intptr*", "nonnull"):
            return self.pick(*hostile.others(), *WRONG[3:], None, *(self.dull if self.wild else ()))
        if kind in ("buffer", "buffer*"):
            return self.pick(*hostile.others(), *hostile.buffers(), *WRONG[3:])
        if kind == "options":
            elements = [self.rng.choice(self.dull) for _ in range(self.pick(1, 2, 5))]
            names = hostile.emptied_list(*NAMES[:4]), hostile.Sequence(NAMES), "-lto"
            return self.pick(elements, tuple(elements), None, hostile.Raises(), *names)
        if param.c_name in self.counts:
            return self.pick(*hostile.others(), *WRONG, None)
        return self.pick(None, *WRONG, *self.dull)
