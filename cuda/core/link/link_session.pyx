# SPDX-License-Identifier: Apache-2.0
# The interface of a link in progress.


cdef class LinkSession:
    """A link of a library: it accepts inputs, completes once, and returns the image.

    A subclass defines the `kinds` of code that it accepts and its `targets`. The two logs store
    the library's messages and remain after `close`. A session is not thread-safe: the lock of the
    Linker that owns it protects it.
    """

    cdef str error_log, info_log

    kinds = ()
    targets = ()

    def __cinit__(self):
        self.error_log = self.info_log = ""

    cdef int add(self, ObjectCode code) except -1:
        """Add an input to the library."""
        raise NotImplementedError(f"{type(self).__name__}.add()")

    cdef bytes make(self, str target):
        """Link on the first call, and return the image of a target in `targets`."""
        raise NotImplementedError(f"{type(self).__name__}.make()")

    cdef int read_logs(self) except -1:
        """Store the library's current logs."""
        raise NotImplementedError(f"{type(self).__name__}.read_logs()")

    cdef object handle(self):
        """Return the native object as a low-layer object; its value is 0 once closed."""
        raise NotImplementedError(f"{type(self).__name__}.handle()")

    cdef int close(self) except -1:
        """Destroy the native link, but store its logs."""
        raise NotImplementedError(f"{type(self).__name__}.close()")


cdef bytes input_bytes(ObjectCode code):
    """Return the image, or the content of its file; empty bytes if the file is not readable."""
    if isinstance(code.image, bytes):
        return code.image
    try:
        with open(code.image, "rb") as file:
            return file.read()
    except OSError:  # the library also reads the file and reports the error
        return b""


cdef bytes input_name(ObjectCode code):
    """Return the name of an input in the library's messages."""
    return utf8(code.label, "the name of an input")


cdef int remove_notes(object error) except -1:
    """Remove the explanation of the status, which misleads where the log has the cause."""
    error.__notes__ = [each for each in getattr(error, "__notes__", ())
                       if each.startswith("failed function")]
