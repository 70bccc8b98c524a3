# SPDX-License-Identifier: Apache-2.0
"""The place of each member in the reference: its class, or the base that it comes from."""

import builtins
import inspect
import re
import sys
from importlib import import_module


def is_public_member(cls, name):
    """Return whether a member is public and defined by a class of this package."""
    if name.startswith("_"):
        return False
    home = home_of(cls, name)
    return home is not None and home.__module__.startswith("cuda.")


def home_of(cls, name):
    """Return the class that defines a member."""
    return next((base for base in cls.__mro__ if name in vars(base)), None)


def describing_class(cls, name, listed):
    """Return the class whose section describes a member: the first that has it, of those listed.

    A member that several classes share is described once.
    """
    home = home_of(cls, name)
    owners = [base for base in cls.__mro__ if base in listed and home_of(base, name) is home]
    return owners[-1] if owners else cls


def bases_of(cls, listed):
    """Return the listed classes that describe members of this class."""
    names = [name for name in dir(cls) if is_public_member(cls, name)]
    owners = dict.fromkeys(describing_class(cls, name, listed) for name in names)
    return [owner for owner in owners if owner is not cls]


def listed_classes(full_names):
    """Return the classes among full names: class -> full name."""
    things = {}
    for full_name in full_names:
        module, _, name = full_name.rpartition(".")
        thing = getattr(import_module(module), name)
        if isinstance(thing, type):
            things.setdefault(thing, full_name)
    return things


# What the guide calls an object of a class.
VARIABLES = {
    "buffer": "Buffer",
    "builder": "GraphBuilder",
    "config": "LaunchConfig",
    "context": "Context",
    "definition": "GraphDefinition",
    "device": "Device",
    "event": "Event",
    "graph": "Graph",
    "kernel": "Kernel",
    "linker": "Linker",
    "mr": "MemoryResource",
    "node": "GraphNode",
    "prepared": "PreparedLaunch",
    "program": "Program",
    "stream": "Stream",
}
NAME = re.compile(r"(?:cuda\.core\.)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(.*\))?")


class Names:
    """The names of the reference, as the guide writes them."""

    def __init__(self, full_names):
        self.listed = listed_classes(full_names)
        self.places = {}
        for full_name in full_names:
            self.places.setdefault(full_name.removeprefix("cuda.core."), full_name)
            self.places.setdefault(full_name.rpartition(".")[2], full_name)
        self.members = {}
        for cls, full_name in self.listed.items():
            for name in filter(lambda n, cls=cls: is_public_member(cls, n), dir(cls)):
                owner = self.listed[describing_class(cls, name, self.listed)]
                self.members[f"{full_name}.{name}"] = f"{owner}.{name}"
        self.unique = self.members_of_one_class()

    def members_of_one_class(self):
        """Map a member's name with an underscore to its place, if only one class describes it."""
        owners = {}
        for place in self.members.values():
            owners.setdefault(place.rpartition(".")[2], set()).add(place)
        names = ((name, places) for name, places in owners.items() if "_" in name)
        return {name: next(iter(places)) for name, places in names if len(places) == 1}

    def find(self, text):
        """Return the full name that inline code means, or None if it means no name."""
        match = NAME.fullmatch(text)
        if match is None:
            return None
        name = match[1]
        if hasattr(builtins, name):  # MemoryError is Python's, not that of `cuda.core.system`
            return None
        if name in self.places:
            return self.places[name]
        owner, _, member = name.rpartition(".")
        owner = self.places.get(VARIABLES.get(owner, owner))
        if owner:
            return self.members.get(f"{owner}.{member}")
        return self.unique.get(name)

    def is_missing(self, text):
        """Return whether inline code names a member that its class does not have."""
        match = NAME.fullmatch(text)
        owner, _, member = match[1].rpartition(".") if match else ("", "", "")
        place = self.places.get(owner)
        module, _, name = (place or "").rpartition(".")
        if place is None or member.startswith("_") or not name[:1].isupper():
            return False
        return self.find(text) is None and not hasattr(getattr(import_module(module), name), member)


def is_class(full_name):
    module, _, name = full_name.rpartition(".")
    return inspect.isclass(getattr(import_module(module), name))


def is_named_by_chance(described, target, kind):
    """Return whether a bare name in a description means something else than the member found.

    A member is meant in the descriptions of its class and of derived classes. A description of
    another class means a parameter of the same name, or an exception of Python.
    """
    owner, _, name = target.rpartition(".")
    if kind not in ("method", "property", "attribute"):
        return hasattr(builtins, name) and described != target
    if f"{described}.".startswith(f"{owner}."):
        return False
    module, _, cls = described.rpartition(".")
    while module and module not in sys.modules:
        module, _, cls = module.rpartition(".")
    bases = getattr(getattr(sys.modules.get(module), cls, None), "__mro__", ())
    return owner.rpartition(".")[2] not in {base.__name__ for base in bases}
