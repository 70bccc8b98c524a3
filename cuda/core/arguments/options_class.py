# SPDX-License-Identifier: Apache-2.0
"""Dataclasses of options whose creation does not import `dataclasses`, which takes 10 ms."""

from operator import attrgetter


class _Deferred:
    """An attribute of `dataclass` that the first access creates."""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name

    def __get__(self, instance, cls=None):
        from dataclasses import dataclass

        names = self.owner.__match_args__
        content = {name: getattr(self.owner, name) for name in names}
        content["__annotations__"] = self.owner.__annotations__
        value = getattr(dataclass(type("Options", (), content)), self.name)
        setattr(self.owner, self.name, value)
        return value


def options_class(cls):
    """Return a class with the methods that `dataclass` would add. All fields have defaults."""
    annotations = cls.__annotations__
    names = tuple(annotations)
    lines = [f"def __init__(self, {', '.join(names)}):", *(f" self.{n} = {n}" for n in names)]
    namespace = {}
    exec("\n".join([*lines, " self.__post_init__()"]), namespace)
    create = namespace["__init__"]
    create.__defaults__ = tuple(vars(cls)[name] for name in names)
    create.__annotations__ = {**annotations, "return": None}
    create.__qualname__ = f"{cls.__qualname__}.__init__"
    values = attrgetter(*names)

    def __eq__(self, other):
        return (
            values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
        )

    def __repr__(self):
        pairs = zip(names, values(self), strict=True)
        return f"{type(self).__qualname__}({', '.join(f'{n}={v!r}' for n, v in pairs)})"

    cls.__init__, cls.__eq__, cls.__hash__ = create, __eq__, None
    if "__repr__" not in vars(cls):
        cls.__repr__ = __repr__
    cls.__match_args__ = names
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(cls, name, _Deferred(cls, name))
    return cls
