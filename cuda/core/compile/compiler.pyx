# SPDX-License-Identifier: Apache-2.0
# The compilers of Program: a class and a table row for each code type.


cdef dict copy_fields(object options, fields):
    """Return the current values of some fields; lists are copied."""
    values = ((field, getattr(options, field)) for field in fields)
    return {field: list(value) if isinstance(value, list) else value for field, value in values}


cdef class Compiler:
    """Compiles the source of a program any number of times, under the program's lock.

    A subclass defines its `targets` and its name (`backend`), and has a row in COMPILERS. Its
    constructor accepts the source and the `ProgramOptions`.
    """

    cdef object options        # the caller's object, which may change between compilations
    cdef object name           # name of the object code
    cdef dict fixed_fields     # field: value at construction, for options that only it reads
    cdef object header_status  # status of the precompiled header: str, or None if unknown

    targets = ()
    backend = ""
    accepts_names = False  # whether it resolves name expressions to symbols

    cdef object options_in_use(self):
        """Return the options of the next compilation, with the fixed fields of construction."""
        options = self.options
        changed = {field: value for field, value in self.fixed_fields.items()
                   if getattr(options, field) != value}
        if changed:
            from copy import copy

            options = copy(options)
            for field, value in changed.items():
                setattr(options, field, value)
        return options

    cdef object handle(self):
        """Return the native program as a low-layer object; its value is 0 once closed."""
        raise NotImplementedError(f"{type(self).__name__}.handle()")

    cdef int close(self) except -1:
        """Release the native program and all other resources."""
        raise NotImplementedError(f"{type(self).__name__}.close()")

    cdef object compile(self, str target, object name_expressions, object logs):
        """Return the ObjectCode of a target in `targets`; write the library's log to `logs`."""
        raise NotImplementedError(f"{type(self).__name__}.compile()")

    cdef int warn_of(self, str target) except -1:
        """Warn if the driver may not be able to load object code of the target."""


# Code type: class; each class adds itself after its definition.
cdef dict COMPILERS = {}

CODE_TYPES = ("c++", "ptx", "nvvm")


cdef object compile_now(Program self, str target, object name_expressions, object logs):
    begin = monotonic()
    with self.lock:
        check_open(self.is_open, "Program")
        check_log_file(logs)
        code = compiler_of(self).compile(target, name_expressions, logs)
    notify_log("note_compiled",
               (compiler_of(self).backend, target, monotonic() - begin, len(code.code)))
    return code


cdef Compiler compiler_of(Program self):
    return <Compiler>require_set(self, self.compiler)


cdef int check_log_file(object logs) except -1:
    if logs is not None and not hasattr(logs, "write"):
        raise TypeError(f"logs must have a method write(str), such as an open file, got "
                        f"{shown(logs)}")
