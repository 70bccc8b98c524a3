# SPDX-License-Identifier: Apache-2.0
# DeviceProperties: the attributes of one device.

cdef extern from "core/device_attributes.hpp" namespace "halfwarp::core" nogil:
    enum value_kind "halfwarp::core::device_attribute::value_kind":
        attribute_is_boolean "halfwarp::core::device_attribute::boolean"
    enum caching "halfwarp::core::device_attribute::caching":
        attribute_is_cached "halfwarp::core::device_attribute::cached"
    struct attribute_record "halfwarp::core::device_attribute":
        const char* name
        CUdevice_attribute id
        value_kind kind
        caching cache
        int fallback
    enum:
        device_attribute_count "halfwarp::core::device_attribute_count"
    const attribute_record* device_attributes "halfwarp::core::device_attributes().data"() noexcept

cdef class DeviceProperties:
    cdef int ordinal
    cdef int[device_attribute_count] values
    cdef bint[device_attribute_count] is_known

# Creates the properties of a device.
cdef DeviceProperties make_properties(int ordinal)
