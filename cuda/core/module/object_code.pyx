# SPDX-License-Identifier: Apache-2.0
# ObjectCode: compiled code, loaded on first use.

from _thread import allocate_lock


cdef tuple LOADABLE = ("cubin", "ptx", "fatbin", "tile_ir")
cdef tuple FORMATS = (*LOADABLE, "ltoir", "object", "library")


cdef class ObjectCode:
    """Compiled code: PTX, a cubin, a fat binary, or input for a linker.

    `Program.compile` and the ``from_`` methods create it. Creation does not read or check the
    code. The first use that needs the code loads it once, for all devices.
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
        module : bytes-like, str or PathLike
            Image, which is copied, or path of a file. A bytes-like image is contiguous, for example
            ``memoryview(data)[64:]``.
        name : str, optional
            Value of `ObjectCode.name`.
        symbol_mapping : dict, optional
            Mapping from names for `get_kernel` to symbols of the code.

        Returns
        -------
        ObjectCode
        """
        return make_object_code(module, "cubin", name, symbol_mapping)

    @staticmethod
    def from_ptx(module, *, name="", symbol_mapping=None):
        """Wrap PTX, which the driver compiles on loading.

        Host only. A str with a line break is PTX text, any other str a path. The parameters equal
        the parameters of `from_cubin`.

        Returns
        -------
        ObjectCode
        """
        if isinstance(module, str) and "\n" in module:
            module = utf8(module, "the PTX")
        return make_object_code(module, "ptx", name, symbol_mapping)

    @staticmethod
    def from_ltoir(module, *, name="", symbol_mapping=None):
        """Wrap LTO-IR for a linker.

        Host only. The parameters equal the parameters of `from_cubin`.
        """
        return make_object_code(module, "ltoir", name, symbol_mapping)

    @staticmethod
    def from_fatbin(module, *, name="", symbol_mapping=None):
        """Wrap a fat binary: code for several architectures.

        Host only. The parameters equal the parameters of `from_cubin`.
        """
        return make_object_code(module, "fatbin", name, symbol_mapping)

    @staticmethod
    def from_object(module, *, name="", symbol_mapping=None):
        """Wrap a host object with device code for a linker.

        Host only. The parameters equal the parameters of `from_cubin`.
        """
        return make_object_code(module, "object", name, symbol_mapping)

    @staticmethod
    def from_library(module, *, name="", symbol_mapping=None):
        """Wrap a host library with device code for a linker.

        Host only. The parameters equal the parameters of `from_cubin`.
        """
        return make_object_code(module, "library", name, symbol_mapping)

    @staticmethod
    def from_tile_ir(module, *, name="", symbol_mapping=None):
        """Wrap Tile IR, which a driver of CUDA 13.1 or newer compiles on loading.

        Host only. The parameters equal the parameters of `from_cubin`.
        """
        return make_object_code(module, "tile_ir", name, symbol_mapping)

    @property
    def code(self):
        """Image as bytes, or path as str. Host only."""
        return self.image

    @property
    def code_type(self):
        """Format of the code: ``"cubin"``, ``"ptx"``, ``"ltoir"``, ``"fatbin"``, ``"object"``,
        ``"library"`` or ``"tile_ir"``."""
        return self.format

    @property
    def name(self):
        """Name of the code, or an empty string. Host only."""
        return self.label

    @property
    def symbol_mapping(self):
        """Copy of the mapping from names to symbols. Host only."""
        return dict(self.mapping)

    @property
    def handle(self):
        """Library as `cuda.bindings.driver.CUlibrary`; reading it loads the code. Blocks the host.

        The caller may use the handle after this object is destroyed, or unload the library. The
        library therefore stays loaded until the caller unloads it, or until the process exits.
        """
        load(self)
        keep_loaded(self.native)
        return as_bindings("CUlibrary", self.native.raw())

    def get_kernel(self, name):
        """Return a kernel by name; the first call loads the code.

        Blocks the host while the code is loaded.

        Parameters
        ----------
        name : str or bytes
            A name in `symbol_mapping`, or else a symbol of the code.

        Returns
        -------
        Kernel
            A new object for each call; objects of the same kernel are equal.

        Raises
        ------
        RuntimeError
            If code of this format cannot be loaded.
        CUDAError
            If loading fails, or the code does not contain the kernel.

        See Also
        --------
        cuLibraryGetKernel : the driver function.
        """
        cdef bytes symbol = symbol_of(self, name)
        cdef native_text text = native_text(symbol, len(symbol))
        cdef kernel_handle native
        load(self)
        try:
            with nogil:
                native = find_kernel(self.native, text)
        except CUDAError as error:
            explain_missing_kernel(error, self, symbol)
            raise
        return wrap_kernel(native)

    def get_module(self):
        """Return the code as `cuda.bindings.driver.CUmodule` of the current context.

        Blocks the host while the code is loaded. The code stays loaded, as for `handle`. Older
        driver functions need a module.

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
        """Return a ``__device__``, ``__constant__`` or ``__managed__`` variable of the code.

        Blocks the host while the code is loaded.

        Parameters
        ----------
        name : str or bytes
            A name in `symbol_mapping`, or else a symbol of the code.

        Returns
        -------
        Buffer
            Memory of the variable in the current context. The Buffer keeps the code loaded, and
            closing it frees no memory.

        Raises
        ------
        CUDAError
            If the variable does not exist.

        See Also
        --------
        cuLibraryGetGlobal : the driver function.
        """
        cdef bytes symbol = symbol_of(self, name)
        cdef const char* text = symbol
        cdef global_variable variable
        load(self)
        with nogil:
            variable = find_global(self.native, text)
        return Buffer.from_handle(variable.address, variable.size, owner=self)

    def kernels(self):
        """Return the symbols of all kernels of the code as a list of str.

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
        cdef library_handle library = share_library(self), other_library = share_library(other)
        return library.is_open() and library.raw() == other_library.raw()

    # The hash must not change when the code is loaded, so it ignores the library's address. Two
    # objects never share a library, so equal objects are identical.
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
    """Recreate a pickled ObjectCode. Host only."""
    return make_object_code(image, code_type, name, symbol_mapping, declarations)


cdef ObjectCode make_object_code(object image, str code_type, object name, object symbol_mapping,
                                 bytes declarations=b""):
    cdef ObjectCode code = ObjectCode.__new__(ObjectCode)
    if code_type not in FORMATS:
        raise ValueError(f"code_type must be one of {', '.join(FORMATS)}, got {code_type!r}")
    if isinstance(image, (bytes, bytearray)):
        code.image = bytes(image)
    elif isinstance(image, (str, os.PathLike)):
        code.image = exact_str(os.fsdecode(image), "the path of the code")
        reject_nul(code.image, "the path of the code")
    elif PyObject_CheckBuffer(image):
        code.image = copy_of_buffer(image)
    else:
        raise TypeError(f"Expected type str or bytes or bytearray or os.PathLike for the code, got "
                        f"{qualified_name(image)}")
    code.label = exact_str(name, "name")
    reject_nul(code.label, "the name of the code")
    code.format = code_type
    code.mapping = {} if symbol_mapping is None else mapping_of(symbol_mapping)
    code.declarations = declarations
    code.loading = allocate_lock()
    return code


cdef dict mapping_of(object symbol_mapping):
    if not isinstance(symbol_mapping, Mapping):
        raise TypeError("symbol_mapping must be a dict from names in the source to names in the "
                        f"code, got {shown(symbol_mapping)}")
    return dict(symbol_mapping)


cdef bytes copy_of_buffer(object image):
    """Copy an image, so that later changes or a release of its memory have no effect."""
    cdef Py_buffer view
    try:
        PyObject_GetBuffer(image, &view, PyBUF_SIMPLE)
    except (BufferError, ValueError) as error:
        raise BufferError(f"the code must be contiguous memory of the host, and the "
                          f"{qualified_name(image)} object does not export such memory: {error}; "
                          "pass a copy, for example bytes(code)") from error
    try:
        return (<const char*>view.buf)[:view.len]
    finally:
        PyBuffer_Release(&view)


cdef int reject_nul(str text, str label) except -1:
    """Reject a NUL, at which C would truncate a path or a name."""
    if "\0" in text:
        raise ValueError(f"{label} has a NUL character at byte {text.index(chr(0))}")


cdef bytes declarations_of(bytes ptx):
    cdef native_text text = entry_declarations(native_view(ptx, len(ptx)))
    return text.data()[:text.size()]


cdef bytes known_declarations(ObjectCode self):
    """Return PTX that declares the kernels' parameters: the code, or its stored declarations."""
    if self.format != "ptx":
        return self.declarations
    if isinstance(self.image, bytes):
        return self.image
    try:
        with open(self.image, "rb") as file:
            return file.read()
    except OSError:  # the driver also reads the file and reports the error
        return b""


cdef bytes symbol_of(ObjectCode self, object name):
    """Return the symbol of a name, after a check that the format can be loaded."""
    check_loadable(self)
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"name must be str or bytes, got {qualified_name(name)}")
    symbol = self.mapping.get(name, name)
    if isinstance(symbol, str):
        symbol = utf8(symbol, "a name in object code")
    if not isinstance(symbol, bytes):
        raise TypeError(f"symbol_mapping[{name!r}] must be str or bytes, got "
                        f"{qualified_name(symbol)}")
    if b"\0" in symbol:  # C would truncate the name and find another symbol
        raise ValueError(f"a name in object code cannot contain a NUL, got {symbol!r}")
    return symbol


cdef int check_loadable(ObjectCode self) except -1:
    if self.format not in LOADABLE:
        raise RuntimeError(f'Unsupported code type "{self.format}": only {", ".join(LOADABLE)} can '
                           "be loaded; link the code first, with Linker(code).link('cubin'); "
                           "LTO-IR needs LinkerOptions(link_time_optimization=True)")


cdef int load(ObjectCode self) except -1:
    """Load the code once; other threads wait for the thread that loads it."""
    cdef load_report report
    cdef library_handle loaded
    cdef bytes content, declarations
    cdef const char* data
    cdef native_view declared
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
        declared = native_view(declarations, len(declarations))
        if is_path:
            with nogil:
                loaded = load_library_file(data, declared, report)
        else:
            check_headers(self)
            with nogil:
                loaded = load_library(data, is_ptx, declared, report)
        if not loaded.is_open():
            raise load_error(self, report)
        with cython.critical_section(self):
            self.native = loaded


cdef str damage_of(bytes image):
    cdef native_text problem = image_problem(native_view(image, len(image)))
    return f"the image is damaged: {text_of(problem)}" if problem.size() else ""


cdef int check_headers(ObjectCode self) except -1:
    """Raise the driver's error for a damaged image, which a driver would read beyond its end."""
    damage = damage_of(self.image)
    if damage:
        error = driver_error(CUDA_ERROR_INVALID_IMAGE, "cuLibraryLoadData")
        explain_tile_ir(error, self)
        extend_error(error, f"\n{damage}")
        raise error


cdef library_handle share_library(ObjectCode self) noexcept:
    """Return a shared handle, which is null before the code is loaded."""
    return share(self, self.native)


cdef object load_error(ObjectCode self, const load_report& report):
    """Return the driver's error with the compiler's log and the PTX line that it names."""
    if PyErr_Occurred() is not NULL:
        return None
    error = driver_error(report.code, report.function)
    if report.code == CUDA_ERROR_FILE_NOT_FOUND:
        explain_error(error, f"the file {self.image!r} cannot be read")
    elif isinstance(self.image, str):
        error.add_note(f"the code is the file {self.image!r}")
    explain_empty(error, self)
    explain_tile_ir(error, self)
    add_log(error, self, text_of(report.log).strip())
    return error


cdef bint explain_tile_ir(object error, ObjectCode self) except -1:
    """Add a note about Tile IR, which older drivers load as code without kernels."""
    if self.format != "tile_ir":
        return False
    error.add_note("Tile IR is compiled by drivers of CUDA 13.1 or newer; the emulator runs PTX "
                   "only")
    return True


cdef bint explain_empty(object error, ObjectCode self) except -1:
    """Add a note if the image is empty; some drivers load it, but find no kernels."""
    if not isinstance(self.image, bytes) or (<bytes>self.image).strip(b"\0"):
        return False
    error.add_note("the image contains no code; a program that is compiled with "
                   "link_time_optimization=True has LTO-IR only: compile it to 'ltoir'")
    return True


cdef int add_log(object error, ObjectCode self, str log) except -1:
    """Append the compiler's log and the PTX line that it names to an error's message."""
    if log:
        text = f"\nJIT error log:\n{log}"
        line = source_line(self, log)
        extend_error(error, text + (f"\n{line}" if line else ""))


cdef str source_line(ObjectCode self, str log):
    import re  # slow to import, and used for errors only

    match = re.search(r"\bline (\d+)", log)
    if match is None or self.format != "ptx" or not isinstance(self.image, bytes):
        return None
    lines = self.image.decode("utf-8", "backslashreplace").splitlines()
    number = int(match[1])
    return f"line {number}: {lines[number - 1].strip()}" if 0 < number <= len(lines) else None


COMPILE_ERRORS = ("CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                  "CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_IMAGE")


cdef int explain_missing_kernel(object error, ObjectCode self, bytes symbol) except -1:
    """Note the existing kernels, or the compiler's log: a driver may compile lazily."""
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
    except CUDAError:  # a driver before 12.4; the original error matters more
        names = []
        if self.format != "tile_ir":
            return 0
    if not names and explain_tile_ir(error, self):
        return 0
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    missing = symbol.decode("utf-8", "replace")
    error.add_note(f"the code has no kernel {missing!r}; its kernels: {shown or 'none'}")
    if "<" in missing or "::" in missing:
        error.add_note(f"to find C++ names, compile with name_expressions=({missing!r},)")
