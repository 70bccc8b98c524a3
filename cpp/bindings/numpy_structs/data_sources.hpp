// SPDX-License-Identifier: Apache-2.0
// Objects of data types from what exists already: an address, a buffer, a NumPy array.
#pragma once

#include "bindings/numpy_structs/data_object.hpp"

namespace halfwarp::bindings {

// Adds from_ptr, from_buffer and from_data to the methods of a class: `methods` has room for
// `source_method_count` entries, and stays as long as the class.
inline constexpr int source_method_count = 3;
void add_source_methods(const data_record& record, PyMethodDef* methods);

}  // namespace halfwarp::bindings
