# SPDX-License-Identifier: Apache-2.0
# Helpers for calls of all compiler libraries: lists of options, errors with their logs.

from libc.stdlib cimport free, malloc

# Module of the low layer: its exception, and the name of its log in error messages.
cdef dict LIBRARY_ERRORS = {
    "nvjitlink": ("nvJitLinkError", "nvJitLink error log"),
    "nvvm": ("nvvmError", "NVVM program log"),
}


cdef const char* c_text(bytes text, str label) except NULL:
    """Return a text as a C string; reject a NUL inside, which would truncate it silently."""
    if b"\0" in text:
        raise ValueError(f"{label} has a NUL character at byte {text.index(0)}: {shown(text)}")
    return text


@cython.final
cdef class OptionList:
    """Options as a C array of strings, with the bytes objects that own them."""

    cdef list options
    cdef const char** texts

    @staticmethod
    cdef OptionList of(list options):
        cdef OptionList result = OptionList.__new__(OptionList)
        cdef Py_ssize_t i
        result.options = options
        result.texts = <const char**>malloc((len(options) + 1) * sizeof(char*))
        if result.texts is NULL:
            raise MemoryError()
        for i in range(len(options)):
            result.texts[i] = c_text(<bytes>options[i], f"option {i + 1} of the compiler")
        return result

    cdef int count(self):
        return <int>len(self.options)

    def __dealloc__(self):
        free(self.texts)


cdef str log_text(bytes log):
    return log.rstrip(b"\0").decode("utf-8", "backslashreplace")


cdef object library_error(str library, int status, str function, str log):
    """Return the low layer's exception for a failed status."""
    module = import_module(f"cuda.bindings.{library}")
    class_name, log_name = LIBRARY_ERRORS[library]
    error = getattr(module, class_name)(status)
    if log.strip():
        error.args = (f"{error}\n{log_name}: {log}",)
    error.add_note(f"failed function: {function}")
    return error


cdef str arch_problem(object arch):
    """Return why no compiler accepts an architecture, or None."""
    cdef str text = exact_str(arch, "arch") if isinstance(arch, str) else shown(arch)
    number = text.removeprefix("sm_").removeprefix("compute_").rstrip("abcdef")
    if isinstance(arch, str) and text.startswith(("sm_", "compute_")) and number.isdigit():
        return None
    hint = f": write 'sm_{number}'" if number.isdigit() else ""
    return f"arch must be 'sm_NN' or 'compute_NN', got {shown(arch)}{hint}"
