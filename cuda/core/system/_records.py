# SPDX-License-Identifier: Apache-2.0
"""Base classes and deprecated members of `cuda.core.system`."""

import operator
import warnings
from types import GetSetDescriptorType

from cuda.bindings._low import query_property


class Old:
    """A deprecated member name; access warns and forwards to the new name."""

    def __init__(self, name, new, adapt):
        self.name, self.new, self.adapt = name, new, adapt

    def _warn(self, cls):
        owner = f"cuda.core.system.{cls.__name__}"
        text = f"{owner}.{self.name} is deprecated: use {owner}.{self.new}"
        warnings.warn(text, DeprecationWarning, stacklevel=3)

    def __get__(self, instance, cls):
        if instance is None:
            return self
        self._warn(cls)
        return getattr(instance, self.new) if self.adapt is None else self.adapt(instance)

    def __set__(self, instance, value):
        self._warn(type(instance))
        setattr(instance, self.new, value)


class Hiding(type):
    """A metaclass that hides deprecated members from `dir` of the class."""

    def __dir__(cls):
        return [name for name in super().__dir__() if not isinstance(vars(cls).get(name), Old)]


class Listed(metaclass=Hiding):
    """A base class that hides deprecated members from `dir` of its objects.

    A property of a subclass whose getter is a query becomes a getter of C, as in an extension type.
    """

    __slots__ = ()

    def __init_subclass__(cls):
        for name, value in list(vars(cls).items()):
            getter = value.fget if isinstance(value, property) else None
            if (own := query_property(getter, cls, name)) is not None:
                setattr(cls, name, own)

    def __dir__(self):
        own = vars(type(self))
        return [name for name in super().__dir__() if not isinstance(own.get(name), Old)]


def method_of(name):
    """Return an adapter that presents the property `name` as a method."""
    return lambda instance: lambda: getattr(instance, name)


def with_old_members(names, **adapters):
    """Return a class decorator that adds deprecated member names.

    `names` lists ``old=new``; an old name with parentheses is a method that became a property.
    `adapters` maps an old name to a function that returns its value for an object.
    """

    def add(cls):
        for row in names.split():
            old, new = row.split("=")
            adapt = method_of(new) if old.endswith("()") else adapters.get(old)
            old = old.removesuffix("()")
            setattr(cls, old, Old(old, new, adapt))
        return cls

    return add


class Record(Listed):
    """A structure that NVML filled at one moment."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    def __repr__(self):
        cls = type(self)
        kinds = property, GetSetDescriptorType
        names = (name for name in vars(cls) if isinstance(vars(cls)[name], kinds))
        return f"<{cls.__name__} {' '.join(f'{name}={getattr(self, name)}' for name in names)}>"


class Records(Listed):
    """A sequence that NVML filled at one moment; without slices and negative indices."""

    __slots__ = ("_data",)
    _label = ""

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
            raise IndexError(f"{self._label} index out of range")
        return self._item(index)

    def __repr__(self):
        return f"<{type(self).__name__} of {len(self)}>"


class OfDevice(Listed):
    """A component of a device; each access queries the device."""

    __slots__ = ("_handle",)

    def __init__(self, handle):
        self._handle = handle

    def __repr__(self):
        return f"<{type(self).__name__}>"
