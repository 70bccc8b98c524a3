# SPDX-License-Identifier: Apache-2.0
# Conversion of handles and addresses.

# Returns `cuda.bindings.driver.<class_name>(raw)`; None during interpreter finalization.
cdef object as_bindings(str class_name, const void* raw)

# Returns a class of a module, or None if the module is not loaded: then no instance exists.
cdef object loaded_class(str module, str name)
# Returns the class of `cuda.bindings` that an object is an instance of, one of the named ones, such
# as "driver.CUkernel"; else None. No class is recognized by its name: the module must define it.
cdef object bindings_class_of(object value, tuple class_names)

# Returns the address for an int or an object with __index__ or __int__; rejects float.
cdef uintptr_t address_from(object value) except? 0
