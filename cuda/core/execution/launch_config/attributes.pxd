# SPDX-License-Identifier: Apache-2.0
# The attributes of launches, kernel nodes and streams.

# Converts one type of attribute value to and from the driver's union.
cdef class _Kind:
    cdef object fill(self, str name, object value, CUlaunchAttributeValue* out)
    cdef object read(self, const CUlaunchAttributeValue* value)
    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept
    cdef int reset(self, CUlaunchAttributeValue* value) except -1

cdef class _FurtherAttributes:
    cdef further_attributes fields  # read by C++
    cdef dict values                # name: normalized value, in the order of the table

# name: (id, kind, CUDA version of the first driver that supports it, owners, description)
cdef dict LAUNCH_ATTRIBUTES


# Returns the row of an attribute of launches (1), nodes (2) or streams (4), or raises TypeError.
cdef object row_for(str name, int owner, str owners)

# Queries the attributes of a node (2) or a stream (4), by name: all, or those with a set value.
cdef dict read_attributes(int owner, void* raw, bint is_whole)

cdef int set_attributes_of_stream(Stream self, dict values) except -1

# Raises RuntimeError if a driver of CUDA version `driver_version` lacks the attribute.
cdef int require_driver_support(str name, str name, int driver_version) except -1
