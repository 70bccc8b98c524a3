// SPDX-License-Identifier: Apache-2.0
// Addresses and texts: the general case.
#include "bindings/arguments/memory.hpp"

#include <cstring>

namespace halfwarp::bindings {

bool no_such_buffer() {
  bool is_refusal = PyErr_ExceptionMatches(PyExc_TypeError) ||
                    PyErr_ExceptionMatches(PyExc_BufferError) ||
                    PyErr_ExceptionMatches(PyExc_ValueError);
  if (is_refusal) PyErr_Clear();
  return is_refusal;
}

bool address_slow(PyObject* object, scratch& memory, word& out) {
  if (object == Py_None) {
    out = 0;
    return true;
  }
  PyNumberMethods* number = Py_TYPE(object)->tp_as_number;
  bool is_number = number && (number->nb_index || (number->nb_int && !number->nb_float));
  // an array of one element has both: as data it means its memory, as an address it would be an
  // accident
  if (PyLong_Check(object) || (is_number && !PyObject_CheckBuffer(object)))
    return integer_slow(object, kind::u64, out);
  if (is_number && integer_slow(object, kind::u64, out)) return true;
  PyErr_Clear();
  if (const Py_buffer* view = memory.view(object)) {
    out = reinterpret_cast<word>(view->buf);
    return true;
  }
  if (!no_such_buffer()) return false;
  return raise_expected("an address, a contiguous buffer or None", object);
}

bool text_slow(PyObject* object, scratch& memory, word& out) {
  if (!PyByteArray_Check(object)) return raise_expected("bytes", object);
  const Py_buffer* view = memory.view(object);  // nobody can resize it while it is exported
  if (!view) return false;
  out = reinterpret_cast<word>(PyByteArray_AS_STRING(object));
  return true;
}

bool text_output_argument(PyObject* object, scratch& memory, word& out, word& size) {
  if (PyBytes_Check(object)) {
    size = word(PyBytes_GET_SIZE(object));
    // Python shares all bytes of length 0 and 1: writing there would change them everywhere
    void* shared = size <= 1 ? memory.allocate_zeroed(16) : PyBytes_AS_STRING(object);
    out = reinterpret_cast<word>(shared);
    return shared != nullptr;
  }
  if (const Py_buffer* view = memory.view(object, true)) {
    out = reinterpret_cast<word>(view->buf);
    size = word(view->len);
    return true;
  }
  if (!no_such_buffer()) return false;
  return raise_expected("bytes or a writable buffer", object);
}

bool raw_pointer_argument(PyObject* object, word& out) {
  if (!PyLong_Check(object)) return raise_expected("an integer (0 for none)", object);
  return integer_slow(object, kind::u64, out);
}

bool colour_argument(PyObject* object, scratch& memory, word& out) {
  auto* channels = static_cast<float*>(memory.allocate_zeroed(4 * sizeof(float)));
  if (!channels) return false;
  out = reinterpret_cast<word>(channels);
  bool is_sequence = PyList_Check(object) || PyTuple_Check(object);
  Py_ssize_t n = is_sequence ? PySequence_Fast_GET_SIZE(object) : 1;
  if (n > 4) {
    PyErr_Format(PyExc_ValueError, "expected at most 4 channels, got %zd", n);
    return false;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    word value;
    PyObject* item = is_sequence ? PySequence_Fast_GET_ITEM(object, i) : object;
    if (!float_argument(item, kind::f32, value)) return false;
    std::memcpy(&channels[i], &value, sizeof(float));
  }
  return true;
}

}  // namespace halfwarp::bindings
