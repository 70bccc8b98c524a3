// SPDX-License-Identifier: Apache-2.0
// Arrays that a call fills or owns, to Python lists of objects that own copies.
#include "bindings/converters/conversions.hpp"

#include <cstring>

#include "bindings/converters/outputs.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* copied_handle(const library& lib, int type, const char* source) {
  PyObject* made = new_handle(lib, type);
  if (made) std::memcpy(&as_handle(made)->value, source, lib.classes[type].size);
  return made;
}

PyObject* copied_struct(const library& lib, int type, const char* source) {
  PyObject* made = new_struct(lib, type);
  if (made) std::memcpy(as_storage(made)->where, source, lib.classes[type].size);
  return made;
}

PyObject* signed_number(const library&, int, const char* source) {
  return PyLong_FromLong(*reinterpret_cast<const std::int32_t*>(source));
}

PyObject* unsigned_number(const library&, int, const char* source) {
  return PyLong_FromUnsignedLong(*reinterpret_cast<const std::uint32_t*>(source));
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
  if (k == kind::out_list_i32) return signed_number;
  if (k == kind::out_list_u32) return unsigned_number;
  return k == kind::out_list_handle || k == kind::out_callee_handles ? copied_handle
                                                                     : copied_struct;
}

// The count that goes with an output, refused when negative or too large to reserve.
bool count_of(frame& c, const param& p, int bytes, word& count) {
  count = c.value_of(p.aux);
  if (c.param_at(p.aux).k == kind::i32) count = word(std::int64_t(std::int32_t(count)));
  if (std::int64_t(count) < 0 || count > word(PY_SSIZE_T_MAX) / word(bytes)) {
    PyErr_Format(PyExc_ValueError, "%s() argument '%s': a count of %lld cannot be reserved",
                 c.f.name.c_str(), parameter_name(c.f, c.param_at(p.aux).py), std::int64_t(count));
    return false;
  }
  return true;
}

}  // namespace

bool make_output_buffer(frame& c, int i, const param& p) {
  word length;
  if (!count_of(c, p, 1, length)) return false;
  c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(length));
  return c.w[i] != 0;
}

bool make_output_array(frame& c, int i, const param& p) {
  c.w[i] = c.cell[i] = 0;
  if (p.aux < 0) return true;  // a hook of the function decides
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

}  // namespace halfwarp::bindings
