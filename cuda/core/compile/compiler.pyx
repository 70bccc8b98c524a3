# SPDX-License-Identifier: Apache-2.0
# What a Program compiles with: one class for each code type, and one row of a table.


cdef class Compiler:
    """Compiles the source of one program as often as wanted; the program holds its lock.

    A subclass says which `targets` it makes and what it calls itself (`backend`), and is a row of
    COMPILERS. Its constructor takes the source and the `ProgramOptions`.
    """

    cdef object header_status  # what became of a precompiled header: str once known, else None

    targets = ()
    backend = ""

    cdef object handle(self):
        """The native program as the low layer has it; of value 0 once closed."""
        raise NotImplementedError(f"{type(self).__name__}.handle()")

    cdef int close(self) except -1:
        """Release the native program, and whatever else is held."""
        raise NotImplementedError(f"{type(self).__name__}.close()")

    cdef object compile(self, str target, object name_expressions, object logs):
        """The ObjectCode of a target that is among `targets`; `logs` gets what the library says."""
        raise NotImplementedError(f"{type(self).__name__}.compile()")


# Code type -> class; filled where the classes are.
cdef dict COMPILERS = {}

CODE_TYPES = ("c++", "ptx", "nvvm")
