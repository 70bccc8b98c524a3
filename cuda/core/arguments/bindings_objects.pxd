# SPDX-License-Identifier: Apache-2.0
# Handles as the low layer's Python objects.

# `cuda.bindings.driver.<class_name>(raw)`; None while the interpreter goes down.
cdef object as_bindings(str class_name, const void* raw)

# The address that an object stands for: an int, or anything with __index__ or __int__ but a float.
cdef uintptr_t address_from(object given) except? 0

# The size in bytes that an object stands for.
cdef size_t size_from(object given, str what) except? 0
