# SPDX-License-Identifier: Apache-2.0
# Value types of attributes of launches, kernel nodes and streams: each class converts values to
# and from the driver's union.

from cuda.bindings.cydriver cimport CUaccessProperty


cdef class _Kind:
    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        """Write a value to `out` and return its normalized form; errors call it `name`."""
        raise NotImplementedError

    cdef object read(self, const CUlaunchAttributeValue* value):
        raise NotImplementedError

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        """Return whether the value is the default of launches that do not set the attribute."""
        return value.priority == 0

    cdef int reset(self, CUlaunchAttributeValue* value) except -1:
        """Turn a zeroed value into the default value."""


@cython.final
cdef class _Flag(_Kind):
    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        out.priority = bool(value)  # all flags and numbers are an int at offset 0 of the union
        return out.priority != 0

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.priority != 0


cdef class _Number(_Kind):
    cdef int minimum
    cdef int maximum

    def __init__(self, minimum, maximum):
        self.minimum, self.maximum = minimum, maximum

    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        number = as_int(name, value)
        if not self.minimum <= number <= self.maximum:
            raise ValueError(f"{name} must be from {self.minimum} to {self.maximum}, got {number}")
        out.priority = number
        return number

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.priority


@cython.final
cdef class _Priority(_Number):
    """A number in the range of the current context; a launch checks it if no context is current."""

    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        _Number.fill(self, name, value, out)
        check_priority(name.encode(), out.priority)
        return out.priority


@cython.final
cdef class _Choice(_Kind):
    """An enumeration of the driver as words; the value of the first word is `first`."""

    cdef tuple words
    cdef int first

    def __init__(self, *words, first=0):
        self.words, self.first = words, first

    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        if isinstance(value, str):
            if value not in self.words:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, self.words))}, got "
                                 f"{shown(value)}")
            out.priority = self.words.index(value) + self.first
        else:
            number = as_int(name, value)
            if not self.first <= number < self.first + len(self.words):
                raise ValueError(f"{name} has no value {number}; it is one of "
                                 f"{', '.join(map(repr, self.words))}")
            out.priority = number
        return self.read(out)

    cdef object read(self, const CUlaunchAttributeValue* value):
        index = value.priority - self.first
        return str(self.words[index]) if 0 <= index < len(self.words) else value.priority


@cython.final
cdef class _Extents(_Kind):
    """Up to three ints in x, y, z."""

    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        extents = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        extent = [integer_or_none(each) for each in extents]
        if len(extent) > 3 or None in extent:
            raise (TypeError if None in extent else ValueError)(
                f"{name} must be an int, or a tuple with up to 3 ints (got {shown(value)})")
        if any([not 1 <= each <= 0x7FFFFFFF for each in extent]):
            raise ValueError(f"{name} value must be >= 1 and <= {0x7FFFFFFF} (got {shown(value)})")
        x, y, z = extent + [1] * (3 - len(extent))
        out.clusterDim.x, out.clusterDim.y, out.clusterDim.z = x, y, z
        return x, y, z

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.clusterDim.x, value.clusterDim.y, value.clusterDim.z

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        return value.clusterDim.x == 0


@cython.final
cdef class _Domains(_Kind):
    """A pair of domain numbers: default and remote."""

    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise TypeError(f"{name} must be a pair of ints, the default and the remote domain, "
                            f"got {shown(value)}")
        default, remote = [as_int(name, each) for each in value]
        if not (0 <= default <= 255 and 0 <= remote <= 255):
            raise ValueError(f"{name} has domains from 0 to 255, got {shown(value)}")
        out.memSyncDomainMap.default_, out.memSyncDomainMap.remote = default, remote
        return default, remote

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.memSyncDomainMap.default_, value.memSyncDomainMap.remote

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        return value.memSyncDomainMap.default_ == 0 and value.memSyncDomainMap.remote == 1

    cdef int reset(self, CUlaunchAttributeValue* value) except -1:
        value.memSyncDomainMap.remote = 1


@cython.final
cdef class _Window(_Kind):
    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        cls = public_object("AccessPolicyWindow")
        window = as_options(value, cls, name)
        words = cls._PROPERTIES
        out.accessPolicyWindow.base_ptr = <void*><uintptr_t>window.base
        out.accessPolicyWindow.num_bytes = window.num_bytes
        out.accessPolicyWindow.hitRatio = window.hit_ratio
        out.accessPolicyWindow.hitProp = <CUaccessProperty><int>words.index(window.hit)
        out.accessPolicyWindow.missProp = <CUaccessProperty><int>words.index(window.miss)
        return window

    cdef object read(self, const CUlaunchAttributeValue* value):
        cls = public_object("AccessPolicyWindow")
        words = cls._PROPERTIES
        return cls(<uintptr_t>value.accessPolicyWindow.base_ptr,
                   value.accessPolicyWindow.num_bytes, value.accessPolicyWindow.hitRatio,
                   words[<int>value.accessPolicyWindow.hitProp],
                   words[<int>value.accessPolicyWindow.missProp])

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        return value.accessPolicyWindow.num_bytes == 0


@cython.final
cdef class _Record(_Kind):
    """An event that the launch records, or a pair of the event and a trigger flag."""

    cdef bint has_trigger

    def __init__(self, has_trigger):
        self.has_trigger = has_trigger

    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out):
        trigger = False
        if self.has_trigger and isinstance(value, tuple) and len(value) == 2:
            value, trigger = value[0], bool(value[1])
        if not isinstance(value, Event):
            pair_hint = " or a pair of one and a bool" if self.has_trigger else ""
            raise TypeError(f"{name} must be an Event{pair_hint}, got {qualified_name(value)}")
        (<Event>value).native.check_open(value)
        cdef Event shared = share_event(<Event>value)
        cdef borrowed_event event = shared.native.borrow_open(shared)
        if event.facts().is_timing_enabled() or event.facts().is_ipc_enabled():
            raise ValueError(f"{name} must be an event of this process without timing: create it "
                             "with EventOptions(timing_enabled=False)")
        out.programmaticEvent.event = event.raw()  # both event attributes start with the event
        if self.has_trigger:
            out.programmaticEvent.triggerAtBlockStart = trigger
        return (shared, True) if trigger else shared

    cdef object read(self, const CUlaunchAttributeValue* value):
        return None  # kernel nodes and streams have no events

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        return True
