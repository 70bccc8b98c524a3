# SPDX-License-Identifier: Apache-2.0
# A link under way, by whichever library.


cdef class LinkSession:
    """One link of one library: takes inputs, is completed once, and gives what was made.

    A subclass says what `kinds` of code it takes and which `targets` it makes. What the library
    says is kept in the two logs, which outlive it. Not for several threads at once: the Linker
    that owns it has a lock.
    """

    cdef str error_log, info_log

    kinds = ()
    targets = ()

    def __cinit__(self):
        self.error_log = self.info_log = ""

    cdef int add(self, ObjectCode code) except -1:
        """Give one input to the library."""
        raise NotImplementedError(f"{type(self).__name__}.add()")

    cdef bytes make(self, str target):
        """Link, unless that is done, and return the image of a target among `targets`."""
        raise NotImplementedError(f"{type(self).__name__}.make()")

    cdef int read_logs(self) except -1:
        """Keep what the library has said so far."""
        raise NotImplementedError(f"{type(self).__name__}.read_logs()")

    cdef object handle(self):
        """The native object as the low layer has it; of value 0 once closed."""
        raise NotImplementedError(f"{type(self).__name__}.handle()")

    cdef int close(self) except -1:
        """End the link, keeping the logs."""
        raise NotImplementedError(f"{type(self).__name__}.close()")


cdef bytes input_name(ObjectCode code):
    """What the library calls an input in its messages."""
    return code.label.encode()
