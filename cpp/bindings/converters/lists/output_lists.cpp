// SPDX-License-Identifier: Apache-2.0
// Converts arrays that a call fills or owns to arrays, texts, and lists of objects with copies.
#include "bindings/converters/lists/output_lists.hpp"

#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/converters/outputs.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"
#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* copied_handle(const library& lib, int type, const char* source) {
  PyObject* handle = new_handle(lib, type);
  if (handle) std::memcpy(&as_handle(handle)->value, source, lib.classes[type].size);
  return handle;
}

PyObject* copied_struct(const library& lib, int type, const char* source) {
  PyObject* object = new_struct(lib, type);
  if (object) std::memcpy(as_storage(object)->data, source, lib.classes[type].size);
  return object;
}

template <class T, auto Make>
PyObject* number(const library&, int, const char* source) {
  return Make(*reinterpret_cast<const T*>(source));
}

using maker = PyObject* (*)(const library&, int type, const char* source);

PyObject* list_of(const library& lib, int type, const void* array, Py_ssize_t n, int bytes,
                  maker make) {
  PyObject* list = PyList_New(n);
  const char* source = static_cast<const char*>(array);
  for (Py_ssize_t k = 0; list && k < n; ++k, source += bytes) {
    PyObject* item = make(lib, type, source);
    if (item) {
      PyList_SET_ITEM(list, k, item);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

int element_size(const library& lib, const param& p) {
  return p.k == kind::out_list_i32 || p.k == kind::out_list_u32 ? 4 : lib.classes[p.type].size;
}

maker maker_of(kind k) {
  if (k == kind::out_list_i32) return number<std::int32_t, PyLong_FromLong>;
  if (k == kind::out_list_u32) return number<std::uint32_t, PyLong_FromUnsignedLong>;
  return k == kind::out_list_handle || k == kind::out_callee_handles ? copied_handle
                                                                     : copied_struct;
}

// Reads the count of an output. Rejects a negative one, and one too large to reserve.
bool count_of(frame& c, const param& p, int bytes, word& count) {
  count = c.value_of(p.aux);
  if (c.param_at(p.aux).k == kind::i32) count = word(std::int64_t(std::int32_t(count)));
  if (std::int64_t(count) < 0 || count > word(PY_SSIZE_T_MAX) / word(bytes))
    return raise_error(PyExc_ValueError, "%s() argument '%s': a count of %lld cannot be reserved",
                       c.f.name.c_str(), parameter_name(c.f, c.param_at(p.aux).py),
                       std::int64_t(count));
  return true;
}

bool returns_length(kind k) {
  return k == kind::count_of_output || k == kind::capacity_of_output || k == kind::out_count;
}

}  // namespace

bool reserve_output_buffer(frame& c, int i, const param& p) {
  word length;
  if (!count_of(c, p, 1, length)) return false;
  c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(length));
  return c.w[i] != 0;
}

bool reserve_output_array(frame& c, int i, const param& p) {
  c.w[i] = c.cell[i] = 0;
  if (!p.has_aux()) return true;  // a handwritten step allocates it
  int bytes = element_size(c.lib, p);
  word count;
  if (!count_of(c, p, bytes, count)) return false;
  c.cell[i] = count;
  word room = word(bytes) + (p.k == kind::out_list_structure ? struct_slack : 0);
  if (count > word(PY_SSIZE_T_MAX) / room) return PyErr_NoMemory() != nullptr;
  if (count) c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(count * room));
  return !count || c.w[i];
}

PyObject* list_from_output(frame& c, int i, const param& p) {
  return list_of(c.lib, p.type, reinterpret_cast<void*>(c.w[i]), Py_ssize_t(c.cell[i]),
                 element_size(c.lib, p), maker_of(p.k));
}

PyObject* list_from_callee(frame& c, int i, const param& p) {
  auto* array = reinterpret_cast<void*>(c.cell[i]);
  Py_ssize_t n = array ? Py_ssize_t(c.value_of(p.aux)) : 0;
  return list_of(c.lib, p.type, array, n, c.lib.classes[p.type].size, maker_of(p.k));
}

bool allocate_text(frame& c, int i, word n) {
  c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(n + 1));
  return c.w[i] != 0;
}

bool allocate_output(frame& c, int i, const param& p, word n) {
  bool has_structs = p.k == kind::out_structures;
  PyObject* array = has_structs ? new_numpy_struct_array(c.lib, p.type, Py_ssize_t(n))
                                : new_typed_array(kind(p.type), Py_ssize_t(n));
  if (!array) return false;
  c.out[c.output_at(i)] = array;
  c.w[i] = reinterpret_cast<word>(has_structs ? as_numpy_struct(array)->data
                                              : as_typed_array(array)->data);
  return true;
}

PyObject* counted_output(frame& c, const param& p, int output) {
  PyObject* array = c.release_output(output);
  bool has_length = returns_length(c.param_at(p.aux).k);
  Py_ssize_t& length = p.k == kind::out_structures ? as_numpy_struct(array)->e.shape[0]
                                                   : as_typed_array(array)->e.shape[0];
  auto n = Py_ssize_t(std::uint32_t(c.cell[p.aux]));
  if (has_length && n < length) length = n;
  return array;
}

// A constant size is a number of bytes.
bool allocate_sized(frame& c, int i, const param& p) {
  const param& count = c.param_at(p.aux);
  if (count.k == kind::count_of_output || count.k == kind::out_count) return true;
  word n = c.value_of(p.aux);
  if (count.k == kind::fixed) n /= word(number_size(kind(p.type)));
  return allocate_output(c, i, p, n);
}

bool allocate_sized_text(frame& c, int i, const param& p) {
  if (c.param_at(p.aux).k == kind::count_of_output) return true;
  auto n = std::int32_t(c.value_of(p.aux));
  if (n >= 0) return allocate_text(c, i, word(n));
  return raise_error(PyExc_ValueError, "%s() argument '%s': a length of %d", c.f.name.c_str(),
                     parameter_name(c.f, c.param_at(p.aux).py), int(n));
}

}  // namespace halfwarp::bindings
