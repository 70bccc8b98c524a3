# SPDX-License-Identifier: Apache-2.0
# ObjectCode: compiled code, loaded on first use.

cdef class ObjectCode:
    cdef library_handle native  # null before the code is loaded
    cdef object image           # bytes, or the path as str
    cdef str format             # "cubin", "ptx", ...
    cdef str label
    cdef dict mapping
    cdef bytes declarations     # PTX that declares the kernels' parameters, or empty
    cdef object loading         # lock of the thread that loads
    cdef object __weakref__

# Creates an ObjectCode without loading it. `image` is bytes or a path; `declarations` is a result
# of declarations_of().
cdef ObjectCode make_object_code(object image, str code_type, object name, object symbol_mapping,
                                 bytes declarations=*)

# Returns the declarations of PTX, with which launches check the parameters of its image.
cdef bytes declarations_of(bytes ptx)

# Raises ValueError for a path or a name with a NUL.
cdef int reject_nul(str text, str label) except -1

# Returns why the headers of an image are damaged, or an empty str.
cdef str damage_of(bytes image)

# Returns PTX that declares the kernels' parameters: the code, or its stored declarations.
cdef bytes known_declarations(ObjectCode self)
