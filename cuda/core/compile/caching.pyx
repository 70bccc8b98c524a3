# SPDX-License-Identifier: Apache-2.0
# Compiling through a program cache: what is kept of a result, and how it is made of that again.


cdef dict cache_functions = {}


cdef object cache_function(str module, str name):
    """A name of the modules below `cuda.core.compile.cache`, loaded when one is first used."""
    found = cache_functions.get(name)
    if found is None:
        found = getattr(import_module(f"cuda.core.compile.cache.{module}"), name)
        cache_functions[name] = found
    return found


cdef object compile_through(Program self, object cache, str target, object name_expressions,
                            object logs):
    """What the cache has, or what is compiled now and stored there."""
    cdef Compiler compiler = compiler_of(self)
    names = expressions_of(compiler, name_expressions)
    key = cache_function("keys", "make_program_cache_key")(
        code=self.source, code_type=self.code_type, options=compiler.options_in_use(),
        target_type=target, name_expressions=names)
    # Not under the lock: a cache may be slow, and may be anybody's code.
    found = recall(compiler, cache, key, target, names)
    notify_log("note_cache", (cache, key, found is not None))
    if found is not None:
        compiler.warn_of(target)
        return found
    made = compile_now(self, target, names, logs)
    keep(cache, key, made, bool(names))
    return made


cdef tuple expressions_of(Compiler compiler, object given):
    """The name expressions that matter: PTX and NVVM IR have their names."""
    return as_expressions(given) if compiler.takes_names else ()


cdef ObjectCode recall(Compiler compiler, object cache, bytes key, str target, tuple names):
    """The object code of a key; None where there is none, or not all of it."""
    image = cache.get(key)
    if image is None:
        return None
    if isinstance(image, ObjectCode):
        image = (<ObjectCode>image).image
    if isinstance(image, (bytearray, memoryview)):
        image = bytes(image)
    if not isinstance(image, bytes):  # a path
        return None if names else make_object_code(image, target, compiler.name, {})
    known = side_file_hook(cache, "_side_file")(cache, key, image, bool(names))
    if known is None or (<dict>known[0]).keys() != set(names):
        return None
    return make_object_code(image, target, compiler.name, known[0], known[1])


cdef object side_file_hook(object cache, str name):
    """A method of the cache, or of its base class: a class may be registered as a cache only."""
    found = getattr(type(cache), name, None)
    return found or getattr(cache_function("resource", "ProgramCacheResource"), name)


cdef int keep(object cache, bytes key, ObjectCode made, bint has_names) except -1:
    """Store an image, after what goes with it: whoever finds the image finds that too."""
    content = cache_function("side_file", "pack")(made.image, made.mapping, made.declarations)
    side_file_hook(cache, "_keep_side_file")(cache, key, content, has_names)
    cache[key] = made
    return 0
