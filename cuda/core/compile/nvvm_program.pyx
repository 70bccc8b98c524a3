# SPDX-License-Identifier: Apache-2.0
# A native libNVVM program: it compiles modules of IR to PTX or LTO-IR.

cimport cuda.bindings.cynvvm as cynvvm
from cuda.bindings.cynvvm cimport (
    _NVVMRESULT_INTERNAL_LOADING_ERROR,
    NVVM_SUCCESS,
    nvvmProgram,
    nvvmResult,
)

ctypedef nvvmResult (*nvvm_size_getter)(nvvmProgram, size_t*) \
    except ?_NVVMRESULT_INTERNAL_LOADING_ERROR nogil
ctypedef nvvmResult (*nvvm_text_getter)(nvvmProgram, char*) \
    except ?_NVVMRESULT_INTERNAL_LOADING_ERROR nogil
ctypedef nvvmResult (*nvvm_adder)(nvvmProgram, const char*, size_t, const char*) \
    except ?_NVVMRESULT_INTERNAL_LOADING_ERROR nogil
ctypedef nvvmResult (*nvvm_runner)(nvvmProgram, int, const char**) \
    except ?_NVVMRESULT_INTERNAL_LOADING_ERROR nogil


@cython.final
cdef class NvvmProgram:
    """A native program; a failed call raises with the program's log."""

    cdef nvvmProgram raw

    @staticmethod
    cdef NvvmProgram create():
        cdef NvvmProgram program = NvvmProgram.__new__(NvvmProgram)
        cdef nvvmResult status = cynvvm.nvvmCreateProgram(&program.raw)
        if status != NVVM_SUCCESS:
            raise library_error("nvvm", status, "nvvmCreateProgram", "")
        return program

    def __dealloc__(self):
        if self.raw is not NULL:
            cynvvm.nvvmDestroyProgram(&self.raw)

    cdef int add(self, bytes module, bytes name) except -1:
        return self.add_by(cynvvm.nvvmAddModuleToProgram, "nvvmAddModuleToProgram", module, name)

    cdef int add_lazily(self, bytes module, bytes name) except -1:
        """Add a module of which only the functions used by other modules are linked."""
        return self.add_by(cynvvm.nvvmLazyAddModuleToProgram, "nvvmLazyAddModuleToProgram", module,
                           name)

    cdef int add_by(self, nvvm_adder call, str function, bytes module, bytes name) except -1:
        cdef const char* text = module
        cdef const char* title = c_text(name, "the name of the module")
        cdef size_t size = len(module)
        cdef nvvmResult status
        cdef uint64_t entry = enter_gate()
        with nogil:
            try:
                status = call(self.raw, text, size, title)
            finally:
                leave_gate(entry)
        return self.check(status, function)

    cdef int verify(self, list options) except -1:
        return self.run_by(cynvvm.nvvmVerifyProgram, "nvvmVerifyProgram", options)

    cdef int compile(self, list options) except -1:
        return self.run_by(cynvvm.nvvmCompileProgram, "nvvmCompileProgram", options)

    cdef int run_by(self, nvvm_runner call, str function, list options) except -1:
        cdef OptionList native_options = OptionList.of(options)
        cdef int count = native_options.count()
        cdef nvvmResult status
        cdef uint64_t entry = enter_gate()
        with nogil:
            try:
                status = call(self.raw, count, native_options.texts)
            finally:
                leave_gate(entry)
        return self.check(status, function)

    cdef bytes result(self):
        return self.fetch(cynvvm.nvvmGetCompiledResultSize, cynvvm.nvvmGetCompiledResult,
                          "nvvmGetCompiledResult")

    cdef str log(self):
        return log_text(self.fetch(cynvvm.nvvmGetProgramLogSize, cynvvm.nvvmGetProgramLog,
                                   "nvvmGetProgramLog"))

    cdef bytes fetch(self, nvvm_size_getter get_size, nvvm_text_getter get_text, str function):
        """Query the size of a text, then the text."""
        cdef size_t size = 0
        cdef nvvmResult status = get_size(self.raw, &size)
        cdef bytearray buffer = bytearray(size)
        if status == NVVM_SUCCESS:
            status = get_text(self.raw, buffer)
        if status != NVVM_SUCCESS:
            raise library_error("nvvm", status, function, "")
        return bytes(buffer)

    cdef int check(self, nvvmResult status, str function) except -1:
        if status != NVVM_SUCCESS:
            raise library_error("nvvm", status, function, self.log())

    cdef int close(self) except -1:
        cdef nvvmResult status
        if self.raw is not NULL:
            status = cynvvm.nvvmDestroyProgram(&self.raw)
            self.raw = NULL
            if status != NVVM_SUCCESS:
                raise library_error("nvvm", status, "nvvmDestroyProgram", "")
