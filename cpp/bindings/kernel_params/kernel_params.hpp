// SPDX-License-Identifier: Apache-2.0
// Converts `kernelParams`: NULL, an address, a buffer of addresses, or `(values, types)`.
#pragma once

#include "bindings/memory/memory.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Packs into the call's scratch memory; `out` becomes the `void**`.
bool kernel_params_argument(PyObject* object, scratch& memory, word& out);

// Packs for a struct field. `block` receives the owner of the memory at `out`, nullptr if there is
// none.
bool kernel_params_block(PyObject* object, word& out, PyObject*& block);

// Holds ctypes.c_void_p after the first kernel parameter with a type.
extern PyObject* pointer_ctype;

bool pack_slow(PyObject* value, PyObject* type, word& cell, void*& pointer);

// Converts `value` by `type` into `cell`, or sets `pointer` to the memory of the value itself.
// Returns false with an error set. Most parameters are addresses.
inline bool pack_value(PyObject* value, PyObject* type, word& cell, void*& pointer) {
  if (type == __atomic_load_n(&pointer_ctype, __ATOMIC_RELAXED) && PyLong_Check(value) &&
      two_digit_value(value, cell)) [[likely]]
    return true;
  return pack_slow(value, type, cell, pointer);
}

}  // namespace halfwarp::bindings
