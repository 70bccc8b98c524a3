# SPDX-License-Identifier: Apache-2.0
"""Random operations on the struct classes of a raising library: all features, in any order."""

import copy
import pickle
from functools import cache

import hostile
from values import ADDRESS, ARENA, LARGE, SMALL, WRONG

LENGTHS = 0, 1, 2, 5, -1, -(2**63), 2**59, 2**60 + 1, 2**61, 2**62, 2**63 - 1, 2**64
KEYS = 0, -1, 1, 7, 2**63, -(2**70), slice(None), slice(1, None), slice(None, None, 2)
STEPS = slice(None, None, -1), slice(2**63, None, 2**62), slice(5, 1), slice(None, None, 0)
FOLLOWED = "text_pointer", "number_list", "structure_list"  # addresses that reading follows


@cache
def subclass_of(cls):
    return type(cls.__name__, (cls,), {"__slots__": ("extra",)})


class User:
    """Uses one class: creates objects in each possible way, then runs random actions on each."""

    def __init__(self, module, record, values, attempt):
        self.module, self.record, self.values, self.attempt = module, record, values, attempt
        self.cls = getattr(module, record.name)
        self.rng, self.pick = values.rng, values.pick
        self.follows = any(f.form in FOLLOWED for f in record.fields)

    def __call__(self):
        for _ in range(3):
            target = self.attempt(
                self.pick(self.new, self.new, self.subclass, self.view, self.wrong)
            )
            if not self.is_small(target):
                continue
            for _ in range(8):
                self.attempt(lambda target=target: self.pick(*self.actions)(self, target))

    def is_small(self, target):
        """Return whether it is an object, and small enough for the machine's memory."""
        if not isinstance(target, self.cls):
            return False
        size = self.attempt(lambda: memoryview(target).nbytes)
        return isinstance(size, int) and size < 1 << 24

    # ---- objects

    def new(self):
        return self.values.data_object(self.record.name)

    def wrong(self):
        """Return arguments for a constructor."""
        fields = [f.name for f in self.record.fields if not f.is_hidden]
        named = {self.pick("size", "nothing", *fields): self.value()}
        return self.pick(
            lambda: self.cls(self.pick(*LENGTHS, *hostile.numbers())),
            lambda: self.cls(size=self.pick(*LENGTHS)),
            lambda: self.cls(**named),
            lambda: self.cls(1, 2),
            lambda: self.cls.__new__(self.cls),
        )()

    def subclass(self):
        return subclass_of(self.cls)(*self.pick((), (self.pick(0, 1, 3),)))

    def view(self):
        """Create a view of zeroed memory or of another object; its inner addresses are valid."""
        source = self.new()
        room = bytearray(self.pick(0, 1, 3) * len(bytes(self.cls())))
        flags = self.pick({}, {"readonly": True}, {"owner": source})
        return self.pick(
            lambda: self.cls.from_buffer(source),
            lambda: self.cls.from_buffer(self.pick(room, bytes(room), memoryview(room)[::2])),
            lambda: self.cls.from_buffer(self.pick(*hostile.buffers(), *hostile.invalid_values())),
            lambda: self.cls.from_data(self.pick(*hostile.invalid_values(), room)),
            lambda: self.cls.from_ptr(self.clean(), **flags),
            lambda: self.cls.from_ptr(self.clean(), self.pick(0, 1, 3, *WRONG), **flags),
            lambda: self.cls.from_ptr(self.pick(0, None, 2**64, *hostile.invalid_values())),
        )()

    def clean(self):
        """Return the address of zeroed memory."""
        n = 1 << 16
        ARENA[:n] = bytes(n)
        return ADDRESS

    # ---- actions

    def field(self):
        return self.pick(*self.record.fields).name

    def value(self):
        numbers = [self.pick(*SMALL) for _ in range(self.pick(0, 1, 2, 5, 8))]
        texts = "", "text", "x" * 5000, "a\0b", "\udcff", b"bytes"
        kinds = [f.target for f in self.record.fields if f.target in self.values.numpy_structs]
        siblings = [self.values.data_object(kind) for kind in kinds]
        struct = self.pick(*siblings) if siblings else self.new()
        emptied = hostile.emptied_list(*numbers)
        dull = self.pick(*self.values.dull), hostile.Sequence(numbers), *WRONG, *LARGE
        return self.pick(*SMALL, numbers, tuple(numbers), *texts, *dull, struct, [struct], emptied)

    def get(self, target):
        return getattr(target, self.field())

    def set(self, target):
        setattr(target, self.field(), self.value())

    def get_inner(self, target):
        value = getattr(target, self.field())
        inner = value[self.pick(*KEYS, *STEPS)]
        return repr(inner), bytes(inner), repr(value)

    def set_inner(self, target):
        value = getattr(target, self.field())
        value[self.pick(*KEYS, *STEPS)] = self.pick(self.value(), value)

    def item(self, target):
        part = target[
            self.pick(*KEYS, *STEPS, hostile.Collects(), self.field(), *hostile.invalid_values())
        ]
        return repr(part), bytes(part)

    def set_item(self, target):
        target[self.pick(*KEYS, *STEPS)] = self.pick(target, self.new(), self.value(), target[:1])

    def set_within(self, target):
        """Reinitialize the object while the value is converted."""
        strike = hostile.Strikes(lambda: target.__init__(self.pick(1, 5, 9)))
        setattr(target, self.field(), self.pick(strike, [strike], (1, strike, 2)))

    def index_within(self, target):
        return target[hostile.Strikes(lambda: target.__init__(5))].asdict()

    def initialize(self, target):
        seen = memoryview(target)
        self.attempt(lambda: target.__init__(self.pick(*LENGTHS[:4])))
        return bytes(seen)

    def later(self, target):
        """Let a field outlive its object."""
        value = getattr(target, self.field())
        copied = target.copy()
        del target
        bytearray(256)
        return repr(value), repr(copied)

    def delete(self, target):
        delattr(target, self.field())

    def pickled(self, target):
        return pickle.loads(pickle.dumps(target)) == target

    def restored(self, target):
        restore, arguments = target.__reduce__()[:2]
        return restore(*arguments[:-1], self.pick(b"", b"x", None, (1,), arguments[-1]))

    def plain(self, target):
        done = self.pick(repr, bytes, len, bool, int, list, iter, memoryview, hash, copy.deepcopy)
        return done(target)

    def described(self, target):
        return (
            target.asdict(),
            target.copy(),
            target == self.pick(target, self.new(), target.copy(), 1, None),
        )

    actions = (
        *(get, set, set, get_inner, set_inner, item, set_item, set_within, index_within),
        *(initialize, later, delete, pickled, restored, plain, described),
    )
