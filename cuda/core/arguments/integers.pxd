# SPDX-License-Identifier: Apache-2.0
# Conversion of integer options: one rule, one text.

from libc.stdint cimport int64_t, uint64_t

# Returns a plain int for an int or an object with __index__, else raises TypeError. `name` names
# the call and the option.
cdef object as_int(str name, object value)

# Returns a plain int; None for what is no integer, such as an array with several elements.
cdef object integer_or_none(object value)

# Returns an int from `minimum` to `maximum`, else raises OverflowError. A whole float gives a
# DeprecationWarning, as it does for sizes.
cdef int64_t int_option(str name, object value, int64_t minimum=*, int64_t maximum=*) except? -1

# Returns an int from 0 to 2**64 - 1, such as an address, else raises OverflowError or TypeError.
cdef uint64_t address_option(str name, str owner, object value) except? 1

# Returns a value for an error message: its repr, in one short line.
cdef str shown(object value)

# Returns the size in bytes for an object; `description` names it in messages.
cdef size_t size_from(object value, str description) except? 0
