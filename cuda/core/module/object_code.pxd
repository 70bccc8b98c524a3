# SPDX-License-Identifier: Apache-2.0
# ObjectCode: compiled code, loaded when it is first needed.

cdef class ObjectCode:
    cdef library_handle native  # null until loaded
    cdef object image           # bytes, or the path as str
    cdef str format             # "cubin", "ptx", ...
    cdef str label
    cdef dict mapping
    cdef bytes declarations     # PTX that tells the parameters of the kernels, or empty
    cdef object loading         # a lock: one thread loads
    cdef object __weakref__

# `image` is bytes or a path as str; nothing is loaded. `declarations`: see declarations_of().
cdef ObjectCode make_object_code(object image, str code_type, str name, object symbol_mapping,
                                 bytes declarations=*)

# What to keep of the PTX that an image was made from, so that launches know what each parameter is.
cdef bytes declarations_of(bytes ptx)

# PTX that tells the parameters of the kernels: the code itself, or what was kept of it.
cdef bytes known_declarations(ObjectCode self)
