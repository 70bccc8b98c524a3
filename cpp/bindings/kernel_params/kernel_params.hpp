// SPDX-License-Identifier: Apache-2.0
// `kernelParams`: NULL, an address, a buffer of addresses, or `(values, types)` packed here.
#pragma once

#include "bindings/memory/memory.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Packs into the call's scratch memory; `out` becomes the `void**`.
bool kernel_params_argument(PyObject* object, scratch& memory, word& out);

// Packs for a struct field: `block` becomes an object that keeps alive what `out` points to
// (nullptr when nothing needs to be kept).
bool kernel_params_block(PyObject* object, word& out, PyObject*& block);

// ctypes.c_void_p, once a kernel parameter has needed a type.
extern PyObject* pointer_ctype;

bool pack_slow(PyObject* value, PyObject* type, word& cell, void*& pointer);

// Converts `value` as `type` says into `cell`, or makes `pointer` point elsewhere: at the memory of
// the value itself. False with an error set. Most parameters are addresses.
inline bool pack_value(PyObject* value, PyObject* type, word& cell, void*& pointer) {
  if (type == __atomic_load_n(&pointer_ctype, __ATOMIC_RELAXED) && PyLong_Check(value) &&
      two_digit_value(value, cell)) [[likely]]
    return true;
  return pack_slow(value, type, cell, pointer);
}

}  // namespace halfwarp::bindings
