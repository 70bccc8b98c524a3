// SPDX-License-Identifier: Apache-2.0
// Applies indices and slices to strided memory.
#include "bindings/arrays/extent.hpp"

#include "bindings/errors/errors.hpp"

namespace halfwarp::bindings {
namespace {

bool select_element(const extent& e, char* data, PyObject* key, selection& out) {
  Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) return false;
  Py_ssize_t position = index < 0 ? index + e.shape[0] : index;
  if (position < 0 || position >= e.shape[0])
    return raise_error(PyExc_IndexError, "index %zd is out of bounds for %zd elements", index,
                       e.shape[0]);
  out = {data + position * e.stride[0], e.inner(), true};
  return true;
}

bool select_slice(const extent& e, char* data, PyObject* key, selection& out) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) return false;
  Py_ssize_t n = PySlice_AdjustIndices(e.shape[0], &start, &stop, step);
  out = {data + (n ? start * e.stride[0] : 0), e, false};
  out.e.shape[0] = n;
  if (n > 1) out.e.stride[0] *= step;  // with one element left, any step is valid
  return true;
}

}  // namespace

bool select(const extent& e, char* data, PyObject* key, selection& out) {
  if (!e.ndim) return raise_expected("an object with elements; this one has none to index", key);
  if (PySlice_Check(key)) return select_slice(e, data, key, out);
  if (PyIndex_Check(key)) return select_element(e, data, key, out);
  return raise_expected("an integer or a slice", key);
}

}  // namespace halfwarp::bindings
