# SPDX-License-Identifier: Apache-2.0
# ObjectCode: compiled code, loaded when it is first needed.

from _thread import allocate_lock


cdef tuple LOADABLE = ("cubin", "ptx", "fatbin", "tile_ir")
cdef tuple FORMATS = (*LOADABLE, "ltoir", "object", "library")


cdef class ObjectCode:
    """Code that was compiled: PTX, a cubin, a fat binary, or input for a linker.

    It comes from `Program.compile` or one of the ``from_`` methods. Making one reads
    and checks nothing; the code is loaded once, for all devices, by the first use that needs it.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "ObjectCode objects cannot be instantiated directly. Please use ObjectCode APIs "
            "(from_cubin, from_ptx) or Program APIs (compile).")

    @classmethod
    def _init(cls, module, code_type, *, name="", symbol_mapping=None):
        """Wrap code of any format. Host only."""
        return make_object_code(module, str(code_type), name, symbol_mapping)

    @staticmethod
    def from_cubin(module, *, name="", symbol_mapping=None):
        """Wrap a cubin: machine code for one architecture.

        Host only.

        Parameters
        ----------
        module : bytes, bytearray, str or PathLike
            The image, or the path of a file.
        name : str, optional
            Kept as `ObjectCode.name`.
        symbol_mapping : dict, optional
            From names that `get_kernel` is given to symbols of the code.

        Returns
        -------
        ObjectCode
        """
        return make_object_code(module, "cubin", name, symbol_mapping)

    @staticmethod
    def from_ptx(module, *, name="", symbol_mapping=None):
        """Wrap PTX, which the driver compiles when it is loaded.

        Host only. A str with a line break is PTX text, any other a path. The parameters are those
        of `from_cubin`.

        Returns
        -------
        ObjectCode
        """
        if isinstance(module, str) and "\n" in module:
            module = module.encode()
        return make_object_code(module, "ptx", name, symbol_mapping)

    @staticmethod
    def from_ltoir(module, *, name="", symbol_mapping=None):
        """Wrap LTO-IR, for a linker. Host only. The parameters are those of `from_cubin`."""
        return make_object_code(module, "ltoir", name, symbol_mapping)

    @staticmethod
    def from_fatbin(module, *, name="", symbol_mapping=None):
        """Wrap a fat binary: code for several architectures.

        Host only. The parameters are those of `from_cubin`.
        """
        return make_object_code(module, "fatbin", name, symbol_mapping)

    @staticmethod
    def from_object(module, *, name="", symbol_mapping=None):
        """Wrap a host object that holds device code, for a linker.

        Host only. The parameters are those of `from_cubin`.
        """
        return make_object_code(module, "object", name, symbol_mapping)

    @staticmethod
    def from_library(module, *, name="", symbol_mapping=None):
        """Wrap a host library that holds device code, for a linker.

        Host only. The parameters are those of `from_cubin`.
        """
        return make_object_code(module, "library", name, symbol_mapping)

    @staticmethod
    def from_tile_ir(module, *, name="", symbol_mapping=None):
        """Wrap Tile IR, which the driver compiles when it is loaded: CUDA 13.1 or newer.

        Host only. The parameters are those of `from_cubin`.
        """
        return make_object_code(module, "tile_ir", name, symbol_mapping)

    @property
    def code(self):
        """The image as bytes, or the path as str. Host only."""
        return self.image

    @property
    def code_type(self):
        """``"cubin"``, ``"ptx"``, ``"ltoir"``, ``"fatbin"``, ``"object"``, ``"library"`` or
        ``"tile_ir"``."""
        return self.format

    @property
    def name(self):
        """The name that was given, or an empty string. Host only."""
        return self.label

    @property
    def symbol_mapping(self):
        """A copy of the mapping from names to symbols. Host only."""
        return dict(self.mapping)

    @property
    def handle(self):
        """The library as `cuda.bindings.driver.CUlibrary`; loads the code. Blocks the host.

        Whoever has the handle may use it when this object is gone, or unload the library: from now
        on it stays loaded until then, or until the process ends.
        """
        load(self)
        keep_loaded(self.native)
        return as_bindings("CUlibrary", self.native.raw())

    def get_kernel(self, name):
        """Look a kernel up; the first call loads the code.

        Blocks the host while the code is loaded.

        Parameters
        ----------
        name : str or bytes
            Looked up in `symbol_mapping` first, else the symbol itself.

        Returns
        -------
        Kernel
            Each call makes a new object; those of one kernel are equal.

        Raises
        ------
        RuntimeError
            If code of this type cannot be loaded.
        CUDAError
            If the code cannot be loaded, or has no such kernel.

        See Also
        --------
        cuLibraryGetKernel : the driver function.
        """
        cdef bytes symbol = symbol_of(self, name)
        cdef native_text wanted = native_text(symbol, len(symbol))
        cdef kernel_handle found
        load(self)
        try:
            with nogil:
                found = find_kernel(self.native, wanted)
        except CUDAError as error:
            explain_missing_kernel(error, self, symbol)
            raise
        return wrap_kernel(found)

    def get_module(self):
        """The code as `cuda.bindings.driver.CUmodule` of the current context, for older calls.

        Blocks the host while the code is loaded. As with `handle`, the code then stays loaded.

        See Also
        --------
        cuLibraryGetModule : the driver function.
        """
        cdef CUmodule module = NULL
        load(self)
        with nogil:
            call(driver.cuLibraryGetModule, &module, self.native.raw())
        keep_loaded(self.native)
        return as_bindings("CUmodule", module)

    def get_global(self, name):
        """A ``__device__``, ``__constant__`` or ``__managed__`` variable of the code.

        Blocks the host while the code is loaded.

        Parameters
        ----------
        name : str or bytes
            Looked up like that of a kernel.

        Returns
        -------
        Buffer
            The memory of the variable in the current context; it keeps the code loaded and closing
            it frees nothing.

        Raises
        ------
        CUDAError
            If there is no such variable.

        See Also
        --------
        cuLibraryGetGlobal : the driver function.
        """
        cdef bytes symbol = symbol_of(self, name)
        cdef const char* wanted = symbol
        cdef global_variable found
        load(self)
        with nogil:
            found = find_global(self.native, wanted)
        return Buffer.from_handle(found.address, found.size, owner=self)

    def kernels(self):
        """The symbols of all kernels of the code, as a list of str.

        Blocks the host while the code is loaded.

        See Also
        --------
        cuLibraryEnumerateKernels : the driver function.
        """
        cdef symbol_list symbols
        load(self)
        with nogil:
            symbols = kernel_symbols(self.native)
        return [text_of(symbols[i]) for i in range(symbols.size())]

    def __eq__(self, other):
        if not isinstance(other, ObjectCode):
            return NotImplemented
        if self is other:
            return True
        cdef library_handle own = share_library(self), others = share_library(other)
        return own.is_open() and others.is_open() and own.raw() == others.raw()

    # Not by the library's address: a hash must not change when the code is loaded. Two objects are
    # never wrappers of one library, so equal ones are identical.
    def __hash__(self):
        return hash(<uintptr_t><PyObject*>self)

    def __reduce__(self):
        return _restore_object_code, (self.image, self.format, self.label, self.mapping,
                                      self.declarations)

    @cython.critical_section
    def __repr__(self):
        return (f"<ObjectCode handle=0x{<uintptr_t>self.native.raw():x} "
                f"code_type='{self.format}'>")


def _restore_object_code(image, code_type, name, symbol_mapping, declarations=b""):
    """What a pickled ObjectCode is rebuilt with. Host only."""
    return make_object_code(image, code_type, name, symbol_mapping, declarations)


cdef ObjectCode make_object_code(object image, str code_type, str name, object symbol_mapping,
                                 bytes declarations=b""):
    cdef ObjectCode made = ObjectCode.__new__(ObjectCode)
    if code_type not in FORMATS:
        raise ValueError(f"code_type must be one of {', '.join(FORMATS)}, got {code_type!r}")
    if isinstance(image, (bytes, bytearray)):
        made.image = bytes(image)
    elif isinstance(image, (str, os.PathLike)):
        made.image = os.fsdecode(image)
    else:
        raise TypeError(f"Expected type str or bytes or bytearray or os.PathLike for the code, got "
                        f"{qualified_name(image)}")
    if name is None:
        raise TypeError("name must be str, got None")
    made.format = code_type
    made.label = name
    made.mapping = dict(symbol_mapping) if symbol_mapping else {}
    made.declarations = declarations
    made.loading = allocate_lock()
    return made


cdef bytes declarations_of(bytes ptx):
    cdef native_text found = entry_declarations(native_view(ptx, len(ptx)))
    return found.data()[:found.size()]


cdef bytes known_declarations(ObjectCode self):
    """PTX that tells the parameters of the kernels: the code itself, or what was kept of it."""
    if self.format != "ptx":
        return self.declarations
    if isinstance(self.image, bytes):
        return self.image
    try:
        with open(self.image, "rb") as file:
            return file.read()
    except OSError:  # the driver, which reads the file as well, says what is wrong
        return b""


cdef bytes symbol_of(ObjectCode self, object name):
    """The symbol that a name stands for, after a check that the code can be loaded at all."""
    check_loadable(self)
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"name must be str or bytes, got {qualified_name(name)}")
    symbol = self.mapping.get(name, name)
    if isinstance(symbol, str):
        symbol = symbol.encode()
    if not isinstance(symbol, bytes):
        raise TypeError(f"symbol_mapping[{name!r}] must be str or bytes, got "
                        f"{qualified_name(symbol)}")
    if b"\0" in symbol:  # where C would end the name, and find another one
        raise ValueError(f"a name in object code has no NUL, got {symbol!r}")
    return symbol


cdef int check_loadable(ObjectCode self) except -1:
    if self.format not in LOADABLE:
        raise RuntimeError(f'Unsupported code type "{self.format}": only {", ".join(LOADABLE)} can '
                           "be loaded; link the code first, for instance with "
                           "cuda.bindings.nvjitlink")
    return 0


cdef int load(ObjectCode self) except -1:
    """Load the code unless it is loaded; one thread does it, others wait."""
    cdef load_report report
    cdef library_handle loaded
    cdef bytes content, declarations
    cdef const char* data
    cdef native_view known
    cdef bint is_ptx = self.format == "ptx"
    with self.loading:
        if self.native.is_open():
            return 0
        check_loadable(self)
        initialize_driver()
        is_path = isinstance(self.image, str)
        content = os.fsencode(self.image) if is_path else self.image
        data = content
        declarations = known_declarations(self)
        known = native_view(declarations, len(declarations))
        if is_path:
            with nogil:
                loaded = load_library_file(data, known, report)
        else:
            with nogil:
                loaded = load_library(data, is_ptx, known, report)
        if not loaded.is_open():
            raise load_error(self, report)
        with cython.critical_section(self):
            self.native = loaded
    return 0


cdef library_handle share_library(ObjectCode self) noexcept:
    """A share of the handle, which is null until the code is loaded."""
    return share(self, self.native)


cdef object load_error(ObjectCode self, const load_report& report):
    """The driver's error with its compiler's log, and the line of PTX that the log names."""
    if PyErr_Occurred() is not NULL:
        return None
    error = driver_error(report.code, report.function)
    explain_empty(error, self)
    explain_tile_ir(error, self)
    add_log(error, self, text_of(report.log).strip())
    return error


cdef bint explain_tile_ir(object error, ObjectCode self) except -1:
    """An older driver takes it for code without kernels."""
    if self.format != "tile_ir":
        return False
    error.add_note("Tile IR is compiled by drivers of CUDA 13.1 or newer; the emulator runs PTX "
                   "only")
    return True


cdef bint explain_empty(object error, ObjectCode self) except -1:
    """Say so where there is no code. A driver may take it and miss the kernels only."""
    if not isinstance(self.image, bytes) or (<bytes>self.image).strip(b"\0"):
        return False
    error.add_note("there is no code in it; a program that is compiled with "
                   "link_time_optimization=True has LTO-IR only: compile it to 'ltoir'")
    return True


cdef int add_log(object error, ObjectCode self, str log) except -1:
    """Complete the text of an error with the compiler's log and the line of PTX that it names."""
    if log:
        text = f"\nJIT error log:\n{log}"
        line = source_line(self, log)
        extend_error(error, text + (f"\n{line}" if line else ""))
    return 0


cdef str source_line(ObjectCode self, str log):
    import re  # costs more than all of this extension to import, and is needed for errors only

    named = re.search(r"\bline (\d+)", log)
    if named is None or self.format != "ptx" or not isinstance(self.image, bytes):
        return None
    lines = self.image.decode("utf-8", "backslashreplace").splitlines()
    number = int(named[1])
    return f"line {number}: {lines[number - 1].strip()}" if 0 < number <= len(lines) else None


COMPILE_ERRORS = ("CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                  "CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_IMAGE")


cdef int explain_missing_kernel(object error, ObjectCode self, bytes symbol) except -1:
    """Which kernels there are, or why there are none: a driver may compile as late as now."""
    cdef const char* ptx
    cdef native_text log
    if explain_empty(error, self):
        return 0
    if self.format == "ptx" and not isinstance(self.image, str) and error.name in COMPILE_ERRORS:
        ptx = self.image
        with nogil:
            log = compiler_log(ptx)
        return add_log(error, self, text_of(log).strip())
    try:
        names = sorted(self.kernels())
    except CUDAError:  # a driver before 12.4: the error at hand matters more
        names = []
        if self.format != "tile_ir":
            return 0
    if not names and explain_tile_ir(error, self):
        return 0
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    missing = symbol.decode("utf-8", "replace")
    error.add_note(f"there is no kernel {missing!r}; kernels of this code: {shown or 'none'}")
    if "<" in missing or "::" in missing:
        error.add_note(f"to find C++ names, compile with name_expressions=({missing!r},)")
    return 0
