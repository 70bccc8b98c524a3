# SPDX-License-Identifier: Apache-2.0
"""Arguments built from the generator's model of a parameter: valid and invalid."""

import ctypes
import mmap
from collections import defaultdict

import hostile
import setting

ARENA = mmap.mmap(-1, 1 << 23)  # memory that valid addresses point into
ADDRESS = ctypes.addressof(ctypes.c_char.from_buffer(ARENA))
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
CALLBACK_ADDRESS = ctypes.cast(CALLBACK, ctypes.c_void_p).value
MODES = ctypes.c_int, ctypes.c_float, ctypes.c_double, ctypes.c_void_p, ctypes.c_char, None

SMALL = (0, 0, 1, 1, 2, 3, 4)
LARGE = (2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**63 - 1, 2**63, 2**64 - 1)
WRONG = (-1, -(2**31), -(2**63), -(2**63) - 1, 2**64, 2**200)
TEXTS = b"fuzz", b"", b"x" * 2000, b"\xff\xfe%s%n", bytearray(b"fuzz"), bytearray(), b"saxpy"


class Values:
    """Generates the arguments of one library's functions; stores the handles that calls return."""

    def __init__(self, module, library, rng):
        self.module, self.library, self.rng = module, library, rng
        self.classes = {c.name: c for c in (*library.handles, *library.structs)}
        self.shapes = {h.name: h.shape for h in library.handles}
        self.enums = {e.name: e for e in library.enums}
        self.live = defaultdict(list)
        self.dull = [*hostile.invalid_values(), *hostile.numbers(), *hostile.buffers()]
        self.short = False  # lengths stay small during this call
        self.counts = (
            set()
        )  # parameters that are the length of a result, which is allocated completely
        self.subclasses = {}

    def pick(self, *choices):
        return self.rng.choice(choices)

    def look_at(self, function):
        """Prepare the arguments of a call."""
        self.short = setting.stays_small(function)
        outputs = [p for p in function.params if p.words.startswith("out")]
        self.counts = {p.aux for p in outputs} | {p.words.rpartition(":")[2] for p in outputs}

    # ---- results of earlier calls

    def remember(self, value):
        """Store returned handles as arguments of later calls, even if freed in between."""
        name = type(value).__name__
        if self.shapes.get(name) in ("pointer", "integer"):
            known = self.live[name]
            known.append(value)
            if len(known) > 12:
                del known[self.rng.randrange(len(known))]

    # ---- right values, by kind

    def number(self):
        if self.short or self.rng.random() < 0.7:
            return self.pick(*SMALL)
        return self.pick(*LARGE)

    def enum(self, name):
        members = self.enums[name].members if name in self.enums else ()
        if members and self.rng.random() < 0.8:
            value = self.rng.choice(members).value
            return value if self.rng.random() < 0.5 else getattr(self.module, name)(value)
        return self.pick(0, 1, 77, -5, 2**31 - 1)

    def handle(self, name):
        known, shape = self.live[name], self.shapes.get(name, "pointer")
        if known and self.rng.random() < 0.8:
            return self.rng.choice(known)
        if shape == "function":
            return self.pick(None, CALLBACK_ADDRESS, self.make(name, CALLBACK_ADDRESS))
        if name == "CUdeviceptr":
            return self.pick(None, 0, self.make(name, 0))
        if shape == "integer":
            return self.pick(0, 1, self.make(name, 1), self.subclass(name, 1))
        return self.pick(None, 0, self.make(name), self.subclass(name))

    def make(self, name, *args):
        return getattr(self.module, name)(*args)

    def subclass(self, name, *args):
        if name not in self.subclasses:
            base = getattr(self.module, name)
            self.subclasses[name] = type(name, (base,), {"__slots__": ("extra",)})
        return self.subclasses[name](*args)

    def struct(self, name):
        record = self.classes[name]
        if getattr(record, "view_only", False):
            return None
        new_struct = self.subclass(name) if self.rng.random() < 0.1 else self.make(name)
        if self.rng.random() < 0.6:
            self.fill(new_struct, record)
        return new_struct

    def fill(self, target, record):
        """Fill it with random contents: small numbers, handles, addresses inside the arena."""
        for field in record.fields:
            if self.rng.random() < 0.5 and field.is_settable:
                try:
                    setattr(target, field.name, self.field(field.kind))
                except (TypeError, ValueError, OverflowError, AttributeError):
                    continue  # an array of another length, or a value beyond a narrow field
        if any(field.name == "conditional" for field in record.fields):
            target.type = (
                setting.KERNEL_NODE
            )  # otherwise bytes of other members are the driver's array

    def field(self, kind):
        if kind.shape in ("enum", "handle", "struct"):
            return self.by_word(kind.shape, kind.element)
        if kind.shape in ("voidp", "kparams"):
            return self.address()
        if kind.shape == "list":
            return [self.element(kind.element)] * self.pick(0, 1, 2)
        return self.pick(*SMALL)

    def address(self):
        return self.pick(None, 0, ADDRESS, ADDRESS + 64, bytearray(1 << 16))

    def element(self, name):
        if name in self.shapes:
            return self.handle(name)
        if name in self.classes:
            return self.struct(name)
        if name in self.enums:
            return self.enum(name)
        return self.rng.choice(TEXTS) if name == "bytes" else self.number()

    def items(self, name):
        elements = [self.element(name) for _ in range(self.pick(0, 1, 1, 2, 3))]
        return self.pick(elements, elements, tuple(elements), hostile.Sequence(elements))

    def kernel_params(self):
        """Return as many as the kernel needs, which are two, or more: C cannot detect missing
        ones."""
        types = tuple(self.rng.choice(MODES) for _ in range(self.pick(2, 2, 4)))
        right = {None: hostile.Structure(), ctypes.c_void_p: ADDRESS, ctypes.c_char: b"c"}
        values = tuple(right.get(t, 1) for t in types)
        wrong = tuple(self.rng.choice(hostile.invalid_values()) for _ in types)
        return self.pick(
            None, (values, types), (wrong, types), (values, types + types), ((), types)
        )

    def option(self, enum):
        """Return a value for one of the attributes of an enumeration."""
        kinds = self.library.attributes.get(enum, {})
        return self.option_of(self.rng.choice([*map(str, kinds.values()), "int"]))

    def option_of(self, words):
        word, _, name = words.partition(":")
        if word == "list":
            return [self.option_value(name) for _ in range(self.pick(0, 1, 2))]
        return self.option_value(name or word)

    def option_value(self, word):
        if word in ("buffer", "text", "bytes"):
            return self.rng.choice(TEXTS[4:6] if word == "buffer" else TEXTS)
        if word == "address":
            return self.pick(None, ADDRESS)
        return self.element(word)

    def by_word(self, word, name=""):
        makers = {
            "enum": lambda: self.enum(name),
            "handle": lambda: self.handle(name),
            "struct": lambda: self.struct(name),
            "struct*": lambda: self.struct(name) if self.rng.random() < 0.9 else None,
            "ptr": lambda: self.pick(None, self.handle(name), self.make(name)),
            "list": lambda: self.items(name),
            "list5": lambda: self.items(name),
            "attr": lambda: self.option(name),
            "attrlist": lambda: [self.option(name) for _ in range(self.pick(0, 1, 2))],
            "bytes": lambda: self.rng.choice(TEXTS),
            "voidp": self.address,
            "callback": lambda: self.pick(None, CALLBACK_ADDRESS),
            "callback_data": self.address,
            "kparams": self.kernel_params,
            "rawptr": lambda: 0,
            "float*": lambda: self.pick(1.0, 2, (1.0, 2.0), [0.5] * 4),
            "iterator": lambda: self.pick(None, self.handle(name)),
        }
        return makers.get(word, self.number)()

    def right(self, param):
        words = param.words.split(":")[1:]
        if words[:1] == ["bytes"] and not param.c_type.startswith("const"):
            return self.pick(bytearray(4096), bytes(bytearray(4096)), bytearray(1))
        if "(*" in param.c_type:  # a function pointer that is no handle
            return self.pick(None, CALLBACK_ADDRESS)
        if words[:1] == ["voidp"] and param.c_type.startswith("const"):
            return self.pick(self.address(), setting.PTX, b"garbage\0" * 64)
        if param.c_name in self.counts:
            return self.pick(*SMALL, 1000, 2**16, 2**45, 2**62, 2**64 - 1)
        return self.by_word(*words[:2]) if words else self.number()

    # --- related arguments
    # -----------------------------------------------------------------------------

    def agree(self, function, arguments):
        """Set counts to the lengths of their lists; make attributes and values fit."""
        at = {p.c_name: argument_at(arguments, p.name) for p in function.params}
        typed_first = sorted(function.params, key=lambda p: ":attr" not in p.words)
        for param in typed_first:
            words = param.words.split(":")
            i, aux = at[param.c_name], at.get(param.aux)
            if i is None or aux is None:
                continue
            if words[1] in ("attr", "attrlist"):
                self.pair(arguments, aux, i, words)
            elif type(arguments[i][1]) in (list, tuple):
                arguments[aux] = (arguments[aux][0], len(arguments[i][1]))

    def pair(self, arguments, attribute_at, value_at, words):
        members = {m.name: m.value for m in self.enums[words[2]].members}
        kinds = list(self.library.attributes[words[2]].items())
        chosen = [self.rng.choice(kinds) for _ in range(self.pick(1, 1, 2, 4))]
        attributes = [members[name] for name, _ in chosen]
        values = [self.option_of(str(kind)) for _, kind in chosen]
        if self.rng.random() < 0.2:
            values[-1] = hostile.Empties(values)
        alone = words[1] == "attr"
        arguments[attribute_at] = (
            arguments[attribute_at][0],
            attributes[0] if alone else attributes,
        )
        arguments[value_at] = (arguments[value_at][0], values[0] if alone else values)

    # ---- wrong values

    def wrong(self, param):
        """Return a value of another type, range or length; never a foreign address."""
        kind = param.words
        if "list" in kind or "float*" in kind:
            elements = [self.rng.choice(self.dull) for _ in range(self.pick(1, 2, 5))]
            word = kind.rpartition(":")[2]
            emptied = hostile.emptied_list(*(self.element(word) for _ in range(8)))
            return self.pick(elements, emptied, tuple(elements), None, 5, hostile.Raises())
        words = "voidp", "callback", "rawptr", "ptr:", "kparams"
        if any(word in kind for word in words):
            return self.pick(*hostile.invalid_values(), -1, 2**64)
        if kind.split(":")[-1] in self.shapes:
            return self.pick(*hostile.invalid_values(), *WRONG, self.another_class())
        if param.c_name in self.counts:
            return self.pick(*hostile.invalid_values(), *WRONG, None)
        if kind in ("in", "inout:count") or "enum" in kind:
            return self.pick(
                *WRONG, None, *(self.dull if not self.short else hostile.invalid_values())
            )
        return (
            self.pick(None, *self.dull) if not self.short else self.pick(*hostile.invalid_values())
        )

    def another_class(self):
        return self.make(self.rng.choice(list(self.shapes))) if self.shapes else object()

    def argument(self, param, chance_of_wrong):
        if self.rng.random() >= chance_of_wrong:
            return self.right(param)
        return self.wrong(param)


def argument_at(arguments, name):
    return next((i for i, (parameter, _) in enumerate(arguments) if parameter == name), None)
