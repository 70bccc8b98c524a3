# SPDX-License-Identifier: Apache-2.0
# Compilation through a program cache: the conversion between ObjectCode and cache entries.


cdef dict cache_functions = {}


cdef object cache_function(str module, str name):
    """Return a function of a module in `cuda.core.compile.cache`, imported on first use."""
    function = cache_functions.get(name)
    if function is None:
        function = getattr(import_module(f"cuda.core.compile.cache.{module}"), name)
        cache_functions[name] = function
    return function


cdef object compile_through(Program self, object cache, str target, object name_expressions,
                            object logs):
    """Return the cached object code, or compile it and store it in the cache."""
    cdef Compiler compiler = compiler_of(self)
    cdef int version
    names = expressions_of(compiler, name_expressions)
    key = key_of_program(self, compiler, target, names)
    version = cached_nvrtc_version
    # The program's lock is not held: a cache may be slow and may be user code.
    cached = load_from_cache(compiler, cache, key, target, names)
    notify_log("note_cache", (cache, key, cached is not None))
    if cached is not None:
        compiler.warn_of(target)
        return cached
    code = compile_now(self, target, names, logs)
    if version != cached_nvrtc_version:  # the compilation opened another NVRTC than expected
        key = key_of_program(self, compiler, target, names)
    store_in_cache(cache, key, code)
    return code


cdef bytes key_of_program(Program self, Compiler compiler, str target, tuple names):
    cdef bytes key
    cdef tuple fields = None
    options = compiler.options_in_use()
    if not names and type(compiler) is NvrtcCompiler:
        key = kept_key(self, options, target)
        if key is not None:
            return key
        fields = plain_fields(options)
    key = cache_function("keys", "make_program_cache_key")(
        code=self.source, code_type=self.code_type, options=options,
        target_type=target, name_expressions=names)
    # Another thread may have changed the options since, and the key may have the earlier ones.
    if fields is not None and has_fields(PyObject_GenericGetDict(options, NULL), fields):
        with cython.critical_section(self):
            self.kept_key = (type(options), cached_nvrtc_version, target, fields, key)
    return key


cdef bytes kept_key(Program self, object options, str target):
    """Return the key of the program's last lookup if its inputs are the same, or None."""
    cdef tuple entry
    with cython.critical_section(self):
        entry = self.kept_key
    if entry is None or entry[0] is not type(options) or entry[1] != cached_nvrtc_version or \
            not cached_nvrtc_version or entry[2] != target:
        return None
    return entry[4] if has_fields(PyObject_GenericGetDict(options, NULL), entry[3]) else None


cdef tuple plain_fields(object options):
    """Return names and values of options that determine a key together with the target, or None.

    A mutable value can change in place, and bundled headers are in a folder of the environment.
    """
    if type(options) is not public_object("ProgramOptions") or options.use_bundled_headers:
        return None
    cdef dict values = options.__dict__.copy()
    cdef list fields = []
    for name, value in values.items():
        if value is not None and type(value) not in (str, bool, int):
            return None
        fields += (name, value)
    return tuple(fields)


cdef bint has_fields(dict fields, tuple expected) except -1:
    """Return whether fields have exactly these names and values, one after the other."""
    cdef PyObject* name
    cdef PyObject* value
    cdef Py_ssize_t at = 0, i = 0
    with cython.critical_section(fields):
        while PyDict_Next(fields, &at, &name, &value):
            if i == len(expected) or name is not <PyObject*>expected[i] or \
                    value is not <PyObject*>expected[i + 1]:
                return False
            i += 2
    return i == len(expected)


cdef tuple expressions_of(Compiler compiler, object value):
    """Return the name expressions; compilers of PTX and NVVM IR ignore them."""
    return as_expressions(value) if compiler.accepts_names else ()


cdef ObjectCode load_from_cache(Compiler compiler, object cache, bytes key, str target,
                                tuple names):
    """Return the object code of a key, or None if a part of it is missing."""
    entry = program_method(cache, "_load_program")(cache, key, bool(names))
    if entry is None:
        return None
    image, mapping, declarations = entry
    if isinstance(image, ObjectCode):
        mapping, declarations = (<ObjectCode>image).mapping, (<ObjectCode>image).declarations
        image = (<ObjectCode>image).image
    elif isinstance(image, memoryview):
        image = bytes(image)
    if (mapping or names) and (mapping or {}).keys() != set(names):
        return None
    if isinstance(image, (bytes, bytearray)) and is_blank(image):
        return None
    return make_object_code(image, target, compiler.name, mapping, declarations or b"")


cdef bint is_blank(object image) except -1:
    """Return whether all bytes are zero, as in a file that was enlarged but never written."""
    return not image or (image[0] == 0 and not image.strip(b"\0"))


cdef object program_method(object cache, str name):
    """Return a method of the cache; use the base class for a registered virtual subclass."""
    method = getattr(type(cache), name, None)
    return method or getattr(cache_function("resource", "ProgramCacheResource"), name)


cdef int store_in_cache(object cache, bytes key, ObjectCode code) except -1:
    program_method(cache, "_store_program")(cache, key, code, dict(code.mapping),
                                            code.declarations)
