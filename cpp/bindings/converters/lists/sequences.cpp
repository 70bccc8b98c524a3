// SPDX-License-Identifier: Apache-2.0
// Arguments of further faces: sequences of numbers and texts, buffers of items and of bytes; arrays
// of the library as NumPy's.
#include "bindings/converters/conversions.hpp"

#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/numpy_structs/data_object.hpp"

namespace halfwarp::bindings {
namespace {

bool is_text(PyObject* object) {
  return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

// A tuple of what a sequence holds, kept until the call ends; nullptr with an error set. Converting
// an element may run code of the user that changes the sequence.
PyObject* kept_tuple(frame& c, PyObject* object, const char* expected) {
  if (is_text(object) || !PySequence_Check(object)) {
    raise_expected(expected, object);
    return nullptr;
  }
  PyObject* tuple = PySequence_Tuple(object);
  if (!tuple || !c.memory.keep(tuple)) return nullptr;
  return tuple;
}

template <class T, kind K>
bool convert_numbers(frame& c, int i, PyObject* tuple) {
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  auto* array = static_cast<T*>(c.memory.allocate(std::size_t(n) * sizeof(T)));
  if (!array) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    word value;
    if (!integer_argument<K>(PyTuple_GET_ITEM(tuple, k), value))
      return add_context("element %zd: ", k);
    array[k] = T(value);
  }
  c.cell[i] = word(n);
  c.w[i] = n ? reinterpret_cast<word>(array) : 0;
  return true;
}

bool raise_short(word length, word count) {
  PyErr_Format(PyExc_RuntimeError, "List is too small: %llu < %llu", length, count);
  return false;
}

// The same contents as an array of NumPy; without NumPy, the array as it is. Steals it.
PyObject* as_ndarray(PyObject* array) {
  const reference made{array};
  const reference convert{array ? from_numpy("asarray") : nullptr};
  if (convert) return PyObject_CallOneArg(convert, array);
  if (!array || !PyErr_ExceptionMatches(PyExc_ImportError)) return nullptr;
  PyErr_Clear();
  return Py_NewRef(array);
}

}  // namespace

bool sequence_argument(frame& c, int i, PyObject* object, bool is_of_handles) {
  c.w[i] = 0;
  c.cell[i] = no_length;
  if (is_of_handles && object == Py_None) return c.cell[i] = 0, true;
  if (is_of_handles && PyLong_Check(object)) return integer_slow(object, kind::u64, c.w[i]);
  PyObject* tuple = kept_tuple(
      c, object, is_of_handles ? "a sequence of ints, an address or None" : "a sequence of ints");
  if (!tuple) return false;
  return is_of_handles ? convert_numbers<std::uint64_t, kind::u64>(c, i, tuple)
                       : convert_numbers<std::int32_t, kind::i32>(c, i, tuple);
}

bool check_sequence(frame& c, int i, const param& p) {
  if (p.aux < 0 || c.cell[i] == no_length) return true;
  if (c.param_at(p.aux).k == kind::length_of_list) return check_items(c, i, p);
  word count = c.value_of(p.aux);
  return count <= c.cell[i] || raise_short(c.cell[i], count);
}

bool items_argument(frame& c, int i, const param& p) {
  const Py_buffer* view = c.memory.view(c.argument(p));
  if (!view) return no_such_buffer() && raise_expected("a contiguous buffer", c.argument(p));
  if (view->itemsize != p.type) {
    PyErr_Format(PyExc_ValueError, "expected items of %d bytes, got %zd-byte items", int(p.type),
                 view->itemsize);
    return false;
  }
  c.w[i] = reinterpret_cast<word>(view->buf);
  c.cell[i] = word(view->len / view->itemsize);
  return true;
}

bool texts_argument(frame& c, int i, PyObject* object) {
  c.w[i] = c.cell[i] = 0;
  if (!object || object == Py_None) return true;
  PyObject* tuple = kept_tuple(c, object, "a sequence of bytes or None");
  if (!tuple) return false;
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  auto** texts = static_cast<const char**>(c.memory.allocate(std::size_t(n + 1) * sizeof(char*)));
  for (Py_ssize_t k = 0; texts && k < n; ++k) {
    PyObject* item = PyTuple_GET_ITEM(tuple, k);
    if (!PyBytes_Check(item))
      return raise_expected("bytes", item) || add_context("element %zd: ", k);
    texts[k] = PyBytes_AS_STRING(item);
  }
  c.cell[i] = word(n);
  c.w[i] = n ? reinterpret_cast<word>(texts) : 0;
  return texts != nullptr;
}

// Several lists that one count goes with are of one length.
bool check_items(frame& c, int i, const param& p) {
  word count = p.aux < 0 ? c.cell[i] : c.value_of(p.aux);
  if (count == c.cell[i]) return true;
  PyErr_Format(PyExc_ValueError, "expected as many elements as '%s' has, %llu, got %llu",
               parameter_name(c.f, c.param_at(c.param_at(p.aux).aux).py), count, c.cell[i]);
  return false;
}

bool check_data_count(frame& c, const param& p) {
  PyObject* object = c.argument(p);
  if (p.aux < 0 || object == Py_None || !is_instance(object, c.lib, p.type)) return true;
  auto length = word(as_data(object)->e.elements());
  word count = c.value_of(p.aux);
  return count <= length || raise_short(length, count);
}

bool check_buffer_holds(frame& c, int i, const param& p) {
  word size = c.value_of(p.aux);
  if (c.cell[i] == no_length || size <= c.cell[i]) return true;
  PyErr_Format(PyExc_ValueError, "expected a buffer of at least %llu bytes, as '%s' says, got %llu",
               size, parameter_name(c.f, c.param_at(p.aux).py), c.cell[i]);
  return false;
}

PyObject* array_from_callee(frame& c, int i, const param& p) {
  auto* source = reinterpret_cast<const void*>(c.cell[i]);
  Py_ssize_t n = source ? Py_ssize_t(c.value_of(p.aux)) : 0;
  bool has_structs = p.k == kind::out_callee_data;
  PyObject* made =
      has_structs ? new_data_array(c.lib, p.type, n) : new_typed_array(kind(p.type), n);
  if (!made) return nullptr;
  void* where = has_structs ? as_data(made)->where : as_typed_array(made)->where;
  std::size_t size = has_structs ? c.lib.classes[std::size_t(p.type)].data->size
                                 : std::size_t(number_size(kind(p.type)));
  if (n) std::memcpy(where, source, std::size_t(n) * size);
  return as_ndarray(made);
}

}  // namespace halfwarp::bindings
