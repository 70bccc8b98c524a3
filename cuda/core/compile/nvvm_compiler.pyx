# SPDX-License-Identifier: Apache-2.0
# NVVM IR by libNVVM: one native program for all compilations.


def _get_nvvm_module():
    """The module of libNVVM's functions; RuntimeError where the library is missing. Host only."""
    module = import_module("cuda.bindings.nvvm")
    try:
        module.version()
    except RuntimeError as error:
        raise RuntimeError(f"cuda.bindings.nvvm cannot be used: libnvvm is missing: {error}") \
            from error
    return module


cdef bytes ir_bytes(object source):
    """IR as libNVVM takes it: text as UTF-8, or bitcode."""
    return source.encode() if isinstance(source, str) else bytes(source)


@cython.final
cdef class NvvmCompiler(Compiler):
    """NVVM IR, by one program of libNVVM, which is verified before each compilation."""

    cdef NvvmProgram native
    cdef bint has_libdevice

    targets = ("ptx", "ltoir")
    backend = "NVVM"

    def __init__(self, source, options):
        _get_nvvm_module()
        self.options = options
        self.name = options.name
        self.settled = settle(options, ("name", "extra_sources"))
        self.native = NvvmProgram.create()
        self.native.add(ir_bytes(source), options.name.encode())
        for name, module in options.extra_sources or ():
            self.native.add(ir_bytes(module), name.encode())

    cdef object handle(self):
        return <uintptr_t>self.native.raw

    cdef int close(self) except -1:
        self.native.close()
        return 0

    cdef object compile(self, str target, object name_expressions, object logs):
        given = self.options.as_bytes("nvvm", target)
        self.native.verify(given)
        # After the verification, as its modules have no version of their own.
        if self.options.use_libdevice and not self.has_libdevice:
            self.native.add_lazily(libdevice(), b"libdevice")
            self.has_libdevice = True
        self.native.compile(given)
        image = self.native.result()
        # Last, since writing may run anything: it may close this, or compile again.
        if logs is not None and (log := self.native.log()):
            logs.write(log)
        return make_object_code(image, target, self.name, None)


cdef bytes libdevice():
    """The bitcode of NVIDIA's library of mathematical functions."""
    from cuda.pathfinder import BitcodeLibNotFoundError, find_bitcode_lib

    try:
        path = find_bitcode_lib("device")
    except BitcodeLibNotFoundError as error:
        raise RuntimeError(f"use_libdevice needs libdevice.10.bc, which cannot be found: {error}. "
                           "It comes with the package nvidia-nvvm and with the CUDA Toolkit") \
            from error
    with open(path, "rb") as file:
        return file.read()


COMPILERS["nvvm"] = NvvmCompiler
