// SPDX-License-Identifier: Apache-2.0
// `kernelParams`: NULL, an address, a buffer of addresses, or `(values, types)` packed here.
#pragma once

#include "bindings/memory/scratch.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Packs into the call's scratch memory; `out` becomes the `void**`.
bool kernel_params_argument(PyObject* object, scratch& memory, word& out);

// Packs for a struct field: `block` becomes an object that keeps alive what `out` points to
// (nullptr when nothing needs to be kept).
bool kernel_params_block(PyObject* object, word& out, PyObject*& block);

}  // namespace halfwarp::bindings
