# SPDX-License-Identifier: Apache-2.0
# The attributes of launches, kernel nodes and streams.

# Writes one kind of value as the driver takes it, and reads it back.
cdef class _Kind:
    cdef object fill(self, str what, object value, CUlaunchAttributeValue* out)
    cdef object read(self, const CUlaunchAttributeValue* value)
    cdef bint is_unset(self, const CUlaunchAttributeValue* value) noexcept
    cdef int reset(self, CUlaunchAttributeValue* value) except -1

cdef class _FurtherAttributes:
    cdef further_attributes fields  # what C++ reads
    cdef dict values                # name: value as users read it, in the order of the table

# name: (number, kind, CUDA version of the first driver that knows it, whose, what it is)
cdef dict LAUNCH_ATTRIBUTES

cdef _Kind attribute_kind(str name)

# The row of an attribute that launches (1), nodes (2) or streams (4) have; TypeError for others.
cdef object row_for(str name, int owner, str owners)

# What the driver says of a node (2) or a stream (4), by name; of a part, what somebody asked for.
cdef dict read_attributes(int owner, void* raw, bint is_whole)

cdef int set_attributes_of_stream(Stream self, dict given) except -1

# RuntimeError when a driver of CUDA version `there` does not know the attribute.
cdef int raise_if_too_old(str what, str name, int there) except -1
