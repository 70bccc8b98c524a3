# SPDX-License-Identifier: Apache-2.0
"""Objects that implement Python's protocols with errors, lies and side effects."""

import ctypes
import gc
import sys


class HostileError(Exception):
    """Raised by the objects here; a call must propagate it unchanged, or never have invoked
    them."""


class Raises:
    """Raises an error from every protocol that a converter may use."""

    def _raise(self, *_):
        raise HostileError

    __index__ = __int__ = __float__ = __bool__ = __len__ = __iter__ = _raise
    __getitem__ = __buffer__ = getPtr = _raise


class Returns:
    """Returns its constructor argument from `__index__`, `__int__` and `getPtr()`."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __int__(self):
        return self.value

    def getPtr(self):
        return self.value


class OnlyInt:
    """Has only `__int__`, like some number classes."""

    def __int__(self):
        return 1


class OnlyFloat:
    def __float__(self):
        return float("nan")


class Collects:
    """Runs the cycle collector while it is converted."""

    def __index__(self):
        gc.collect(0)
        return 1


class Calls:
    """Calls the same function recursively from its conversion."""

    def __init__(self, function):
        self.function = function
        self.depth = 0

    def __index__(self):
        if self.depth < 3:
            self.depth += 1
            try:
                self.function()
            finally:
                self.depth -= 1
        return 1


class Empties:
    """Empties the list that contains it, and drops the list's elements."""

    def __init__(self, victim):
        self.victim = victim

    def _strike(self):
        self.victim.clear()
        bytearray(64)  # reuses the freed memory
        return 1

    __index__ = __int__ = _strike

    def __float__(self):
        return float(self._strike())

    def __buffer__(self, flags):
        self._strike()
        return memoryview(bytearray(64))


class Strikes:
    """Runs an action while it is converted."""

    def __init__(self, action):
        self.action = action

    def __index__(self):
        self.action()
        return 0

    __int__ = __index__


class Lies:
    """Claims another class."""

    def __init__(self, claimed):
        self.claimed = claimed

    @property
    def __class__(self):
        return self.claimed


class Buffer:
    """A buffer implemented in Python (3.12), with new memory for each request."""

    def __init__(self, make):
        self.make = make

    def __buffer__(self, flags):
        return self.make()


class Number(int):
    """An int whose methods disagree with its value."""

    def __index__(self):
        raise HostileError

    def __int__(self):
        raise HostileError


class Sequence(list):
    """A list whose methods disagree with its contents."""

    def __len__(self):
        return sys.maxsize

    def __getitem__(self, at):
        raise HostileError


class Text(bytes):
    pass


class Structure(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_double))


def emptied_list(*items):
    """Return a list whose last element empties it when converted; long, so that memory is freed."""
    victim = [*items, None]
    victim[-1] = Empties(victim)
    return victim


def numbers():
    """Return values that are invalid numbers, or valid in an unusual way."""
    values = [2**31, 2**64, -1, True, 1.5, "1", None, 2**200]
    return [Raises(), OnlyInt(), OnlyFloat(), Collects(), Number(1), *map(Returns, values)]


def buffers():
    """Return buffers that are too short, read-only, strided, typed, many-dimensional, or
    invalid."""
    block = bytearray(4096)
    makers = [
        lambda: memoryview(bytearray(4096)),
        lambda: memoryview(bytes(4096)),
        lambda: memoryview(bytearray(4096))[::2],
        lambda: bytearray(4096),
        lambda: None,
    ]
    shaped = memoryview(block).cast("B", (64, 64))
    return [memoryview(block)[::3], memoryview(block).cast("d"), shaped, *map(Buffer, makers)]


def invalid_values():
    """Return values that are always invalid."""
    return [object(), "text", 1.5, 1j, ..., {}, set(), int, lambda: None, Lies(int), Raises()]
