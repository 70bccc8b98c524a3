// SPDX-License-Identifier: Apache-2.0
// Functions that return a struct by value. They have no code: an error is a Python one.
#include "bindings/calls/engine.hpp"
#include "bindings/handwritten/handwritten.hpp"

namespace halfwarp::bindings {
namespace {

bool check_for_error(frame&, int) { return !PyErr_Occurred(); }

PyObject* enter_bare(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                     PyObject* names) {
  PyObject* pair = call_by_record(lib, f, args, n, names);
  PyObject* object = pair ? Py_NewRef(PyTuple_GET_ITEM(pair, 1)) : nullptr;
  Py_XDECREF(pair);
  return object;
}

}  // namespace

namespace bodies {
const body returned_struct = {.after = check_for_error};
const body bare_struct = {.after = check_for_error, .entry = enter_bare};
}  // namespace bodies

}  // namespace halfwarp::bindings
