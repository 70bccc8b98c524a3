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
    names = expressions_of(compiler, name_expressions)
    key = cache_function("keys", "make_program_cache_key")(
        code=self.source, code_type=self.code_type, options=compiler.options_in_use(),
        target_type=target, name_expressions=names)
    # The program's lock is not held: a cache may be slow and may be user code.
    cached = load_from_cache(compiler, cache, key, target, names)
    notify_log("note_cache", (cache, key, cached is not None))
    if cached is not None:
        compiler.warn_of(target)
        return cached
    code = compile_now(self, target, names, logs)
    store_in_cache(cache, key, code, bool(names))
    return code


cdef tuple expressions_of(Compiler compiler, object value):
    """Return the name expressions; compilers of PTX and NVVM IR ignore them."""
    return as_expressions(value) if compiler.accepts_names else ()


cdef ObjectCode load_from_cache(Compiler compiler, object cache, bytes key, str target,
                                tuple names):
    """Return the object code of a key; None if the image or its side file is missing."""
    image = cache.get(key)
    if image is None:
        return None
    if isinstance(image, ObjectCode):
        image = (<ObjectCode>image).image
    if isinstance(image, (bytearray, memoryview)):
        image = bytes(image)
    if not isinstance(image, bytes):  # a path
        return None if names else make_object_code(image, target, compiler.name, {})
    side_file = side_file_hook(cache, "_side_file")(cache, key, image, bool(names))
    if side_file is None or (<dict>side_file[0]).keys() != set(names):
        return None
    return make_object_code(image, target, compiler.name, side_file[0], side_file[1])


cdef object side_file_hook(object cache, str name):
    """Return a method of the cache; use the base class for a registered virtual subclass."""
    method = getattr(type(cache), name, None)
    return method or getattr(cache_function("resource", "ProgramCacheResource"), name)


cdef int store_in_cache(object cache, bytes key, ObjectCode code, bint has_names) except -1:
    """Store the side file, then the image, so a reader of the image finds both."""
    content = cache_function("side_file", "pack")(code.image, code.mapping, code.declarations)
    side_file_hook(cache, "_store_side_file")(cache, key, content, has_names)
    cache[key] = code
    return 0
