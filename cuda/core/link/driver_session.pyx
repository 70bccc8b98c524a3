# SPDX-License-Identifier: Apache-2.0
# A link by the driver, used if nvJitLink is missing or too old.

from cuda.bindings.cydriver cimport (
    CU_JIT_INPUT_CUBIN,
    CU_JIT_INPUT_FATBINARY,
    CU_JIT_INPUT_LIBRARY,
    CU_JIT_INPUT_OBJECT,
    CU_JIT_INPUT_PTX,
    CUDA_ERROR_INVALID_IMAGE,
)

cdef dict DRIVER_KINDS = {
    "cubin": CU_JIT_INPUT_CUBIN,
    "ptx": CU_JIT_INPUT_PTX,
    "fatbin": CU_JIT_INPUT_FATBINARY,
    "object": CU_JIT_INPUT_OBJECT,
    "library": CU_JIT_INPUT_LIBRARY,
}


@cython.final
cdef class DriverSession(LinkSession):
    """A link by the driver, in the current context."""

    cdef LinkState state
    cdef bytes image  # once linked

    kinds = tuple(DRIVER_KINDS)
    targets = ("cubin",)

    @staticmethod
    cdef DriverSession create(list options):
        cdef DriverSession session = DriverSession.__new__(DriverSession)
        session.state = LinkState.create(options)
        return session

    cdef int add(self, ObjectCode code) except -1:
        kind = DRIVER_KINDS[code.format]
        name = input_name(code)
        c_text(name, "the name of the code")
        damage = damage_of(input_bytes(code))
        if damage:
            error = driver_error(CUDA_ERROR_INVALID_IMAGE, "cuLinkAddData")
            extend_error(error, f"\n{code.label}: {damage}")
            raise error
        try:
            if isinstance(code.image, str):
                path = os.fsencode(code.image)
                c_text(path, "the path of the code")
                self.state.add_file(kind, path)
            else:
                self.state.add_data(kind, code.image, name)
        except CUDAError as error:
            self.explain(error)
            raise

    cdef bytes make(self, str target):
        if self.image is None:
            try:
                self.image = self.state.complete()
            except CUDAError as error:
                self.explain(error)
                raise
        self.read_logs()
        return self.image

    cdef int explain(self, object error) except -1:
        """Append the driver's log to the message of an error."""
        self.read_logs()
        if self.error_log:
            extend_error(error, f"\nLinker error log: {self.error_log}")

    cdef int read_logs(self) except -1:
        if self.state is not None:
            self.error_log = self.state.error_log()
            self.info_log = self.state.info_log()

    cdef object handle(self):
        if self.state is None:
            return import_module("cuda.bindings.driver").CUlinkState()
        return self.state.handle()

    cdef int close(self) except -1:
        if self.state is not None:
            self.read_logs()
            self.state.close()
            self.state = None
