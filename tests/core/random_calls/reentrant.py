# SPDX-License-Identifier: Apache-2.0
"""Objects that run other code whenever a call converts, compares, queries or releases them."""

import random

import numpy as np
from cuda.core import MemoryResource

ANSWERS = {
    "__index__": (0, 1, 64, -1, 2**70),
    "__int__": (0, 1, 64, -1),
    "__float__": (0.0, 1.5),
    "__bool__": (True, False),
    "__len__": (0, 1, 3),
    "__hash__": (0, 1),
    "__eq__": (True, False, NotImplemented),
    "__lt__": (True, False),
    "__contains__": (True, False),
    "__getitem__": (0, 1, "x", None),
    "__str__": ("x", ""),
    "__repr__": ("x",),
    "__bytes__": (b"x",),
    "__fspath__": ("/nowhere", b"/nowhere"),
    "__call__": (None, 0, "x"),
    "__enter__": (None,),
    "__exit__": (None, True),
    "__dlpack_device__": ((1, 0), (2, 0), (99, -1), None),
    "keys": (("a", "grid"), (), None),
    "items": ((("grid", 1),), (), None),
    "encode": (b"x", None),
    "to_bytes": (b"x", None),
}


class Reentrant:
    """Runs `action` in every protocol; the answers are valid, or of a type that none expects."""

    def __init__(self, action, r, stream):
        self.action, self.r, self.stream = action, r, stream

    def answer(self, name):
        self.action()
        value = self.r.choice(ANSWERS[name])
        if self.r.random() < 0.1:
            raise ValueError("a protocol of the user's failed")
        return value

    def __iter__(self):
        self.action()
        return iter(self.r.choice(((), (1,), (1, 1, 1), ("x", self))))

    def __cuda_stream__(self):
        self.action()
        return self.r.choice(((0, self.stream), (0, self), (1, 0), None, 5))

    def __dlpack__(self, **options):
        self.action()
        return self.r.choice((np.zeros(8, "u1").__dlpack__(), None, self))

    @property
    def __cuda_array_interface__(self):
        self.action()
        interface = {"shape": (0,), "typestr": "|u1", "data": (0, False), "version": 3}
        interface[self.r.choice(tuple(interface))] = self.r.choice((None, "x", (1, self), self))
        return interface

    @property
    def __array_interface__(self):
        self.action()
        return np.zeros(8, "u1").__array_interface__

    @property
    def __class__(self):
        self.action()
        return Reentrant

    def __del__(self):
        self.action()


def protocol(name):
    def method(self, *_, **__):
        return self.answer(name)

    return method


for each in ANSWERS:
    setattr(Reentrant, each, protocol(each))


class ReentrantResource(MemoryResource):
    """Runs `action` in every call of `cuda.core`, and allocates from another resource."""

    def __init__(self, action, r, upstream):
        self.action, self.r, self.upstream = action, r, upstream

    def allocate(self, size, *, stream=None):
        self.action()
        if self.r.random() < 0.1:
            return self.r.choice((None, 5, self))
        buffer = self.upstream.allocate(size, stream=stream)
        self.action()
        return buffer

    def deallocate(self, ptr, size, *, stream=None):
        self.action()

    @property
    def is_device_accessible(self):
        self.action()
        return True

    @property
    def is_host_accessible(self):
        self.action()
        return self.r.choice((True, True, None, "x"))

    @property
    def device_id(self):
        self.action()
        return self.r.choice((0, 0, -1, "x"))


class Actions:
    """Chooses the code that the objects run; it does not nest deeper than `DEPTH`."""

    DEPTH = 2

    def __init__(self, operations, objects, errors):
        self.operations, self.objects, self.errors = operations, objects, errors
        self.depth = 0

    def of(self, seed):
        r = random.Random(seed)

        def action():
            if self.depth >= self.DEPTH or self.objects is None:
                return
            self.depth += 1
            try:
                r.choice(self.operations)(self.objects, r)
            except self.errors:
                r.random()
            finally:
                self.depth -= 1

        return action
