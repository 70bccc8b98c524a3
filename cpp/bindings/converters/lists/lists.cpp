// SPDX-License-Identifier: Apache-2.0
// Converts lists, tuples, sequences and buffers of items to C arrays in scratch memory. Copies
// arrays of the library into NumPy arrays.
#include "bindings/converters/lists/lists.hpp"

#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/converters/buffers.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"
#include "bindings/objects/object_arguments.hpp"

namespace halfwarp::bindings {
namespace {

// Converts one element to a word, whose low `bytes` bytes go into the array.
struct element {
  bool (*convert)(frame& c, int type, PyObject* object, word& out);
  int bytes;             // 0: the size of the class
  bool copies = false;   // the word is the address of the bytes to copy
  bool retains = false;  // the word points into the element's memory: retain it
};

template <kind K>
bool convert_integer(frame&, int, PyObject* object, word& out) {
  return integer_argument<K>(object, out);
}

bool convert_enum(frame& c, int type, PyObject* object, word& out) {
  return enum_argument(object, c.lib, type, out);
}

bool convert_handle(frame& c, int type, PyObject* object, word& out) {
  return handle_slow(object, c.lib, type, out, false);
}

bool convert_structure(frame& c, int type, PyObject* object, word& out) {
  return structure_argument(object, c.lib, type, false, out);
}

bool convert_text(frame& c, int, PyObject* object, word& out) {
  return text_argument(object, c.memory, out);
}
bool convert_address(frame& c, int, PyObject* object, word& out) {
  return address_argument(object, c.memory, out);
}

constexpr element elements[] = {
    {convert_integer<kind::i32>, 4},
    {convert_integer<kind::u32>, 4},
    {convert_integer<kind::u64>, 8},
    {convert_enum, 4},
    {convert_handle, 4},
    {convert_handle, 8},
    {convert_structure, 0, true},
    {convert_text, 8, false, true},
    {convert_address, 8},
};
static_assert(int(kind::list_address) - int(kind::list_i32) + 1 == std::size(elements));

bool add_element_context(Py_ssize_t index) { return add_context("element %zd: ", index); }

bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

bool convert_elements(frame& c, int type, PyObject* list, Py_ssize_t n, const element& e, int bytes,
                      char* array) {
  for (Py_ssize_t k = 0; k < n; ++k, array += bytes) {
    // converting may run Python code, which may change the list
    PyObject* item = list_item(list, k);
    if (!item) return false;
    word value;
    bool ok = e.convert(c, type, item, value);
    if (ok)
      std::memcpy(array, e.copies ? reinterpret_cast<void*>(value) : &value, std::size_t(bytes));
    if (e.retains && ok) {
      ok = c.memory.retain(item);
    } else {
      Py_DECREF(item);
    }
    if (!ok) return add_element_context(k);
  }
  return true;
}

// Passes a single struct in its own memory, so that the caller sees what the call writes.
bool convert_alone(frame& c, int type, PyObject* list, word& out) {
  reference item{list_item(list, 0)};
  if (!item) return false;
  if (convert_structure(c, type, item, out)) return c.memory.retain(item.release());
  return add_element_context(0);
}

bool is_number_list(kind k) { return k >= kind::list_i32 && k <= kind::list_u64; }

bool is_text(PyObject* object) {
  return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

// Copies a sequence into a tuple that is retained until the call ends; nullptr with an error set.
// Converting an element may run user code that changes the sequence.
PyObject* retained_tuple(frame& c, PyObject* object, const char* expected) {
  if (is_text(object) || !PySequence_Check(object)) return raise_expected(expected, object);
  PyObject* tuple = PySequence_Tuple(object);
  if (!tuple || !c.memory.retain(tuple)) return nullptr;
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

// Converts an array to a NumPy array; without NumPy, returns it as it is. Steals `array`.
PyObject* as_ndarray(PyObject* array) {
  const reference owner{array};
  const reference convert{array ? from_numpy("asarray") : nullptr};
  if (convert) return PyObject_CallOneArg(convert, array);
  if (!array || !PyErr_ExceptionMatches(PyExc_ImportError)) return nullptr;
  PyErr_Clear();
  return Py_NewRef(array);
}

}  // namespace

bool list_argument(frame& c, int i, const param& p, PyObject* object) {
  c.w[i] = 0;
  c.cell[i] = 0;
  if (object == Py_None && !is_number_list(p.k)) return true;
  if (!is_list(object)) return raise_expected("a list or tuple", object);
  const element& e = elements[int(p.k) - int(kind::list_i32)];
  int bytes = e.bytes ? e.bytes : c.lib.classes[p.type].size;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  c.cell[i] = word(n);
  if (n == 1 && p.k == kind::list_structure) return convert_alone(c, p.type, object, c.w[i]);
  std::size_t slack = e.copies ? struct_slack : 0;  // a newer library may write a larger struct
  auto* array =
      static_cast<char*>(c.memory.allocate(std::size_t(n) * (std::size_t(bytes) + slack)));
  if (!array) return false;
  c.w[i] = n ? reinterpret_cast<word>(array) : 0;
  return convert_elements(c, p.type, object, n, e, bytes, array);
}

bool short_list_argument(frame& c, int i, const param& p, PyObject* object) {
  constexpr Py_ssize_t limit = 5;
  c.w[i] = 0;
  if (object == Py_None) return true;
  if (!is_list(object)) return raise_expected("a list or tuple", object);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (n > limit)
    return raise_error(PyExc_ValueError, "expected at most %zd elements, got %zd", limit, n);
  int bytes = p.k == kind::short_list_handle32 ? 4 : 8;
  auto* array = static_cast<char*>(c.memory.allocate_zeroed(limit * 8));
  if (!array) return false;
  c.w[i] = reinterpret_cast<word>(array);
  return convert_elements(c, p.type, object, n, {convert_handle, bytes}, bytes, array);
}

bool check_list_length(frame& c, int i, const param& p) {
  if (!p.has_aux()) return true;
  word count = c.value_of(p.aux), length = c.cell[i];
  if (c.param_at(p.aux).k == kind::i32 && std::int32_t(count) < 0)
    return true;  // the library rejects it
  if (count <= length || (p.is_optional && length == 0)) return true;
  return raise_short(length, count);
}

bool sequence_argument(frame& c, int i, PyObject* object, bool is_of_handles) {
  c.w[i] = 0;
  c.cell[i] = no_length;
  if (is_of_handles && object == Py_None) return c.cell[i] = 0, true;
  if (is_of_handles && PyLong_Check(object)) return integer_slow(object, kind::u64, c.w[i]);
  PyObject* tuple = retained_tuple(
      c, object, is_of_handles ? "a sequence of ints, an address or None" : "a sequence of ints");
  if (!tuple) return false;
  return is_of_handles ? convert_numbers<std::uint64_t, kind::u64>(c, i, tuple)
                       : convert_numbers<std::int32_t, kind::i32>(c, i, tuple);
}

bool check_sequence(frame& c, int i, const param& p) {
  if (!p.has_aux() || c.cell[i] == no_length) return true;
  if (c.param_at(p.aux).k == kind::length_of_list) return check_items(c, i, p);
  word count = c.value_of(p.aux);
  return count <= c.cell[i] || raise_short(c.cell[i], count);
}

bool items_argument(frame& c, int i, const param& p) {
  const Py_buffer* view = c.memory.view(c.argument(p));
  if (!view) return no_such_buffer() && raise_expected("a contiguous buffer", c.argument(p));
  if (view->itemsize != p.type)
    return raise_error(PyExc_ValueError, "expected items of %d bytes, got %zd-byte items",
                       int(p.type), view->itemsize);
  c.w[i] = reinterpret_cast<word>(view->buf);
  c.cell[i] = word(view->len / view->itemsize);
  return true;
}

bool texts_argument(frame& c, int i, PyObject* object) {
  c.w[i] = c.cell[i] = 0;
  if (!object || object == Py_None) return true;
  PyObject* tuple = retained_tuple(c, object, "a sequence of bytes or None");
  if (!tuple) return false;
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  auto** texts = static_cast<const char**>(c.memory.allocate(std::size_t(n + 1) * sizeof(char*)));
  for (Py_ssize_t k = 0; texts && k < n; ++k) {
    PyObject* item = PyTuple_GET_ITEM(tuple, k);
    if (!PyBytes_Check(item))
      return raise_expected("bytes", item) || add_context("element %zd: ", k);
    texts[k] = PyBytes_AS_STRING(item);
    if (!check_no_inner_nul(texts[k], std::size_t(PyBytes_GET_SIZE(item))))
      return add_context("element %zd: ", k);
  }
  c.cell[i] = word(n);
  c.w[i] = n ? reinterpret_cast<word>(texts) : 0;
  return texts != nullptr;
}

// Checks that all lists with the same count have the same length.
bool check_items(frame& c, int i, const param& p) {
  word count = !p.has_aux() ? c.cell[i] : c.value_of(p.aux);
  if (count == c.cell[i]) return true;
  return raise_error(PyExc_ValueError, "expected %llu elements, the count of '%s', got %llu", count,
                     parameter_name(c.f, c.param_at(c.param_at(p.aux).aux).py), c.cell[i]);
}

bool check_numpy_struct_count(frame& c, const param& p) {
  PyObject* object = c.argument(p);
  if (!p.has_aux() || object == Py_None || !is_instance(object, c.lib, p.type)) return true;
  auto length = word(as_numpy_struct(object)->e.elements());
  word count = c.value_of(p.aux);
  return count <= length || raise_short(length, count);
}

bool check_buffer_holds(frame& c, int i, const param& p) {
  word size = c.value_of(p.aux);
  if (c.cell[i] == no_length || size <= c.cell[i]) return true;
  return raise_error(PyExc_ValueError, "expected a buffer of at least %llu bytes ('%s'), got %llu",
                     size, parameter_name(c.f, c.param_at(p.aux).py), c.cell[i]);
}

PyObject* array_from_callee(frame& c, int i, const param& p) {
  auto* source = reinterpret_cast<const void*>(c.cell[i]);
  Py_ssize_t n = source ? Py_ssize_t(c.value_of(p.aux)) : 0;
  bool has_structs = p.k == kind::out_callee_numpy_structs;
  PyObject* array =
      has_structs ? new_numpy_struct_array(c.lib, p.type, n) : new_typed_array(kind(p.type), n);
  if (!array) return nullptr;
  void* data = has_structs ? as_numpy_struct(array)->data : as_typed_array(array)->data;
  std::size_t size = has_structs ? c.lib.classes[std::size_t(p.type)].numpy->size
                                 : std::size_t(number_size(kind(p.type)));
  if (n) std::memcpy(data, source, std::size_t(n) * size);
  return as_ndarray(array);
}

}  // namespace halfwarp::bindings
