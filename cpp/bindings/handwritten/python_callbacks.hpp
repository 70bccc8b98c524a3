// SPDX-License-Identifier: Apache-2.0
// Python callables and ctypes functions as callbacks of streams.
#pragma once

#include "bindings/records/records.hpp"
#include "driver/driver_table.hpp"
#include "driver/runtime_table.hpp"

namespace halfwarp::bindings {

// Objects that a callback retains, and the types of the arguments for a Python callable.
struct callback_owner {
  PyObject* callable;
  PyObject* argument;  // null: `callable` is a ctypes function, called at its address
  const library* lib;
  int stream_type;
};

// The owner for the record of the call in progress on this thread, borrowed; null for an address.
extern thread_local const callback_owner* current_callback_owner;

// Makes a call whose second argument is a callback: an address, a ctypes function or a callable.
PyObject* call_with_callable(const library& lib, const function& f, PyObject* const* args,
                             Py_ssize_t n, PyObject* names);

// Call the Python callable, and report its exception as unraisable. Need the GIL.
void call_python(const callback_owner& owner, void* data);
void call_python(const callback_owner& owner, CUstream stream, CUresult status, void* data);
void call_python(const callback_owner& owner, CUstream stream, cudaError_t status, void* data);

}  // namespace halfwarp::bindings
