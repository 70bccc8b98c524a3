# SPDX-License-Identifier: Apache-2.0
"""What the classes of `cuda.core.system` have in common."""

import operator
import warnings


class Old:
    """A member under its name of an earlier release: found, with a DeprecationWarning."""

    def __init__(self, name, new, remake):
        self.name, self.new, self.remake = name, new, remake

    def _warn(self, cls):
        of = f"cuda.core.system.{cls.__name__}"
        text = f"{of}.{self.name} is deprecated: use {of}.{self.new}"
        warnings.warn(text, DeprecationWarning, stacklevel=3)

    def __get__(self, thing, cls):
        if thing is None:
            return self
        self._warn(cls)
        return getattr(thing, self.new) if self.remake is None else self.remake(thing)

    def __set__(self, thing, value):
        self._warn(type(thing))
        setattr(thing, self.new, value)


class Hiding(type):
    """Does not list the old members of a class."""

    def __dir__(cls):
        return [name for name in super().__dir__() if not isinstance(vars(cls).get(name), Old)]


class Listed(metaclass=Hiding):
    """An object that does not list them either."""

    __slots__ = ()

    def __dir__(self):
        own = vars(type(self))
        return [name for name in super().__dir__() if not isinstance(own.get(name), Old)]


def method_of(name):
    """What makes, of an object, the method that a property of that name was once."""
    return lambda thing: lambda: getattr(thing, name)


def with_old_members(names, **remade):
    """For a class: members under their names of earlier releases.

    `names` has old = new; with brackets, a method that is a property now. `remade` has what makes
    the old member of an object where the new one is of another form.
    """

    def add(cls):
        for row in names.split():
            old, new = row.split("=")
            remake = method_of(new) if old.endswith("()") else remade.get(old)
            old = old.removesuffix("()")
            setattr(cls, old, Old(old, new, remake))
        return cls

    return add


class Record(Listed):
    """Something that NVML filled in at one moment."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    def __repr__(self):
        cls = type(self)
        names = (name for name in vars(cls) if isinstance(vars(cls)[name], property))
        return f"<{cls.__name__} {' '.join(f'{name}={getattr(self, name)}' for name in names)}>"


class Records(Listed):
    """A sequence of what NVML filled in at one moment; no slices, nothing from the end."""

    __slots__ = ("_data",)
    _what = ""

    def __init__(self, data):
        self._data = data

    def _length(self):
        raise NotImplementedError

    def _item(self, index):
        raise NotImplementedError

    def __len__(self):
        return self._length()

    def __getitem__(self, idx):
        try:
            index = operator.index(idx)
        except TypeError:
            raise TypeError(f"an index must be an int, got {type(idx).__name__}") from None
        if not 0 <= index < self._length():
            raise IndexError(f"{self._what} index out of range")
        return self._item(index)

    def __repr__(self):
        return f"<{type(self).__name__} of {len(self)}>"


class OfDevice(Listed):
    """A part of a device, which each question asks."""

    __slots__ = ("_handle",)

    def __init__(self, handle):
        self._handle = handle

    def __repr__(self):
        return f"<{type(self).__name__}>"
