// SPDX-License-Identifier: Apache-2.0
// Numbers in strided memory: sizes, formats, reading and writing many at once.
#include <cstring>
#include <utility>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {
namespace {

// Addresses are numbers as well.
kind stored(kind element) { return element == kind::address ? kind::u64 : element; }

// A sequence whose elements go to the elements of a dimension; everything else is one number.
bool is_many(PyObject* value) {
  return !PyLong_Check(value) && !PyFloat_Check(value) && !PyUnicode_Check(value) &&
         PySequence_Check(value);
}

int assign(kind element, const extent& e, char* where, PyObject* value);

int assign_one_by_one(kind element, const extent& e, char* where, PyObject* items) {
  if (PyTuple_GET_SIZE(items) != e.shape[0]) {
    PyErr_Format(PyExc_ValueError, "expected %zd elements, got %zd", e.shape[0],
                 PyTuple_GET_SIZE(items));
    return -1;
  }
  extent inner = e.inner();
  for (Py_ssize_t i = 0; i < e.shape[0]; ++i)
    if (assign(element, inner, where + i * e.stride[0], PyTuple_GET_ITEM(items, i)) < 0) return -1;
  return 0;
}

int assign_everywhere(kind element, const extent& e, char* where, PyObject* value) {
  return for_each_element(e, where,
                          [&](char* at) { return write_number(stored(element), at, value) == 0; })
             ? 0
             : -1;
}

int assign(kind element, const extent& e, char* where, PyObject* value) {
  if (!e.ndim) return write_number(stored(element), where, value);
  if (!is_many(value)) return assign_everywhere(element, e, where, value);
  const reference items{PySequence_Tuple(value)};
  if (!items) return -1;
  return assign_one_by_one(element, e, where, items);
}

}  // namespace

const char* number_format(kind element) {
  static constexpr const char* formats[] = {"b", "B", "h", "H", "i", "I", "q", "Q", "f", "d"};
  if (element == kind::address) return "P";
  return formats[int(element)];
}

// All or nothing: many values are converted first, so that one which is refused leaves all numbers
// as they were, and those that are moved within their array are read before any is written.
int assign_numbers(kind element, const extent& e, char* where, PyObject* value) {
  if (!is_many(value)) return assign(element, e, where, value);
  Py_ssize_t size = number_size(element);
  scratch memory;
  auto* converted = static_cast<char*>(memory.allocate(std::size_t(e.elements() * size)));
  if (!converted || assign(element, e.packed(size), converted, value) < 0) return -1;
  for_each_element(e, where, [&](char* at) {
    std::memcpy(at, std::exchange(converted, converted + size), std::size_t(size));
    return true;
  });
  return 0;
}

PyObject* list_of_numbers(kind element, const extent& e, char* where) {
  if (!e.ndim) return read_number(stored(element), where);
  PyObject* list = PyList_New(e.shape[0]);
  extent inner = e.inner();
  for (Py_ssize_t i = 0; list && i < e.shape[0]; ++i) {
    PyObject* item = list_of_numbers(element, inner, where + i * e.stride[0]);
    if (item) {
      PyList_SET_ITEM(list, i, item);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

}  // namespace halfwarp::bindings
