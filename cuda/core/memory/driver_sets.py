# SPDX-License-Identifier: Apache-2.0
"""Sets that live in the driver: each question asks it, each change is made there."""

from collections.abc import Iterable, MutableSet
from importlib import import_module

from cuda.core import Device
from cuda.core.memory.host import Host


class _LiveSet(MutableSet):
    """A set whose members the driver has. A change of many members is one change there."""

    __slots__ = ()

    def _members(self):
        """The members now, in their order."""
        raise NotImplementedError

    def _accept(self, given):
        """The member that an argument stands for; None for what can be left out."""
        raise NotImplementedError

    def _find(self, given):
        """The same for a look-up: None for what can be no member."""
        raise NotImplementedError

    def _change(self, removed, added):
        """Take out and put in; the two have no member in common."""
        raise NotImplementedError

    @classmethod
    def _from_iterable(cls, members):
        return set(members)

    def __iter__(self):
        return iter(self._members())

    def __len__(self):
        return len(self._members())

    def __contains__(self, given):
        member = self._find(given)
        return member is not None and member in self._members()

    def __repr__(self):
        inside = ", ".join(map(repr, self._members()))
        return f"{type(self).__name__}({f'{{{inside}}}' if inside else 'set()'})"

    def _set_to(self, before, after):
        removed = [member for member in before if member not in after]
        added = [member for member in after if member not in before]
        if removed or added:
            self._change(removed, added)

    def _accept_all(self, given):
        """The members that an iterable names, each once."""
        if not isinstance(given, Iterable):
            raise TypeError(f"{type(self).__name__} takes an iterable, got {type(given).__name__}")
        accepted = [self._accept(each) for each in given]
        return list(dict.fromkeys(each for each in accepted if each is not None))

    def _replace(self, given):
        after = self._accept_all(given)
        self._set_to(self._members(), after)

    def add(self, value):
        """Put a member in; nothing happens where it is one. Host only."""
        self.update([value])

    def discard(self, value):
        """Take a member out; nothing happens where it is none. Host only."""
        member = self._find(value)
        if member is not None and member in self._members():
            self._change([member], [])

    def remove(self, value):
        """Take a member out; KeyError where it is none. Host only."""
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def pop(self):
        """Take one member out and give it; KeyError where there is none. Host only."""
        members = self._members()
        if not members:
            raise KeyError(f"pop from an empty {type(self).__name__}")
        self._change([members[0]], [])
        return members[0]

    def clear(self):
        """Take all members out. Host only."""
        self._replace(())

    def update(self, *others):
        """Put in the members of all the others. Host only."""
        added = [each for other in others for each in self._accept_all(other)]
        before = self._members()
        self._set_to(before, list(dict.fromkeys([*before, *added])))

    def difference_update(self, *others):
        """Take out the members of all the others. Host only."""
        gone = {self._find(each) for other in others for each in other}
        before = self._members()
        self._set_to(before, [member for member in before if member not in gone])

    def intersection_update(self, *others):
        """Take out what is not in each of the others. Host only."""
        before = after = self._members()
        for other in others:
            kept = {self._find(each) for each in other}
            after = [member for member in after if member in kept]
        self._set_to(before, after)

    def symmetric_difference_update(self, other):
        """Take out what the other has as well, and put in the rest of it. Host only."""
        given, before = self._accept_all(other), self._members()
        after = [member for member in before if member not in given]
        self._set_to(before, after + [each for each in given if each not in before])

    def __ior__(self, other):
        self.update(other)
        return self

    def __iand__(self, other):
        self.intersection_update(other)
        return self

    def __isub__(self, other):
        self.difference_update(list(other))
        return self

    def __ixor__(self, other):
        self.symmetric_difference_update(list(other))
        return self


class PeerAccessibleBySetProxy(_LiveSet):
    """The other devices that may use the memory of a pool."""

    __slots__ = ("_resource",)

    def __init__(self, resource):
        self._resource = resource

    def _natively(self):
        return import_module("cuda.core._located_memory")

    def _members(self):
        return [Device(i) for i in self._natively()._peers_of(self._resource)]

    def _accept(self, given):
        device = Device(given)
        return None if device.device_id == self._resource.device_id else device

    def _find(self, given):
        if isinstance(given, Device):
            return given
        if isinstance(given, int) and not isinstance(given, bool):
            return next(
                (
                    each
                    for each in Device.get_all_devices()
                    if each == given or each.device_id == given
                ),
                None,
            )
        return None

    def add(self, value):
        """Let a device use the memory; ValueError where it cannot. Host only."""
        member = self._accept(value)
        if member is None or member in self._members():
            return
        if not self._can_reach(member):
            raise ValueError(
                f"Device {self._resource.device_id} cannot access peer: {member.device_id}"
            )
        self._natively()._set_peers(self._resource, [], [member.device_id])

    def _can_reach(self, member):
        return member.can_access_peer(self._resource.device_id)

    def _change(self, removed, added):
        wrong = sorted(each.device_id for each in added if not self._can_reach(each))
        if wrong:
            raise ValueError(
                f"Device {self._resource.device_id} cannot access peer(s): "
                f"{', '.join(map(str, wrong))}"
            )
        ordinals = ([each.device_id for each in which] for which in (removed, added))
        self._natively()._set_peers(self._resource, *ordinals)

    def __eq__(self, other):
        if isinstance(other, (tuple, list)):  # how it was before 1.0: a tuple of ordinals
            return [each.device_id for each in self] == sorted(map(int, other))
        return super().__eq__(other)

    __hash__ = None


class AccessedBySetProxy(_LiveSet):
    """The devices, and the host, that managed memory is kept mapped for."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer):
        self._buffer = buffer

    def _natively(self):
        return import_module("cuda.core._located_memory")

    def _members(self):
        found = self._natively()._accessors_of(self._buffer)
        return [Host() if each < 0 else Device(each) for each in found]

    def _accept(self, given):
        if not isinstance(given, (Device, Host)):
            raise TypeError(f"expected Device or Host, got {type(given).__name__}")
        self._natively()._check_accessor(given)
        return given

    def _find(self, given):
        return given if isinstance(given, (Device, Host)) else None

    def _change(self, removed, added):
        for each in removed:
            self._natively()._advise_access(self._buffer, each, False)
        for each in added:
            self._natively()._advise_access(self._buffer, each, True)
