// SPDX-License-Identifier: Apache-2.0
// Attribute values by kind: a table, one row per kind.
#include "bindings/converters/conversions.hpp"

#include <cstring>

#include "bindings/memory/memory.hpp"
#include "bindings/numpy_structs/data_object.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/objects/object_arguments.hpp"

namespace halfwarp::bindings {
namespace {

constexpr word longest_text = 1024;

const library& owner_of(const library& lib, const attribute& a) { return a.owner ? *a.owner : lib; }
const class_record& class_of(const library& lib, const attribute& a) {
  return owner_of(lib, a).classes[std::size_t(a.type)];
}

// ---- Python to C: the value in a word, or the address of one

bool from_i32(frame&, const attribute&, PyObject* object, word& out) {
  return integer_argument<kind::i32>(object, out);
}
bool from_u32(frame&, const attribute&, PyObject* object, word& out) {
  return integer_argument<kind::u32>(object, out);
}
bool from_u64(frame&, const attribute&, PyObject* object, word& out) {
  return integer_argument<kind::u64>(object, out);
}
bool from_f32(frame&, const attribute&, PyObject* object, word& out) {
  return float_argument(object, kind::f32, out);
}
bool from_enum(frame&, const attribute&, PyObject* object, word& out) {
  return enum_argument(object, out);
}

bool from_bool(frame&, const attribute&, PyObject* object, word& out) {
  int truth = PyObject_IsTrue(object);
  out = word(truth > 0);
  return truth >= 0;
}

// No handle is a handle too; but an integer with a class of its own (cuuint64_t) is a number.
bool from_handle(frame& c, const attribute& a, PyObject* object, word& out) {
  return handle_slow(object, owner_of(c.lib, a), a.type, out, class_of(c.lib, a).f & opaque);
}

bool from_struct(frame& c, const attribute& a, PyObject* object, word& out) {
  if (PyLong_Check(object)) return integer_argument<kind::u64>(object, out);  // its address
  return structure_argument(object, owner_of(c.lib, a), a.type, true, out);
}

bool from_address(frame& c, const attribute&, PyObject* object, word& out) {
  return address_argument(object, c.memory, out);
}
bool from_text(frame& c, const attribute&, PyObject* object, word& out) {
  return text_argument(object, c.memory, out);
}

bool from_buffer(frame& c, const attribute&, PyObject* object, word& out) {
  if (PyLong_Check(object)) return integer_argument<kind::u64>(object, out);
  word size;
  return text_output_argument(object, c.memory, out, size);
}

template <bool (*Convert)(frame&, const attribute&, PyObject*, word&)>
bool from_list(frame& c, const attribute& a, PyObject* object, word& out) {
  if (!PyList_Check(object) && !PyTuple_Check(object))
    return raise_expected("a list or tuple", object);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (n == 0) return out = 0, true;
  auto* array = static_cast<word*>(c.memory.allocate_zeroed(std::size_t(n) * sizeof(word)));
  if (!array) return false;
  out = reinterpret_cast<word>(array);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = list_item(object, i);
    if (!item || !c.memory.keep(item) || !Convert(c, a, item, array[i])) return false;
  }
  return true;
}

// ---- C to Python

template <class T>
T load(const void* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

PyObject* to_i32(const library&, const attribute&, const void* m, word) {
  return PyLong_FromLong(load<std::int32_t>(m));
}
PyObject* to_u32(const library&, const attribute&, const void* m, word) {
  return PyLong_FromUnsignedLong(load<std::uint32_t>(m));
}
PyObject* to_u64(const library&, const attribute&, const void* m, word) {
  return PyLong_FromUnsignedLongLong(load<word>(m));
}
PyObject* to_f32(const library&, const attribute&, const void* m, word) {
  return PyFloat_FromDouble(load<float>(m));
}
PyObject* to_bool(const library&, const attribute&, const void* m, word) {
  return PyBool_FromLong(load<unsigned char>(m));
}

PyObject* to_enum(const library& lib, const attribute& a, const void* m, word) {
  return enum_member(lib, a.type, load<std::int32_t>(m));
}

PyObject* to_handle(const library& lib, const attribute& a, const void* m, word) {
  PyObject* made = new_handle(owner_of(lib, a), a.type);
  if (made) std::memcpy(&as_handle(made)->value, m, class_of(lib, a).size);
  return made;
}

PyObject* to_struct(const library& lib, const attribute& a, const void* m, word) {
  PyObject* made = new_struct(owner_of(lib, a), a.type);
  if (made) std::memcpy(as_storage(made)->where, m, class_of(lib, a).size);
  return made;
}

PyObject* to_text(const library&, const attribute&, const void* m, word) {
  const void* end = std::memchr(m, 0, longest_text);
  auto* text = static_cast<const char*>(m);
  return PyBytes_FromStringAndSize(
      text, end ? static_cast<const char*>(end) - text : Py_ssize_t(longest_text));
}

PyObject* to_list(const library&, const attribute&, const void* m, word bytes) {
  auto* numbers = static_cast<const char*>(m);
  PyObject* list = PyList_New(Py_ssize_t(bytes / 4));
  for (word i = 0; list && i < bytes / 4; ++i) {
    PyObject* number = PyLong_FromLong(load<std::int32_t>(numbers + 4 * i));
    if (number) {
      PyList_SET_ITEM(list, Py_ssize_t(i), number);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

bool from_data(frame& c, const attribute& a, PyObject* object, word& out) {
  return data_argument(object, c.lib, a.type, out);
}

PyObject* to_data(const library& lib, const attribute& a, const void* m, word) {
  PyObject* made = new_data(lib, a.type);
  if (made) std::memcpy(as_data(made)->where, m, lib.classes[std::size_t(a.type)].data->size);
  return made;
}

struct value_type {
  bool (*from)(frame&, const attribute&, PyObject*, word&);
  PyObject* (*to)(const library&, const attribute&, const void*, word);
  std::uint16_t bytes;  // 0: of the class
  bool is_address;      // what `from` makes is the address of the value already
};

constexpr value_type types[] = {
    {from_i32, to_i32, 4, false},
    {from_u32, to_u32, 4, false},
    {from_u64, to_u64, 8, false},
    {from_bool, to_bool, 1, false},
    {from_f32, to_f32, 4, false},
    {from_address, to_u64, 8, false},
    {from_text, to_text, longest_text, true},
    {from_buffer, to_text, longest_text, true},
    {from_list<from_i32>, to_list, 4, true},
    {from_list<from_text>, to_u64, 8, true},
    {from_list<from_address>, to_u64, 8, true},
    {from_enum, to_enum, 4, false},
    {from_handle, to_handle, 0, false},
    {from_struct, to_struct, 0, true},
    {from_data, to_data, 0, true},
};
static_assert(std::size(types) == std::size_t(value_kind::data) + 1);

const value_type& type_of(const attribute& a) { return types[int(a.k)]; }

}  // namespace

word value_size(const library& lib, const attribute& a) {
  word bytes = type_of(a).bytes;
  if (bytes) return bytes;
  const class_record& record = class_of(lib, a);
  return record.data ? record.data->size : record.size;
}

bool value_to_memory(frame& c, const attribute& a, PyObject* object, word& out, word& size) {
  size = value_size(c.lib, a);
  if (a.k == value_kind::text && PyObject_Length(object) >= 0)
    size = word(PyObject_Length(object)) + 1;
  PyErr_Clear();  // what has no length is refused by the converter
  if (type_of(a).is_address) return type_of(a).from(c, a, object, out);
  auto* cell = static_cast<word*>(c.memory.allocate_zeroed(sizeof(word)));
  out = reinterpret_cast<word>(cell);
  return cell && type_of(a).from(c, a, object, *cell);
}

bool option_to_word(frame& c, const attribute& a, PyObject* object, word& out) {
  return type_of(a).from(c, a, object, out);
}

PyObject* value_from_memory(const library& lib, const attribute& a, const void* memory,
                            word bytes) {
  return type_of(a).to(lib, a, memory, bytes);
}

}  // namespace halfwarp::bindings
