# SPDX-License-Identifier: Apache-2.0
# What a Program compiles with: one class for each code type, and one row of a table.

from copy import copy


cdef dict settle(object options, fields):
    """The options of some fields as they are now."""
    given = ((field, getattr(options, field)) for field in fields)
    return {field: list(value) if isinstance(value, list) else value for field, value in given}


cdef class Compiler:
    """Compiles the source of one program as often as wanted; the program holds its lock.

    A subclass says which `targets` it makes and what it calls itself (`backend`), and is a row of
    COMPILERS. Its constructor takes the source and the `ProgramOptions`.
    """

    cdef object options        # those of the caller, who may change them between compilations
    cdef object name           # of the object code that is made
    cdef dict settled          # field -> value of the options that were used up by the constructor
    cdef object header_status  # what became of a precompiled header: str once known, else None

    targets = ()
    backend = ""
    takes_names = False  # whether it makes name expressions to symbols

    cdef object options_in_use(self):
        """The options that the next compilation has: those that are used up as they were then."""
        options = self.options
        changed = {field: value for field, value in self.settled.items()
                   if getattr(options, field) != value}
        if changed:
            options = copy(options)
            for field, value in changed.items():
                setattr(options, field, value)
        return options

    cdef object handle(self):
        """The native program as the low layer has it; of value 0 once closed."""
        raise NotImplementedError(f"{type(self).__name__}.handle()")

    cdef int close(self) except -1:
        """Release the native program, and whatever else is held."""
        raise NotImplementedError(f"{type(self).__name__}.close()")

    cdef object compile(self, str target, object name_expressions, object logs):
        """The ObjectCode of a target that is among `targets`; `logs` gets what the library says."""
        raise NotImplementedError(f"{type(self).__name__}.compile()")

    cdef int warn_of(self, str target) except -1:
        """Warn of what may keep object code of that target from being loaded."""
        return 0


# Code type -> class; filled where the classes are.
cdef dict COMPILERS = {}

CODE_TYPES = ("c++", "ptx", "nvvm")
