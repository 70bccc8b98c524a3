// SPDX-License-Identifier: Apache-2.0
// One kernel parameter from a Python value and a ctypes type.
#pragma once

#include "bindings/records.hpp"

namespace halfwarp::bindings {

// Converts `value` as `type` says into the 8 bytes at `cell`, or makes `pointer` point elsewhere:
// at the memory of the value itself. False with an error set.
bool pack_value(PyObject* value, PyObject* type, void* cell, void*& pointer);

}  // namespace halfwarp::bindings
