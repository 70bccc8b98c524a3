// SPDX-License-Identifier: Apache-2.0
// Builds structs from the arguments of a call.
#include "bindings/converters/assembly.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {
namespace {

// Stores the version in the first field, as the C libraries define it: the size of the struct, and
// the number in the highest byte.
void set_version(void* data, const assembly& a) {
  if (!a.version) return;
  std::uint32_t stated = a.record->size | unsigned(a.version) << 24;
  std::memcpy(data, &stated, sizeof stated);
}

// Calls `write(field, value)` for each argument, until it returns nonzero.
template <class W>
bool fill(const frame& c, const assembly& a, W write) {
  for (const assembly_input& input : a.inputs) {
    if (write(a.record->fields[std::size_t(input.field)], c.args[input.py]) == 0) continue;
    return add_context("%s() argument '%s': ", c.f.name.c_str(), parameter_name(c.f, input.py));
  }
  return true;
}

// Pads bytes that are shorter than their field with zeros. Returns a new reference; any other value
// as it is.
PyObject* padded(const numpy_field& f, PyObject* value) {
  bool is_short = PyBytes_Check(value) && f.shape == form::numbers && f.size == 1 &&
                  PyBytes_GET_SIZE(value) < Py_ssize_t(f.count);
  if (!is_short) return Py_NewRef(value);
  PyObject* whole = PyBytes_FromStringAndSize(nullptr, Py_ssize_t(f.count));
  if (!whole) return nullptr;
  auto n = std::size_t(PyBytes_GET_SIZE(value));
  std::memset(PyBytes_AS_STRING(whole), 0, f.count);
  std::memcpy(PyBytes_AS_STRING(whole), PyBytes_AS_STRING(value), n);
  return whole;
}

}  // namespace

PyObject* assemble(const frame& c, const assembly& a) {
  PyObject* object = new_numpy_struct(c.lib, a.type);
  if (!object) return nullptr;
  set_version(as_numpy_struct(object)->data, a);
  bool is_filled = fill(c, a, [&](const numpy_field& f, PyObject* value) {
    const reference whole{padded(f, value)};
    return whole ? write_numpy_field(c.lib, f, object, whole) : failed;
  });
  if (!is_filled) Py_CLEAR(object);
  return object;
}

PyObject* disassemble(const frame& c, const assembly& a, PyObject* object) {
  if (a.output < 0) return object;
  PyObject* value = read_numpy_field(c.lib, a.record->fields[std::size_t(a.output)], object);
  Py_DECREF(object);
  return value;
}

bool fill_plain(frame& c, const assembly& a, word& out) {
  auto* memory = static_cast<char*>(c.memory.allocate_zeroed(a.record->size, struct_slack));
  if (!memory) return false;
  set_version(memory, a);
  out = reinterpret_cast<word>(memory);
  return fill(c, a, [&](const numpy_field& f, PyObject* value) {
    return write_number(f.element, memory + f.offset, value);
  });
}

bool fill_assembled(frame& c, const assembly& a, word& out) {
  const reference object{assemble(c, a)};
  if (!object) return false;
  std::size_t size = a.record->size;
  void* memory = c.memory.allocate(size + struct_slack);
  if (memory) std::memcpy(memory, as_numpy_struct(object)->data, size);
  out = reinterpret_cast<word>(memory);
  return memory != nullptr;
}

bool numpy_struct_argument(PyObject* object, const library& lib, int type, word& out) {
  if (object == Py_None) return out = 0, true;
  if (!ready_class(lib, type)) return false;
  if (is_instance(object, lib, type))
    return out = reinterpret_cast<word>(as_numpy_struct(object)->data), true;
  if (PyLong_Check(object) || PyIndex_Check(object))
    return integer_argument<kind::i64>(object, out);
  return raise_error(PyExc_TypeError, "expected %s or its address, got %s",
                     short_name(lib.classes[std::size_t(type)].name), Py_TYPE(object)->tp_name);
}

}  // namespace halfwarp::bindings
