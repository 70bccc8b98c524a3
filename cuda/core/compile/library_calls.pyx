# SPDX-License-Identifier: Apache-2.0
# What the calls of all compiler libraries share: lists of options, errors with their logs.

from libc.stdlib cimport free, malloc

# Module of the low layer -> its exception, and what its log is called in the text of one.
cdef dict LIBRARY_ERRORS = {
    "nvjitlink": ("nvJitLinkError", "nvJitLink error log"),
    "nvvm": ("nvvmError", "NVVM program log"),
}


cdef const char* c_text(bytes given, str what) except NULL:
    """A text as C reads it; one with a NUL inside would be cut there without a word."""
    if b"\0" in given:
        raise ValueError(f"{what} has a NUL character at byte {given.index(0)}")
    return given


@cython.final
cdef class OptionList:
    """Options as C takes them: an array of texts, and the bytes objects that hold these."""

    cdef list kept
    cdef const char** texts

    @staticmethod
    cdef OptionList of(list options):
        cdef OptionList made = OptionList.__new__(OptionList)
        cdef Py_ssize_t i
        made.kept = options
        made.texts = <const char**>malloc((len(options) + 1) * sizeof(char*))
        if made.texts is NULL:
            raise MemoryError()
        for i in range(len(options)):
            made.texts[i] = c_text(<bytes>options[i], f"option {i + 1} of the compiler")
        return made

    cdef int count(self):
        return <int>len(self.kept)

    def __dealloc__(self):
        free(self.texts)


cdef str log_text(bytes log):
    return log.rstrip(b"\0").decode("utf-8", "backslashreplace")


cdef object library_error(str library, int status, str function, str log):
    """The low layer's exception for a status that is no success."""
    module = import_module(f"cuda.bindings.{library}")
    class_name, log_name = LIBRARY_ERRORS[library]
    error = getattr(module, class_name)(status)
    if log.strip():
        error.args = (f"{error}\n{log_name}: {log}",)
    error.add_note(f"the function that failed: {function}")
    return error
