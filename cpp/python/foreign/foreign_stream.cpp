// SPDX-License-Identifier: Apache-2.0
// Streams that a Python object owns.
#include "python/foreign/foreign_stream.hpp"

#include "python/errors.hpp"
#include "python/lock/gil.hpp"

namespace halfwarp::python {
namespace {

// May run on any thread, even after the interpreter's end, which destroyed the object.
void release_object(void* object) {
  if (is_finalizing()) return;
  const gil_acquire lock;
  run_python([=] { Py_DECREF(static_cast<PyObject*>(object)); });
}

}  // namespace

core::stream_handle stream_owned_by(CUstream raw, PyObject* owner) {
  if (owner == Py_None) return core::stream_of(raw);
  return core::stream_of(raw, core::keep_alive{Py_NewRef(owner), release_object});
}

}  // namespace halfwarp::python
