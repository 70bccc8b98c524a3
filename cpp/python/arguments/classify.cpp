// SPDX-License-Identifier: Apache-2.0
// Classifies types of NumPy, ctypes, cuda.bindings and the array libraries, without importing them.
#include <array>
#include <cstring>
#include <string_view>

#include "python/arguments/conversion.hpp"
#include "python/arguments/pack.hpp"
#include "python/names.hpp"

namespace halfwarp::python {
namespace {

// The properties of a NumPy scalar's dtype that packing needs.
struct scalar_type {
  char kind = 0;
  Py_ssize_t size = 0;
};

bool read_scalar_type(PyObject* scalar, scalar_type& result) noexcept {
  const reference dtype = attribute<"dtype">(scalar);
  const reference kind = dtype ? attribute<"kind">(dtype.get()) : reference{};
  const reference size = kind ? attribute<"itemsize">(dtype.get()) : reference{};
  if (!size || !PyUnicode_Check(kind.get()) || PyUnicode_GET_LENGTH(kind.get()) != 1) return false;
  result.kind = static_cast<char>(PyUnicode_READ_CHAR(kind.get(), 0));
  result.size = PyLong_AsSsize_t(size.get());
  return !PyErr_Occurred();
}

// There is no device type for long double, text and Python objects.
bool has_device_type(const scalar_type& type) noexcept {
  switch (type.kind) {
    case 'f':
      return type.size <= 8;
    case 'c':
      return type.size <= 16;
    default:
      return std::string_view{"biumMV"}.find(type.kind) != std::string_view::npos;
  }
}

integer_kind integer_kind_of(char kind) noexcept {
  if (kind == 'i') return integer_kind::signed_integer;
  return kind == 'u' ? integer_kind::unsigned_integer : integer_kind::none;
}

// Returns the offset of the exported bytes in the object itself, or 0 if they are outside of it.
std::size_t offset_within(PyObject* object, const Py_buffer& view) noexcept {
  const Py_ssize_t offset = static_cast<const char*>(view.buf) - reinterpret_cast<char*>(object);
  const bool is_within = offset >= static_cast<Py_ssize_t>(sizeof(PyObject)) &&
                         offset + view.len <= Py_TYPE(object)->tp_basicsize;
  return is_within ? static_cast<std::size_t>(offset) : 0;
}

// Lets later scalars of this type skip the lookup.
template <literal Name>
void register_common(common_scalar scalar, PyTypeObject* type) noexcept {
  const reference numpy_type = attribute_of_loaded<"numpy", Name>();
  if (numpy_type.get() == reinterpret_cast<PyObject*>(type)) {
    common_scalars[scalar].store(type, std::memory_order_relaxed);
  }
}

void register_common(PyTypeObject* type) noexcept {
  register_common<"float32">(common_float32, type);
  register_common<"int32">(common_int32, type);
  register_common<"int64">(common_int64, type);
  register_common<"uint64">(common_uint64, type);
  register_common<"float64">(common_float64, type);
}

// Returns whether the pointer at `offset` in the object refers to its exported bytes.
bool points_to(PyObject* value, std::size_t offset, const Py_buffer& bytes) noexcept {
  void* address = nullptr;
  std::memcpy(&address, reinterpret_cast<char*>(value) + offset, sizeof(address));
  return address == bytes.buf;
}

int classify_numpy_scalar(PyObject* value, conversion& result) noexcept {
  scalar_type type;
  if (!read_scalar_type(value, type)) return failed;
  if (!has_device_type(type)) return 0;
  const exported_buffer bytes{value};
  if (!bytes) return failed;
  result.kind = form::exported_bytes;
  if (derives_from(Py_TYPE(value), attribute_of_loaded<"numpy", "void">().get())) {
    // A numpy.void starts with its size and the address of its bytes. This is checked, too.
    if (points_to(value, sizeof(PyVarObject), *bytes) && Py_SIZE(value) == bytes->len) {
      result = {form::structured_value, 0, sizeof(PyVarObject), integer_kind::none};
    }
    return 1;
  }
  const std::size_t offset = offset_within(value, *bytes);
  if (offset == 0 || bytes->len != type.size || type.size > 16) return 1;
  result = {form::stored_value, static_cast<std::uint8_t>(type.size),
            static_cast<std::uint8_t>(offset), integer_kind_of(type.kind)};
  if (offset == sizeof(PyObject)) register_common(Py_TYPE(value));
  return 1;
}

struct ctypes_code {
  char code;  // the class's _type_
  std::uint8_t size;
  integer_kind integer;
};

// Intentionally without strings, Python objects and long double.
constexpr std::array ctypes_codes{
    ctypes_code{'?', sizeof(bool), integer_kind::none},
    ctypes_code{'c', sizeof(char), integer_kind::none},
    ctypes_code{'b', sizeof(char), integer_kind::signed_integer},
    ctypes_code{'B', sizeof(char), integer_kind::unsigned_integer},
    ctypes_code{'h', sizeof(short), integer_kind::signed_integer},
    ctypes_code{'H', sizeof(short), integer_kind::unsigned_integer},
    ctypes_code{'i', sizeof(int), integer_kind::signed_integer},
    ctypes_code{'I', sizeof(int), integer_kind::unsigned_integer},
    ctypes_code{'l', sizeof(long), integer_kind::signed_integer},
    ctypes_code{'L', sizeof(long), integer_kind::unsigned_integer},
    ctypes_code{'q', sizeof(long long), integer_kind::signed_integer},
    ctypes_code{'Q', sizeof(long long), integer_kind::unsigned_integer},
    ctypes_code{'f', sizeof(float), integer_kind::none},
    ctypes_code{'d', sizeof(double), integer_kind::none},
    ctypes_code{'P', sizeof(void*), integer_kind::none},
};

const ctypes_code* find_code(PyTypeObject* type) noexcept {
  const reference code = attribute<"_type_">(reinterpret_cast<PyObject*>(type));
  if (!code || !PyUnicode_Check(code.get()) || PyUnicode_GET_LENGTH(code.get()) != 1) {
    PyErr_Clear();
    return nullptr;
  }
  const Py_UCS4 letter = PyUnicode_READ_CHAR(code.get(), 0);
  for (const ctypes_code& known : ctypes_codes) {
    if (static_cast<Py_UCS4>(known.code) == letter) return &known;
  }
  return nullptr;
}

// Returns whether the type is byte-swapped, like c_int.__ctype_be__.
bool is_byte_swapped(PyTypeObject* type) noexcept {
  const reference native = attribute<"__ctype_le__">(reinterpret_cast<PyObject*>(type));
  PyErr_Clear();  // c_void_p and c_bool have no byte order
  return native && !derives_from(type, native.get());
}

// A ctypes object starts with the address of its value. No header documents this, so it is checked.
int set_ctypes_value(PyObject* value, std::size_t size, integer_kind integer,
                     conversion& result) noexcept {
  const exported_buffer bytes{value};
  if (!bytes) return failed;
  result.kind = form::exported_bytes;
  if (points_to(value, sizeof(PyObject), *bytes) && bytes->len == static_cast<Py_ssize_t>(size)) {
    result = {form::pointed_value, static_cast<std::uint8_t>(size), sizeof(PyObject), integer};
  }
  return 1;
}

// Returns the size of the instances of a ctypes class, or 0 if a conversion cannot have it.
// `ctypes.resize` can only increase the size of one instance.
std::size_t size_of_class(PyTypeObject* type) noexcept {
  const reference size_of = attribute_of_loaded<"_ctypes", "sizeof">();
  const reference size{
      size_of ? PyObject_CallOneArg(size_of.get(), reinterpret_cast<PyObject*>(type)) : nullptr};
  const Py_ssize_t bytes = size ? PyLong_AsSsize_t(size.get()) : 0;
  PyErr_Clear();
  return bytes > 0 && bytes <= UINT8_MAX ? static_cast<std::size_t>(bytes) : 0;
}

template <literal Name>
bool derives_from_ctypes(PyTypeObject* type) noexcept {
  return derives_from(type, attribute_of_loaded<"_ctypes", Name>().get());
}

template <literal Module>
bool is_attribute_of(PyObject* type, PyObject* name) noexcept {
  return attribute_of_loaded(interned<Module>(), name).get() == type;
}

// Returns the class of cuda.bindings that `type` is or derives from, else null. Its classes are
// static types and attributes of their modules. The attribute must be the class itself, since any
// class may have the same name.
PyTypeObject* bindings_base(PyTypeObject* type) noexcept {
  while (type != nullptr && type->tp_flags & Py_TPFLAGS_HEAPTYPE) type = type->tp_base;
  auto* const object = reinterpret_cast<PyObject*>(type);
  const reference name = type != nullptr ? attribute<"__name__">(object) : reference{};
  if (!name) PyErr_Clear();
  const bool is_known = name && (is_attribute_of<"cuda.bindings.driver">(object, name.get()) ||
                                 is_attribute_of<"cuda.bindings.runtime">(object, name.get()) ||
                                 is_attribute_of<"cuda.bindings.nvrtc">(object, name.get()));
  return is_known ? type : nullptr;
}

}  // namespace

int classify_numpy(PyObject* value, conversion& result) noexcept {
  if (derives_from(Py_TYPE(value), attribute_of_loaded<"numpy", "ndarray">().get())) {
    result.kind = form::numpy_array;
    return 1;
  }
  if (!derives_from(Py_TYPE(value), attribute_of_loaded<"numpy", "generic">().get())) return 0;
  return classify_numpy_scalar(value, result);
}

int classify_ctypes(PyObject* value, conversion& result) noexcept {
  PyTypeObject* const type = Py_TYPE(value);
  if (derives_from_ctypes<"_SimpleCData">(type)) {
    const ctypes_code* const code = find_code(type);
    if (code == nullptr || is_byte_swapped(type)) return 0;
    return set_ctypes_value(value, code->size, code->integer, result);
  }
  if (derives_from_ctypes<"_Pointer">(type)) {
    return set_ctypes_value(value, sizeof(void*), integer_kind::none, result);
  }
  if (!derives_from_ctypes<"Structure">(type) && !derives_from_ctypes<"Union">(type) &&
      !derives_from_ctypes<"Array">(type)) {
    return 0;
  }
  return set_ctypes_value(value, size_of_class(type), integer_kind::none, result);
}

int classify_bindings(PyObject* value, conversion& result) noexcept {
  const PyTypeObject* const type = bindings_base(Py_TYPE(value));
  if (type == nullptr || !class_has<"getPtr">(value)) return 0;
  // A handle stores its value and the value's address; a struct of the C API exports its bytes.
  constexpr Py_ssize_t handle_size = sizeof(PyObject) + 2 * sizeof(void*);
  if (type->tp_basicsize == handle_size) {
    result = {form::pointed_value, sizeof(void*), sizeof(PyObject) + sizeof(void*),
              integer_kind::none};
    return 1;
  }
  result.kind = form::exported_bytes;
  return PyObject_CheckBuffer(value);
}

int classify_array(PyObject* value, conversion& result) noexcept {
  if (derives_from(Py_TYPE(value), attribute_of_loaded<"torch", "Tensor">().get())) {
    result.kind = form::torch_tensor;
  } else if (derives_from(Py_TYPE(value), attribute_of_loaded<"cupy", "ndarray">().get())) {
    result.kind = form::cupy_array;
  } else if (class_has<"__cuda_array_interface__">(value)) {
    result.kind = form::array_interface;
  } else if (class_has<"__dlpack_device__">(value)) {
    result.kind = form::dlpack;
  } else {
    return 0;
  }
  return 1;
}

}  // namespace halfwarp::python
