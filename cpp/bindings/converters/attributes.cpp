// SPDX-License-Identifier: Apache-2.0
// Converts values whose type an attribute states: looks the attribute up in the table of its
// enumeration, and the type in a table with one row per kind.
#include "bindings/converters/attributes.hpp"

#include <cstring>

#include "bindings/converters/assembly.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/objects/object_arguments.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

constexpr word longest_text = 1024;

const library& owner_of(const library& lib, const attribute& a) { return a.owner ? *a.owner : lib; }
const class_record& class_of(const library& lib, const attribute& a) {
  return owner_of(lib, a).classes[std::size_t(a.type)];
}

// ---- Python to C: the value in a word, or the address of one

template <kind K>
bool from_integer(frame&, const attribute&, PyObject* object, word& out) {
  return integer_argument<K>(object, out);
}
bool from_f32(frame&, const attribute&, PyObject* object, word& out) {
  return float_argument(object, kind::f32, out);
}
bool from_enum(frame& c, const attribute& a, PyObject* object, word& out) {
  return enum_argument(object, owner_of(c.lib, a), a.type, out);
}

bool from_bool(frame&, const attribute&, PyObject* object, word& out) {
  int truth = PyObject_IsTrue(object);
  out = word(truth > 0);
  return truth >= 0;
}

// None is a null handle; but for an integer type with a class (cuuint64_t) it is no number.
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
    if (!item || !c.memory.retain(item) || !Convert(c, a, item, array[i])) return false;
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

template <class T, auto Make>
PyObject* to_number(const library&, const attribute&, const void* m, word) {
  return Make(load<T>(m));
}
constexpr auto to_u64 = to_number<word, PyLong_FromUnsignedLongLong>;

PyObject* to_enum(const library& lib, const attribute& a, const void* m, word) {
  return enum_member(lib, a.type, load<std::int32_t>(m));
}

PyObject* to_handle(const library& lib, const attribute& a, const void* m, word) {
  PyObject* handle = new_handle(owner_of(lib, a), a.type);
  if (handle) std::memcpy(&as_handle(handle)->value, m, class_of(lib, a).size);
  return handle;
}

PyObject* to_struct(const library& lib, const attribute& a, const void* m, word) {
  PyObject* object = new_struct(owner_of(lib, a), a.type);
  if (object) std::memcpy(as_storage(object)->data, m, class_of(lib, a).size);
  return object;
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

bool from_numpy_struct(frame& c, const attribute& a, PyObject* object, word& out) {
  return numpy_struct_argument(object, c.lib, a.type, out);
}

PyObject* to_numpy_struct(const library& lib, const attribute& a, const void* m, word) {
  PyObject* object = new_numpy_struct(lib, a.type);
  if (object)
    std::memcpy(as_numpy_struct(object)->data, m, lib.classes[std::size_t(a.type)].numpy->size);
  return object;
}

struct value_type {
  bool (*from)(frame&, const attribute&, PyObject*, word&);
  PyObject* (*to)(const library&, const attribute&, const void*, word);
  std::uint16_t bytes;  // 0: the size of the class
  bool is_address;      // `from` returns the address of the value
};

constexpr value_type types[] = {
    {from_integer<kind::i32>, to_number<std::int32_t, PyLong_FromLong>, 4, false},
    {from_integer<kind::u32>, to_number<std::uint32_t, PyLong_FromUnsignedLong>, 4, false},
    {from_integer<kind::u64>, to_u64, 8, false},
    {from_bool, to_number<unsigned char, PyBool_FromLong>, 1, false},
    {from_f32, to_number<float, PyFloat_FromDouble>, 4, false},
    {from_address, to_u64, 8, false},
    {from_text, to_text, longest_text, true},
    {from_buffer, to_text, longest_text, true},
    {from_list<from_integer<kind::i32>>, to_list, 4, true},
    {from_list<from_text>, to_u64, 8, true},
    {from_list<from_address>, to_u64, 8, true},
    {from_enum, to_enum, 4, false},
    {from_handle, to_handle, 0, false},
    {from_struct, to_struct, 0, true},
    {from_numpy_struct, to_numpy_struct, 0, true},
};
static_assert(std::size(types) == std::size_t(value_kind::numpy_struct) + 1);

const value_type& type_of(const attribute& a) { return types[int(a.k)]; }

const attribute* find(const attribute_table& table, std::int32_t member) {
  for (const attribute& a : table.attributes)
    if (std::int32_t(a.member) == member) return &a;
  return nullptr;
}

// Returns the type of the value of an attribute; nullptr with TypeError if it has none.
const attribute* type_of(frame& c, const param& p, std::int32_t member) {
  const attribute_table& table = c.lib.attributes[std::size_t(p.type)];
  if (const attribute* match = find(table, member)) return match;
  const reference name{enum_member(c.lib, table.enumeration, member)};
  if (name.get()) PyErr_Format(PyExc_TypeError, "Unsupported attribute: %R", name.get());
  if (p.py < 0) raise_for_argument(c.f, c.param_at(p.aux));  // an output has no name of its own
  return nullptr;
}

// Returns the list of enumerators in another parameter.
const std::int32_t* members_of(const frame& c, const param& p) {
  return reinterpret_cast<const std::int32_t*>(c.w[p.aux]);
}

word count_of(const frame& c, const param& p) { return c.value_of(c.param_at(p.aux).aux); }

// Checks that the list of attributes is not shorter than the count.
bool check_count(frame& c, const param& p) {
  word count = count_of(c, p);
  return count <= c.cell[p.aux] || raise_short(c.cell[p.aux], count);
}

// Longest list of device numbers in bytes. The Python list takes three times the size of the C
// array: an absurd size would use up the memory of the machine.
constexpr word longest_list = word(1) << 20;

void* reserve(frame& c, const attribute& a, word requested) {
  word bytes = value_size(c.lib, a) +
               (a.k == value_kind::structure || a.k == value_kind::numpy_struct ? struct_slack : 0);
  if (a.k == value_kind::list_i32 && requested > longest_list)
    return PyErr_Format(PyExc_ValueError, "%s(): a list of devices in %llu bytes, at most %llu",
                        c.f.name.c_str(), requested, longest_list);
  return c.memory.allocate_zeroed(requested > bytes ? requested : bytes);
}

}  // namespace

word value_size(const library& lib, const attribute& a) {
  word bytes = type_of(a).bytes;
  if (bytes) return bytes;
  const class_record& record = class_of(lib, a);
  return record.numpy ? record.numpy->size : record.size;
}

bool value_to_memory(frame& c, const attribute& a, PyObject* object, word& out, word& size) {
  size = value_size(c.lib, a);
  if (type_of(a).is_address) {
    if (!type_of(a).from(c, a, object, out)) return false;
    if (a.k == value_kind::text) size = std::strlen(reinterpret_cast<const char*>(out)) + 1;
    return true;
  }
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

bool attribute_argument(frame& c, int i, const param& p) {
  const attribute* a = type_of(c, p, std::int32_t(c.w[p.aux]));
  word size = 0;
  if (!a || !value_to_memory(c, *a, c.argument(p), c.w[i], size)) return false;
  if (p.has_size()) c.cell[p.size] = size;
  return true;
}

bool attribute_options_argument(frame& c, int i, const param& p) {
  PyObject* object = c.argument(p);
  c.w[i] = c.cell[i] = 0;
  if (!check_count(c, p)) return false;
  word count = count_of(c, p);
  if (object == Py_None && !count) return true;
  if (!PyList_Check(object) && !PyTuple_Check(object))
    return raise_expected("a list or tuple", object);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (count > word(n)) return raise_short(n, count);
  auto* values = static_cast<word*>(c.memory.allocate_zeroed(std::size_t(count) * sizeof(word)));
  if (!values) return false;
  c.w[i] = reinterpret_cast<word>(values);
  c.cell[i] = count;
  for (word k = 0; k < count; ++k) {
    const attribute* a = type_of(c, p, members_of(c, p)[k]);
    PyObject* value = a ? list_element(object, Py_ssize_t(k)) : nullptr;
    if (!value) return a && raise_short(word(k), count);
    if (!c.memory.retain(value)) return false;
    if (!option_to_word(c, *a, value, values[k])) return add_context("element %llu: ", k);
  }
  return true;
}

bool reserve_attribute_output(frame& c, int i, const param& p) {
  const attribute* a = type_of(c, p, std::int32_t(c.w[p.aux]));
  if (!a) return false;
  bool has_size = p.has_size() && c.param_at(p.size).k != kind::attribute_size;
  c.w[i] = reinterpret_cast<word>(reserve(c, *a, has_size ? c.value_of(p.size) : 0));
  if (p.has_size() && !has_size) c.cell[p.size] = value_size(c.lib, *a);
  return c.w[i] != 0;
}

PyObject* attribute_result(frame& c, int i, const param& p) {
  const attribute* a = type_of(c, p, std::int32_t(c.w[p.aux]));
  word bytes = p.has_size() ? c.value_of(p.size) : 0;
  return a ? value_from_memory(c.lib, *a, reinterpret_cast<void*>(c.w[i]), bytes) : nullptr;
}

bool reserve_attribute_outputs(frame& c, int i, const param& p) {
  if (!check_count(c, p)) return false;
  word count = count_of(c, p);
  auto** pointers =
      static_cast<void**>(c.memory.allocate_zeroed(std::size_t(count) * sizeof(void*)));
  if (!pointers) return false;
  c.w[i] = reinterpret_cast<word>(pointers);
  auto* sizes = p.has_size() ? reinterpret_cast<const word*>(c.w[p.size]) : nullptr;
  if (p.has_size() && count > c.cell[p.size]) return raise_short(Py_ssize_t(c.cell[p.size]), count);
  for (word k = 0; k < count; ++k) {
    const attribute* a = type_of(c, p, members_of(c, p)[k]);
    if (!a || !(pointers[k] = reserve(c, *a, sizes ? sizes[k] : 0))) return false;
  }
  return true;
}

PyObject* attribute_results(frame& c, int i, const param& p) {
  auto** pointers = reinterpret_cast<void**>(c.w[i]);
  auto* sizes = p.has_size() ? reinterpret_cast<const word*>(c.w[p.size]) : nullptr;
  auto count = Py_ssize_t(count_of(c, p));
  PyObject* list = PyList_New(count);
  for (Py_ssize_t k = 0; list && k < count; ++k) {
    const attribute* a = type_of(c, p, members_of(c, p)[k]);
    PyObject* value = a ? value_from_memory(c.lib, *a, pointers[k], sizes ? sizes[k] : 0) : nullptr;
    if (value) {
      PyList_SET_ITEM(list, k, value);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

}  // namespace halfwarp::bindings
