# SPDX-License-Identifier: Apache-2.0
"""Sets whose members the driver stores: each access queries it, each change is a driver call."""

from collections.abc import Iterable, MutableSet
from importlib import import_module

from cuda.core import Device
from cuda.core.arguments import option_checks
from cuda.core.memory.host import Host


class _DriverSet(MutableSet):
    """A set whose members the driver stores. Several changed members are one `_change`."""

    __slots__ = ()

    def _members(self):
        """Return the current members, in order."""
        raise NotImplementedError

    def _accept(self, value):
        """Return the member for an argument; None for an argument to ignore."""
        raise NotImplementedError

    def _find(self, value):
        """Return the member to look up for an argument; None if it cannot be a member."""
        raise NotImplementedError

    def _change(self, removed, added):
        """Remove and add members; the two lists are disjoint."""
        raise NotImplementedError

    @classmethod
    def _from_iterable(cls, members):
        return set(members)

    def __iter__(self):
        return iter(self._members())

    def __len__(self):
        return len(self._members())

    def __contains__(self, value):
        member = self._find(value)
        return member is not None and member in self._members()

    def __repr__(self):
        inside = ", ".join(map(repr, self._members()))
        return f"{type(self).__name__}({f'{{{inside}}}' if inside else 'set()'})"

    def _set_to(self, before, after):
        removed = [member for member in before if member not in after]
        added = [member for member in after if member not in before]
        if removed or added:
            self._change(removed, added)

    def _accept_all(self, values):
        """Return the members for an iterable, without duplicates."""
        if not isinstance(values, Iterable):
            raise TypeError(
                f"{self._property} must be an iterable of devices, got {type(values).__name__}"
            )
        accepted = [self._accept(each) for each in values]
        return list(dict.fromkeys(each for each in accepted if each is not None))

    def _replace(self, values):
        after = self._accept_all(values)
        self._set_to(self._members(), after)

    def add(self, value):
        """Add a member; no effect if it is present. Host only."""
        self.update([value])

    def discard(self, value):
        """Remove a member; no effect if it is absent. Host only."""
        member = self._find(value)
        if member is not None and member in self._members():
            self._change([member], [])

    def remove(self, value):
        """Remove a member; KeyError if it is absent. Host only."""
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def pop(self):
        """Remove and return one member; KeyError if the set is empty. Host only."""
        members = self._members()
        if not members:
            raise KeyError(f"pop from an empty {type(self).__name__}")
        self._change([members[0]], [])
        return members[0]

    def clear(self):
        """Remove all members. Host only."""
        self._replace(())

    def update(self, *others):
        """Add the members of all iterables. Host only."""
        added = [each for other in others for each in self._accept_all(other)]
        before = self._members()
        self._set_to(before, list(dict.fromkeys([*before, *added])))

    def difference_update(self, *others):
        """Remove the members of all iterables. Host only."""
        removed = {self._find(each) for other in others for each in other}
        before = self._members()
        self._set_to(before, [member for member in before if member not in removed])

    def intersection_update(self, *others):
        """Keep only the members that every iterable has. Host only."""
        before = after = self._members()
        for other in others:
            common = {self._find(each) for each in other}
            after = [member for member in after if member in common]
        self._set_to(before, after)

    def symmetric_difference_update(self, other):
        """Remove the common members and add the other members of the iterable. Host only."""
        operand, before = self._accept_all(other), self._members()
        after = [member for member in before if member not in operand]
        self._set_to(before, after + [each for each in operand if each not in before])

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


class PeerAccessibleBySetProxy(_DriverSet):
    """The peer devices that can access the memory of a pool."""

    __slots__ = ("_resource",)
    _property = "peer_accessible_by"

    def __init__(self, resource):
        self._resource = resource

    def _extension(self):
        return import_module("cuda.core._located_memory")

    def _members(self):
        return [Device(i) for i in self._extension()._peers_of(self._resource)]

    def _accept(self, value):
        if value is None:
            device = Device()
        else:
            device = option_checks.device(f"a member of {self._property}", value)
        return None if device.device_id == self._resource.device_id else device

    def _find(self, value):
        if isinstance(value, Device):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return next(
                (
                    each
                    for each in Device.get_all_devices()
                    if each == value or each.device_id == value
                ),
                None,
            )
        return None

    def add(self, value):
        """Grant a device access; ValueError if it cannot have it. Host only."""
        member = self._accept(value)
        if member is None or member in self._members():
            return
        if not self._can_reach(member):
            raise ValueError(
                f"Device {self._resource.device_id} cannot access peer: {member.device_id}"
            )
        self._extension()._set_peers(self._resource, [], [member.device_id])

    def _can_reach(self, member):
        return member.can_access_peer(self._resource.device_id)

    def _change(self, removed, added):
        wrong = sorted(each.device_id for each in added if not self._can_reach(each))
        if wrong:
            raise ValueError(
                f"Device {self._resource.device_id} cannot access peer(s): "
                f"{', '.join(map(str, wrong))}"
            )
        ordinals = ([each.device_id for each in members] for members in (removed, added))
        self._extension()._set_peers(self._resource, *ordinals)

    def __eq__(self, other):
        if isinstance(other, (tuple, list)):  # before 1.0 this was a tuple of ordinals
            return [each.device_id for each in self] == sorted(map(int, other))
        return super().__eq__(other)

    __hash__ = None


class AccessedBySetProxy(_DriverSet):
    """The devices, and the host, for which managed memory stays mapped."""

    __slots__ = ("_buffer",)
    _property = "accessed_by"

    def __init__(self, buffer):
        self._buffer = buffer

    def _extension(self):
        return import_module("cuda.core._located_memory")

    def _members(self):
        ordinals = self._extension()._accessors_of(self._buffer)
        return [Host() if each < 0 else Device(each) for each in ordinals]

    def _accept(self, value):
        if not isinstance(value, (Device, Host)):
            raise TypeError(f"expected Device or Host, got {type(value).__name__}")
        self._extension()._check_accessor(value)
        return value

    def _find(self, value):
        return value if isinstance(value, (Device, Host)) else None

    def _change(self, removed, added):
        for each in removed:
            self._extension()._advise_access(self._buffer, each, False)
        for each in added:
            self._extension()._advise_access(self._buffer, each, True)
