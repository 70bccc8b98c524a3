# SPDX-License-Identifier: Apache-2.0
# The compiler of NVVM IR by libNVVM; all compilations share a native program.


def _get_nvvm_module():
    """Return the module `cuda.bindings.nvvm`; raise RuntimeError without libNVVM. Host only."""
    module = import_module("cuda.bindings.nvvm")
    try:
        module.version()
    except RuntimeError as error:
        raise RuntimeError(f"cuda.bindings.nvvm cannot be used: libnvvm is missing: {error}") \
            from error
    return module


cdef bytes ir_bytes(object source):
    """Return IR in the form that libNVVM accepts: UTF-8 text or bitcode."""
    return utf8(source, "the source") if isinstance(source, str) else bytes(source)


@cython.final
cdef class NvvmCompiler(Compiler):
    """The compiler of NVVM IR; it verifies its libNVVM program before each compilation."""

    cdef NvvmProgram native
    cdef bint has_libdevice

    targets = ("ptx", "ltoir")
    backend = "NVVM"

    def __init__(self, source, options):
        _get_nvvm_module()
        self.options = options
        self.name = options.name
        self.fixed_fields = copy_fields(options, ("name", "extra_sources"))
        self.native = NvvmProgram.create()
        self.native.add(ir_bytes(source), utf8(self.name, "the name"))
        for name, module in options.extra_sources or ():
            self.native.add(ir_bytes(module), utf8(name, "a name of extra_sources"))

    cdef object handle(self):
        return <uintptr_t>self.native.raw

    cdef int close(self) except -1:
        self.native.close()

    cdef object compile(self, str target, object name_expressions, object logs):
        native_options = self.options.as_bytes("nvvm", target)
        self.native.verify(native_options)
        # Verification rejects libdevice, whose modules have no IR version, so it is added later.
        if self.options.use_libdevice and not self.has_libdevice:
            self.native.add_lazily(libdevice(), b"libdevice")
            self.has_libdevice = True
        self.native.compile(native_options)
        image = self.native.result()
        # The log is last: `write` may run any code, even close the program or compile again.
        if logs is not None and (log := self.native.log()):
            logs.write(log)
        return make_object_code(image, target, self.name, None)


cdef bytes libdevice():
    """Return the bitcode of libdevice, NVIDIA's library of mathematical functions."""
    from cuda.pathfinder import BitcodeLibNotFoundError, find_bitcode_lib

    try:
        path = find_bitcode_lib("device")
    except BitcodeLibNotFoundError as error:
        raise RuntimeError(f"use_libdevice requires libdevice.10.bc, which was not found: {error}. "
                           "The package nvidia-nvvm and the CUDA Toolkit contain it") \
            from error
    with open(path, "rb") as file:
        return file.read()


COMPILERS["nvvm"] = NvvmCompiler
