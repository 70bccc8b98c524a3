// SPDX-License-Identifier: Apache-2.0
// Shape and strides of elements in memory, as in the buffer protocol.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

struct extent {
  static constexpr int most = 5;

  int ndim = 0;
  Py_ssize_t shape[most] = {};
  Py_ssize_t stride[most] = {};  // in bytes

  // Returns a one-dimensional extent of `n` elements.
  static extent line(Py_ssize_t n, Py_ssize_t stride) {
    extent e;
    e.append(n, stride);
    return e;
  }

  // Adds an innermost dimension. Returns false if there are five already.
  bool append(Py_ssize_t n, Py_ssize_t step) {
    if (ndim == most) return false;
    shape[ndim] = n;
    stride[ndim++] = step;
    return true;
  }

  // Returns the extent without its outermost dimension.
  extent inner() const {
    extent e;
    for (int i = 1; i < ndim; ++i) e.append(shape[i], stride[i]);
    return e;
  }

  // Returns the same shape with contiguous strides for elements of `size` bytes.
  extent packed(Py_ssize_t size) const {
    extent e = *this;
    for (int i = ndim - 1; i >= 0; --i) {
      e.stride[i] = size;
      size *= shape[i];
    }
    return e;
  }

  Py_ssize_t elements() const {
    Py_ssize_t n = 1;
    for (int i = 0; i < ndim; ++i) n *= shape[i];
    return n;
  }

  // Whether elements of `size` bytes are contiguous.
  bool is_contiguous(Py_ssize_t size) const {
    for (int i = ndim - 1; i >= 0; --i) {
      if (shape[i] != 1 && stride[i] != size) return false;
      size *= shape[i];
    }
    return true;
  }
};

// Result of an index or a slice of the outermost dimension. An index removes the dimension.
struct selection {
  char* data = nullptr;
  extent e;
  bool is_element = false;
};

// Applies `key` to the outermost dimension. Returns false with an error set if the key is no index
// or is out of bounds.
bool select(const extent& e, char* data, PyObject* key, selection& out);

// Implements `sq_item` with a function that accepts any key.
template <binaryfunc get_item>
PyObject* item_at(PyObject* self, Py_ssize_t index) {
  PyObject* key = PyLong_FromSsize_t(index);
  PyObject* item = key ? get_item(self, key) : nullptr;
  Py_XDECREF(key);
  return item;
}

// Calls `visit(char*)` for the address of each element, the last dimension fastest, until it
// returns false.
template <class V>
bool for_each_element(const extent& e, char* data, V visit) {
  if (!e.ndim) return visit(data);
  extent inner = e.inner();
  for (Py_ssize_t i = 0; i < e.shape[0]; ++i)
    if (!for_each_element(inner, data + i * e.stride[0], visit)) return false;
  return true;
}

}  // namespace halfwarp::bindings
