# SPDX-License-Identifier: Apache-2.0
# The kinds of values that attributes of launches, kernel nodes and streams have: one class each,
# which writes a value as the driver takes it and reads it back.


from cuda.bindings.cydriver cimport CUaccessProperty


cdef class _Kind:
    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        """Write a value; give it as users read it. `what` names the attribute in errors."""
        raise NotImplementedError

    cdef object read(self, const CUlaunchAttributeValue* value):
        raise NotImplementedError

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        """Whether it is what a launch has that does not ask for the attribute."""
        return value.priority == 0

    cdef int reset(self, CUlaunchAttributeValue* value) except -1:
        """Make a value of zeros what `is_unset` takes it for."""
        return 0


@cython.final
cdef class _Flag(_Kind):
    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        out.priority = bool(value)  # every flag and number is one int at the start of the union
        return out.priority != 0

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.priority != 0


@cython.final
cdef class _Number(_Kind):
    cdef int least
    cdef int most

    def __init__(self, least, most):
        self.least, self.most = least, most

    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        number = as_int(what, value)
        if not self.least <= number <= self.most:
            raise ValueError(f"{what} must be from {self.least} to {self.most}, got {number}")
        out.priority = number
        return number

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.priority


@cython.final
cdef class _Choice(_Kind):
    """One of the words of an enumeration of the driver, whose members count from `first`."""

    cdef tuple words
    cdef int first

    def __init__(self, *words, first=0):
        self.words, self.first = words, first

    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        if isinstance(value, str):
            if value not in self.words:
                raise ValueError(f"{what} must be one of {', '.join(map(repr, self.words))}, got "
                                 f"{value!r}")
            out.priority = self.words.index(value) + self.first
        else:
            number = as_int(what, value)
            if not self.first <= number < self.first + len(self.words):
                raise ValueError(f"{what} has no value {number}; it is one of "
                                 f"{', '.join(map(repr, self.words))}")
            out.priority = number
        return self.read(out)

    cdef object read(self, const CUlaunchAttributeValue* value):
        place = value.priority - self.first
        return str(self.words[place]) if 0 <= place < len(self.words) else value.priority


@cython.final
cdef class _Extents(_Kind):
    """Up to three ints in x, y, z."""

    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        if len(given) > 3:
            raise ValueError(f"{what} must be an int, or a tuple with up to 3 ints (got {value!r})")
        extent = [as_int(what, each) for each in given]
        if any([not 1 <= each <= 0x7FFFFFFF for each in extent]):
            raise ValueError(f"{what} value must be >= 1 and <= {0x7FFFFFFF} (got {value!r})")
        x, y, z = extent + [1] * (3 - len(extent))
        out.clusterDim.x, out.clusterDim.y, out.clusterDim.z = x, y, z
        return x, y, z

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.clusterDim.x, value.clusterDim.y, value.clusterDim.z

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        return value.clusterDim.x == 0


@cython.final
cdef class _Domains(_Kind):
    """The numbers of the default and of the remote domain."""

    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise TypeError(f"{what} must be a pair of ints, the default and the remote domain, "
                            f"got {value!r}")
        default, remote = [as_int(what, each) for each in value]
        if not (0 <= default <= 255 and 0 <= remote <= 255):
            raise ValueError(f"{what} has domains from 0 to 255, got {value!r}")
        out.memSyncDomainMap.default_, out.memSyncDomainMap.remote = default, remote
        return default, remote

    cdef object read(self, const CUlaunchAttributeValue* value):
        return value.memSyncDomainMap.default_, value.memSyncDomainMap.remote

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        return value.memSyncDomainMap.default_ == 0 and value.memSyncDomainMap.remote == 1

    cdef int reset(self, CUlaunchAttributeValue* value) except -1:
        value.memSyncDomainMap.remote = 1
        return 0


@cython.final
cdef class _Window(_Kind):
    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        cls = public_object("AccessPolicyWindow")
        window = as_options(value, cls, what)
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
    """An event that the launch records; a pair of it and a bool where it may be triggered."""

    cdef bint has_trigger

    def __init__(self, has_trigger):
        self.has_trigger = has_trigger

    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out):
        trigger = False
        if self.has_trigger and isinstance(value, tuple) and len(value) == 2:
            value, trigger = value[0], bool(value[1])
        if not isinstance(value, Event):
            more = " or a pair of one and a bool" if self.has_trigger else ""
            raise TypeError(f"{what} must be an Event{more}, got {qualified_name(value)}")
        (<Event>value).native.check_open(value)
        cdef Event shared = share_event(<Event>value)
        cdef borrowed_event event = shared.native.borrow_open(shared)
        if event.facts().is_timing_enabled() or event.facts().is_ipc_enabled():
            raise ValueError(f"{what} must be an event of this process that takes no time: make it "
                             "with EventOptions(timing_enabled=False)")
        out.programmaticEvent.event = event.raw()  # both kinds of event begin alike
        if self.has_trigger:
            out.programmaticEvent.triggerAtBlockStart = trigger
        return (shared, True) if trigger else shared

    cdef object read(self, const CUlaunchAttributeValue* value):
        return None  # nodes and streams have none

    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept:
        return True


cdef object as_int(str what, object value):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an int, got {value!r}") from None
