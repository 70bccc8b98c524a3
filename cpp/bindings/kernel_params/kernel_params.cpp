// SPDX-License-Identifier: Apache-2.0
// Packs kernel parameters: the array of pointers, then the values, in one block of memory. A ctypes
// type is recognized by its address, in order of frequency.
#include "bindings/kernel_params/kernel_params.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/objects/keep_alive.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {

PyObject* pointer_ctype;

namespace {

using converter = bool (*)(PyObject* value, PyObject* type, void* cell);

struct ctype {
  const char* name;
  converter convert;
};

bool convert_pointer(PyObject*, PyObject*, void*);
bool convert_float(PyObject*, PyObject*, void*);
bool convert_double(PyObject*, PyObject*, void*);
bool convert_bool(PyObject*, PyObject*, void*);
template <kind K>
bool convert_checked(PyObject*, PyObject*, void*);
template <class Character>
bool convert_by_ctypes(PyObject*, PyObject*, void*);

// c_longlong, c_ulonglong and c_size_t are aliases of c_long and c_ulong where those have 64 bits.
// Elsewhere they are distinct types, so all names are looked up.
constexpr ctype ctypes[] = {
    {"c_void_p", convert_pointer},
    {"c_int", convert_checked<kind::i32>},
    {"c_float", convert_float},
    {"c_size_t", convert_checked<kind::u64>},
    {"c_uint", convert_checked<kind::u32>},
    {"c_double", convert_double},
    {"c_longlong", convert_checked<kind::i64>},
    {"c_ulonglong", convert_checked<kind::u64>},
    {"c_long", convert_checked<sizeof(long) == 8 ? kind::i64 : kind::i32>},
    {"c_ulong", convert_checked<sizeof(long) == 8 ? kind::u64 : kind::u32>},
    {"c_bool", convert_bool},
    {"c_byte", convert_checked<kind::i8>},
    {"c_ubyte", convert_checked<kind::u8>},
    {"c_short", convert_checked<kind::i16>},
    {"c_ushort", convert_checked<kind::u16>},
    {"c_char", convert_by_ctypes<char>},
    {"c_wchar", convert_by_ctypes<wchar_t>},
};
constexpr int count = std::size(ctypes);
PyObject* types[count];    // type objects of the module ctypes; loaded on first use
PyObject* structure_type;  // ctypes.Structure
PyObject* union_type;      // ctypes.Union
bool are_loaded;

bool load_ctype(PyObject* module, const char* name, PyObject** slot) {
  if (published(slot)) return true;
  PyObject* type = PyObject_GetAttrString(module, name);
  return type && publish(slot, type);
}

bool load_ctypes() {
  const reference module{PyImport_ImportModule("ctypes")};
  if (!module) return false;
  bool ok =
      load_ctype(module, "Structure", &structure_type) && load_ctype(module, "Union", &union_type);
  for (int i = 0; ok && i < count; ++i) ok = load_ctype(module, ctypes[i].name, &types[i]);
  ok = ok && load_ctype(module, ctypes[0].name, &pointer_ctype);
  __atomic_store_n(&are_loaded, ok, __ATOMIC_RELEASE);
  return ok;
}

bool raise_value(PyObject* value, const char* type) {
  return raise_error(PyExc_TypeError, "%s cannot be passed as %s", Py_TYPE(value)->tp_name, type);
}

bool copy_bytes(PyObject* value, void* cell, std::size_t bytes) {
  Py_buffer view;
  if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) return false;
  std::memcpy(cell, view.buf, std::min(std::size_t(view.len), bytes));
  PyBuffer_Release(&view);
  return true;
}

// Returns the result of `getPtr()` of an object.
bool call_get_ptr(PyObject* value, word& address) {
  // interned, because CPython finds only such names in its cache of methods
  static PyObject* const name = PyUnicode_InternFromString("getPtr");
  const reference answer{name ? PyObject_CallMethodNoArgs(value, name) : PyErr_NoMemory()};
  return answer && integer_argument<kind::u64>(answer, address);
}

// Returns the result of `getPtr()` of a class of cuda.bindings or of an object.
bool get_ptr(PyObject* value, word& address) {
  if (any_class_of(value)) return address = reinterpret_cast<word>(address_of(value)), true;
  return call_get_ptr(value, address);
}

bool convert_pointer(PyObject* value, PyObject* type, void* cell) {
  word address;
  if (PyLong_Check(value)) {
    if (!integer_argument<kind::u64>(value, address)) return false;
  } else if (PyObject_TypeCheck(value, reinterpret_cast<PyTypeObject*>(type))) {
    return copy_bytes(value, cell, sizeof address);
  } else if (PyIndex_Check(value) && !any_class_of(value)) {
    if (!integer_argument<kind::u64>(value, address)) return false;
  } else if (!get_ptr(value, address)) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
    PyErr_Clear();
    return raise_value(value, "c_void_p");
  }
  std::memcpy(cell, &address, sizeof address);
  return true;
}

bool is_instance_of(PyObject* value, PyObject* type) {
  return PyObject_TypeCheck(value, reinterpret_cast<PyTypeObject*>(type));
}

bool as_double(PyObject* value, PyObject* type, double& number) {
  number = PyFloat_AsDouble(value);
  if (number != -1.0 || !PyErr_Occurred()) return true;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Clear();
  return raise_value(value, reinterpret_cast<PyTypeObject*>(type)->tp_name);
}

bool convert_float(PyObject* value, PyObject* type, void* cell) {
  double number;
  if (PyFloat_CheckExact(value)) [[likely]] {
    number = PyFloat_AS_DOUBLE(value);
  } else if (is_instance_of(value, type)) {
    return copy_bytes(value, cell, sizeof(float));
  } else if (!as_double(value, type, number)) {
    return false;
  }
  float narrow = float(number);
  std::memcpy(cell, &narrow, sizeof narrow);
  return true;
}

// Converts to a double; a c_float is widened.
bool convert_double(PyObject* value, PyObject* type, void* cell) {
  double number;
  if (PyFloat_CheckExact(value)) [[likely]] {
    number = PyFloat_AS_DOUBLE(value);
  } else if (is_instance_of(value, type)) {
    return copy_bytes(value, cell, sizeof(double));
  } else if (is_instance_of(value, types[2])) {
    float narrow;
    if (!copy_bytes(value, &narrow, sizeof narrow)) return false;
    number = narrow;
  } else if (!as_double(value, type, number)) {
    return false;
  }
  std::memcpy(cell, &number, sizeof number);
  return true;
}

bool convert_bool(PyObject* value, PyObject* type, void* cell) {
  if (is_instance_of(value, type)) return copy_bytes(value, cell, sizeof(bool));
  int truth = PyObject_IsTrue(value);
  if (truth < 0) return false;
  *static_cast<bool*>(cell) = truth;
  return true;
}

template <kind K>
bool convert_checked(PyObject* value, PyObject* type, void* cell) {
  word converted;
  if (PyLong_Check(value) ? integer_argument<K>(value, converted)
                          : !is_instance_of(value, type) && PyIndex_Check(value) &&
                                integer_slow(value, K, converted)) {
    store(cell, converted, number_size(K));
    return true;
  }
  if (PyErr_Occurred()) return false;
  if (is_instance_of(value, type)) return copy_bytes(value, cell, std::size_t(number_size(K)));
  return raise_value(value, reinterpret_cast<PyTypeObject*>(type)->tp_name);
}

template <class Character>
bool convert_by_ctypes(PyObject* value, PyObject* type, void* cell) {
  PyObject* instance =
      is_instance_of(value, type) ? Py_NewRef(value) : PyObject_CallOneArg(type, value);
  bool ok = instance && copy_bytes(instance, cell, sizeof(Character));
  Py_XDECREF(instance);
  return ok;
}

bool is_ctypes_structure(PyObject* value) {
  return is_instance_of(value, structure_type) || is_instance_of(value, union_type);
}

// Whether a ctypes object is a scalar of a type in the table. Byte-swapped scalars have other
// types.
bool is_ctypes_scalar(PyObject* value) {
  PyTypeObject* const scalar_type = reinterpret_cast<PyTypeObject*>(types[0])->tp_base;
  if (!PyObject_TypeCheck(value, scalar_type)) return false;
  for (PyObject* type : types)
    if (is_instance_of(value, type)) return true;
  return false;
}

// Passes the memory of a ctypes object, which is fixed for the lifetime of the object.
bool point_to_memory(PyObject* value, void*& pointer) {
  Py_buffer view;
  if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) return false;
  pointer = view.buf;
  PyBuffer_Release(&view);
  return true;
}

// Packs a value without a type: its own memory is the parameter.
bool pack_in_place(PyObject* value, void* cell, void*& pointer) {
  if (is_ctypes_structure(value)) return point_to_memory(value, pointer);
  if (any_class_of(value)) return pointer = address_of(value), true;
  if (is_enum_member(value)) {
    word number;
    if (!integer_slow(value, kind::enumeration, number)) return false;
    store(cell, number, sizeof(std::int32_t));
    return true;
  }
  if (is_ctypes_scalar(value)) return point_to_memory(value, pointer);
  word address;
  if (call_get_ptr(value, address)) return pointer = reinterpret_cast<void*>(address), true;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
  PyErr_Clear();
  return raise_error(PyExc_TypeError,
                     "%s needs a ctypes type in `types` (None is for handles, structs, enums and "
                     "objects of ctypes)",
                     Py_TYPE(value)->tp_name);
}

// Packs a value of a type that is not known so far. Out of line: inlined, it would make the common
// path save registers.
[[gnu::noinline]] bool pack_other(PyObject* value, PyObject* type, word& cell, void*& pointer) {
  if (!__atomic_load_n(&are_loaded, __ATOMIC_ACQUIRE))
    return load_ctypes() && pack_slow(value, type, cell, pointer);
  if (type == Py_None) return pack_in_place(value, &cell, pointer);
  return raise_error(PyExc_TypeError,
                     "Unsupported type: %R (a scalar type of ctypes or None is accepted)", type);
}

// Parts of the argument `(values, types)`.
struct typed_values {
  PyObject *values, *types;
  Py_ssize_t count;

  bool parse(PyObject* pair) {
    if (PyTuple_GET_SIZE(pair) == 2) [[likely]] {
      values = PyTuple_GET_ITEM(pair, 0);
      types = PyTuple_GET_ITEM(pair, 1);
      if (PyTuple_Check(values) && PyTuple_Check(types)) [[likely]] {
        count = PyTuple_GET_SIZE(values);
        if (count == PyTuple_GET_SIZE(types)) return true;
      }
    }
    return raise_error(PyExc_TypeError, "expected (values, types): two tuples of equal length");
  }

  std::size_t bytes() const { return std::size_t(count) * (sizeof(void*) + sizeof(word)); }
};

// Packs each value into 8 aligned bytes, which aligns every type.
bool pack(const typed_values& pair, void* memory) {
  auto** pointers = static_cast<void**>(memory);
  auto* cells = reinterpret_cast<word*>(pointers + pair.count);
  PyObject** values = &PyTuple_GET_ITEM(pair.values, 0);
  PyObject** types = &PyTuple_GET_ITEM(pair.types, 0);
  for (Py_ssize_t i = 0; i < pair.count; ++i) {
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

// Converts an argument that is no `(values, types)` tuple.
bool untyped_argument(PyObject* object, scratch& memory, word& out) {
  if (is_plain_address(object)) return address_argument(object, memory, out);
  if (const Py_buffer* view = memory.view(object))
    return out = reinterpret_cast<word>(view->buf), true;
  return no_such_buffer() && raise_expected_form(object);
}

}  // namespace

bool pack_slow(PyObject* value, PyObject* type, word& cell, void*& pointer) {
  for (int i = 0; i < count && type != Py_None; ++i)
    if (__atomic_load_n(&types[i], __ATOMIC_RELAXED) == type)
      return ctypes[i].convert(value, type, &cell);
  return pack_other(value, type, cell, pointer);
}

bool kernel_params_argument(PyObject* object, scratch& memory, word& out) {
  if (!PyTuple_Check(object)) return untyped_argument(object, memory, out);
  typed_values pair;
  if (!pair.parse(object)) return false;
  void* packed = memory.allocate(pair.bytes());
  out = reinterpret_cast<word>(packed);
  return packed && (!pair.count || pack(pair, packed));
}

bool kernel_params_block(PyObject* object, word& out, PyObject*& block) {
  scratch memory;
  if (is_plain_address(object)) return address_argument(object, memory, out);
  if (!PyTuple_Check(object)) {
    if (!(block = exported_view(object))) return !PyErr_Occurred() && raise_expected_form(object);
    out = reinterpret_cast<word>(PyMemoryView_GET_BUFFER(block)->buf);
    return true;
  }
  typed_values pair;
  if (!pair.parse(object) || !(block = new_memory_block(pair.bytes()))) return false;
  // retain the values: some parameters point into their memory
  as_storage(block)->refs = Py_BuildValue("{i:O}", -1, pair.values);
  bool ok = as_storage(block)->refs && pack(pair, as_block(block)->data);
  out = reinterpret_cast<word>(as_block(block)->data);
  if (!ok) Py_CLEAR(block);
  return ok;
}

}  // namespace halfwarp::bindings
