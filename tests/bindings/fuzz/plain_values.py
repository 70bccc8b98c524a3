# SPDX-License-Identifier: Apache-2.0
"""Arguments of further faces: ints in place of the first face's objects, lists with known
lengths.

An address that the C library would follow is null or points into allocated memory.
"""

import array

import hostile
from exception_values import ExceptionValues
from values import ADDRESS, TEXTS, WRONG

TYPED = {"in:items:": (array.array("i", [0, 1]), array.array("Q", [ADDRESS]), b"", b"12345678")}


class PlainValues(ExceptionValues):
    def known_handle(self, c_type):
        known = self.live[c_type.removesuffix("*").strip()]
        return self.rng.choice(known) if known and self.rng.random() < 0.8 else 0

    def remember_result(self, function, outputs):
        """Store one output as an argument of the same C type for later calls."""
        returned = [p for p in function.params if p.kind.is_returned]
        if len(returned) == 1 and type(outputs) is int:
            known = self.live[returned[0].c_type.removesuffix("*").strip()]
            known.append(outputs)
            del known[:-12]

    def data(self, name):
        return self.pick(self.data_object(name), self.data_object(name), None, 0)

    def sequence(self, *items):
        elements = [self.rng.choice(items) for _ in range(self.pick(0, 1, 2, 4))]
        return self.pick(elements, tuple(elements), hostile.Sequence(elements))

    def right(self, param):
        shape, element = param.kind.shape, param.kind.element
        if param.c_type.startswith("CUdeviceptr"):
            return self.known_handle("CUdeviceptr")
        makers = {
            "data": lambda: self.data(element),
            "data list": lambda: self.data(element),
            "object": lambda: self.data_object(element),
            "optional bytes": lambda: self.pick(None, *TEXTS),
            "bytes": lambda: self.rng.choice(TEXTS),
            "handles": lambda: self.pick(None, 0, self.sequence(0, *self.live["CUgraphNode"])),
            "sizes": lambda: self.sequence(4, 8),
            "enumerators": lambda: self.sequence(1, 2, 3, 9999),
            "items": lambda: self.rng.choice(TYPED["in:items:"]),
            "texts": lambda: self.pick(None, self.sequence(b"-lto", b"", b"a=b")),
            "source": lambda: self.pick(bytes(64), bytearray(4096), ADDRESS),
            "destination": lambda: self.pick(bytearray(64), bytearray(4096), ADDRESS),
            "kparams": lambda: self.pick(None, 0, ((1, 2.0), (None, None))),
            "attr": lambda: self.pick(0, 1, True, b"text"),
            "intptr": lambda: self.known_handle(param.c_type),
            "nonnull": lambda: 0,
        }
        return makers[shape]() if shape in makers else super().right(param)

    def wrong(self, param):
        shape = param.kind.shape
        if shape in ("handles", "sizes", "enumerators", "texts"):
            elements = [self.rng.choice(self.dull) for _ in range(self.pick(1, 2, 5))]
            emptied = hostile.emptied_list(1, 2, 3, 4)
            return self.pick(elements, tuple(elements), emptied, "text", b"bytes", 1.5)
        if shape in ("items", "source", "destination", "buffer", "bytes", "optional bytes"):
            return self.pick(*hostile.invalid_values(), *WRONG[3:], "text", 1.5)
        if shape in ("data", "data list", "object"):
            other = self.data_object(self.rng.choice([*self.numpy_structs]))
            return self.pick(*hostile.invalid_values(), *WRONG[3:], other)
        if shape in ("intptr", "intptr*", "nonnull", "kparams") or param.c_type == "CUdeviceptr":
            return self.pick(*hostile.invalid_values(), *WRONG[3:], None, 1.5)
        return super().wrong(param)

    def agree(self, function, arguments):
        """Set counts to the lengths of their lists."""
        at = {
            p.c_name: i for p in function.params for i, g in enumerate(arguments) if g[0] == p.name
        }
        for param in function.params:
            i, aux = at.get(param.c_name), at.get(param.aux)
            if i is not None and aux is not None:
                value = arguments[i][1]
                has_length = type(value) in (list, tuple, bytes, bytearray)
                arguments[aux] = (arguments[aux][0], len(value) if has_length else 0)
