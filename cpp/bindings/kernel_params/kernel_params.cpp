// SPDX-License-Identifier: Apache-2.0
// Packs kernel parameters: the array of pointers first, then the values, in one piece of memory.
#include "bindings/kernel_params/kernel_params.hpp"

#include "bindings/memory/memory.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

// `(values, types)` taken apart.
struct typed_values {
  PyObject *values, *types;
  Py_ssize_t count;

  bool take(PyObject* pair) {
    if (PyTuple_GET_SIZE(pair) == 2) [[likely]] {
      values = PyTuple_GET_ITEM(pair, 0);
      types = PyTuple_GET_ITEM(pair, 1);
      if (PyTuple_Check(values) && PyTuple_Check(types)) [[likely]] {
        count = PyTuple_GET_SIZE(values);
        if (count == PyTuple_GET_SIZE(types)) return true;
      }
    }
    PyErr_SetString(PyExc_TypeError, "expected (values, types): two tuples of equal length");
    return false;
  }

  std::size_t bytes() const { return std::size_t(count) * (sizeof(void*) + sizeof(word)); }
};

// Each value gets 8 aligned bytes, so every type has its natural alignment.
bool pack(const typed_values& given, void* memory) {
  auto** pointers = static_cast<void**>(memory);
  auto* cells = reinterpret_cast<word*>(pointers + given.count);
  PyObject** values = &PyTuple_GET_ITEM(given.values, 0);
  PyObject** types = &PyTuple_GET_ITEM(given.types, 0);
  for (Py_ssize_t i = 0; i < given.count; ++i) {
    pointers[i] = &cells[i];
    if (!pack_value(values[i], types[i], cells[i], pointers[i])) [[unlikely]]
      return add_context("parameter %zd: ", i);
  }
  return true;
}

bool is_plain_address(PyObject* object) { return object == Py_None || PyLong_Check(object); }

bool raise_expected_form(PyObject* object) {
  return raise_expected("(values, types), an address, a buffer of addresses or None", object);
}

// Without types.
bool untyped_argument(PyObject* object, scratch& memory, word& out) {
  if (is_plain_address(object)) return address_argument(object, memory, out);
  if (const Py_buffer* view = memory.view(object)) {
    out = reinterpret_cast<word>(view->buf);
    return true;
  }
  return no_such_buffer() && raise_expected_form(object);
}

}  // namespace

bool kernel_params_argument(PyObject* object, scratch& memory, word& out) {
  if (!PyTuple_Check(object)) return untyped_argument(object, memory, out);
  typed_values given;
  if (!given.take(object)) return false;
  void* packed = memory.allocate(given.bytes());
  out = reinterpret_cast<word>(packed);
  return packed && (!given.count || pack(given, packed));
}

bool kernel_params_block(PyObject* object, word& out, PyObject*& block) {
  scratch memory;
  if (is_plain_address(object)) return address_argument(object, memory, out);
  if (!PyTuple_Check(object)) {
    if (!(block = exported_view(object))) return !PyErr_Occurred() && raise_expected_form(object);
    out = reinterpret_cast<word>(PyMemoryView_GET_BUFFER(block)->buf);
    return true;
  }
  typed_values given;
  if (!given.take(object) || !(block = new_memory_block(given.bytes()))) return false;
  // the values stay: some parameters point into their memory
  as_storage(block)->kept = Py_BuildValue("{i:O}", -1, given.values);
  bool ok = as_storage(block)->kept && pack(given, as_block(block)->where);
  out = reinterpret_cast<word>(as_block(block)->where);
  if (!ok) Py_CLEAR(block);
  return ok;
}

}  // namespace halfwarp::bindings
