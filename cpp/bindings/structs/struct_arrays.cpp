// SPDX-License-Identifier: Apache-2.0
// Array fields of struct objects.
#include "bindings/structs/structs.hpp"

#include <climits>
#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/objects/keep_alive.hpp"
#include "bindings/objects/object_arguments.hpp"

namespace halfwarp::bindings {
namespace {

int element_size(const library& lib, const field& f) {
  if (f.element <= kind::f64) return number_size(f.element);
  return f.element == kind::enumeration ? 4 : lib.classes[f.type].size;
}

// Reads a struct element: a copy of an element of an inline array, as in the reference; a view of
// an element of an array behind a pointer.
PyObject* read_structure(const library& lib, const field& f, PyObject* owner, char* data) {
  if (f.k == kind::field_pointer_list) return new_struct_view(lib, f.type, data, owner);
  PyObject* object = new_struct(lib, f.type);
  if (object && copy_struct(as_storage(object), as_storage(object)->data, as_storage(owner), data,
                            lib.classes[f.type].size) < 0)
    Py_CLEAR(object);
  return object;
}

PyObject* read_element(const library& lib, const field& f, PyObject* owner, char* data) {
  if (f.element <= kind::f64) return read_number(f.element, data);
  if (f.element == kind::enumeration)
    return enum_member(lib, f.type, *reinterpret_cast<std::int32_t*>(data));
  if (f.element == kind::structure) return read_structure(lib, f, owner, data);
  return new_handle_view(lib, f.type, data, owner);
}

// Writes an element into memory of `target`. A struct also copies its referents.
int write_element(const library& lib, const field& f, PyObject* target, char* data,
                  PyObject* value) {
  if (f.element <= kind::f64) return write_number(f.element, data, value);
  word converted;
  if (f.element == kind::structure) {
    if (!structure_argument(value, lib, f.type, false, converted)) return failed;
    return copy_struct(as_storage(target), data, as_struct(value),
                       reinterpret_cast<void*>(converted), lib.classes[f.type].size);
  }
  bool ok = f.element == kind::enumeration ? enum_argument(value, lib, f.type, converted)
                                           : handle_slow(value, lib, f.type, converted);
  if (ok) store(data, converted, element_size(lib, f));
  return ok ? 0 : failed;
}

PyObject* read_elements(const library& lib, const field& f, PyObject* owner, char* data,
                        Py_ssize_t n) {
  PyObject* list = PyList_New(n);
  int size = element_size(lib, f);
  for (Py_ssize_t i = 0; list && i < n; ++i) {
    PyObject* item = read_element(lib, f, owner, data + i * size);
    if (item) {
      PyList_SET_ITEM(list, i, item);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

int write_elements(const library& lib, const field& f, PyObject* target, char* data,
                   PyObject* sequence) {
  int size = element_size(lib, f);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    const reference item{Py_NewRef(PySequence_Fast_GET_ITEM(sequence, i))};
    int status = write_element(lib, f, target, data + i * size, item);
    if (status < 0) return failed;
  }
  return 0;
}

// Copies the elements into a tuple, so that code that runs during the conversion cannot change
// their number.
PyObject* frozen(PyObject* value, const char* expected = "a sequence") {
  bool is_iterable = Py_TYPE(value)->tp_iter || PySequence_Check(value);
  if (is_iterable && !PyUnicode_Check(value)) return PySequence_Tuple(value);
  return raise_expected(expected, value);
}

Py_ssize_t array_length(const library& lib, const field& f) {
  return f.size / element_size(lib, f);
}

// Gathers the elements in a block first. A rejected value then leaves the field unchanged, and
// views of the field are read before it is written.
int write_exact(const library& lib, const field& f, PyObject* self, char* data, PyObject* items) {
  Py_ssize_t n = array_length(lib, f);
  if (PyTuple_GET_SIZE(items) != n)
    return raise_error(PyExc_IndexError, "expected %zd elements, got %zd", n,
                       PyTuple_GET_SIZE(items));
  const reference block{new_memory_block(f.size)};
  if (!block) return failed;
  auto* gathered = as_block(block)->data;
  int status = write_elements(lib, f, block, gathered, items);
  if (status == 0)
    status = copy_struct(as_storage(self), data, as_storage(block), gathered, f.size);
  return status;
}

}  // namespace

PyObject* read_array(const library& lib, const field& f, PyObject* self, char* data) {
  return read_elements(lib, f, self, data, array_length(lib, f));
}

int write_array(const library& lib, const field& f, PyObject* self, char* data, PyObject* value) {
  const reference items{frozen(value)};
  if (!items) return failed;
  return write_exact(lib, f, self, data, items);
}

PyObject* read_bytes(const library&, const field& f, PyObject*, char* data) {
  return PyBytes_FromStringAndSize(data, f.size);
}

PyObject* read_text(const library&, const field& f, PyObject*, char* data) {
  const void* end = std::memchr(data, 0, f.size);
  return PyBytes_FromStringAndSize(data, end ? static_cast<const char*>(end) - data : f.size);
}

namespace {

// Accepts the ranges of both signed and unsigned C characters.
bool store_character(PyObject* item, char& out) {
  word value;
  if (!integer_argument<kind::i16>(item, value)) return false;
  auto number = std::int64_t(value);
  out = char(number);
  if (number >= SCHAR_MIN && number <= UCHAR_MAX) return true;
  return raise_error(PyExc_OverflowError, "%lld does not fit char (%d to %d)", number, SCHAR_MIN,
                     UCHAR_MAX);
}

PyObject* characters_of(PyObject* value) {
  if (PyObject_CheckBuffer(value)) return PyBytes_FromObject(value);
  const reference items{frozen(value, "bytes or a sequence of integers")};
  Py_ssize_t n = items ? PyTuple_GET_SIZE(items.get()) : 0;
  PyObject* bytes = items ? PyBytes_FromStringAndSize(nullptr, n) : nullptr;
  for (Py_ssize_t i = 0; bytes && i < n; ++i)
    if (!store_character(PyTuple_GET_ITEM(items.get(), i), PyBytes_AS_STRING(bytes)[i]))
      Py_CLEAR(bytes);
  return bytes;
}

}  // namespace

int write_bytes(const library&, const field& f, PyObject*, char* data, PyObject* value) {
  const reference bytes{characters_of(value)};
  if (!bytes) return failed;
  Py_ssize_t n = PyBytes_GET_SIZE(bytes.get());
  bool fits = n == f.size || (f.k == kind::field_text && n < f.size);
  if (fits) {
    std::memset(data, 0, f.size);
    std::memcpy(data, PyBytes_AS_STRING(bytes.get()), std::size_t(n));
  } else {
    PyErr_Format(PyExc_ValueError, "expected %d bytes, got %zd", int(f.size), n);
  }
  return fits ? 0 : failed;
}

namespace {

// Longest array that the library allocates. The count field may hold another member of a union: no
// node has more graphs than this.
constexpr Py_ssize_t longest_library_array = 4096;

// Creates the array of a library-allocated field that is still null; the previous field has the
// length.
PyObject* new_library_array(const library& lib, const field& f, PyObject* self, const char* data) {
  const reference count{load<word>(data) ? nullptr : read_field(lib, (&f)[-1], self)};
  Py_ssize_t n = count ? PyLong_AsSsize_t(count) : 0;
  bool is_length = n > 0 && n <= longest_library_array;
  return is_length ? new_memory_block(std::size_t(n * element_size(lib, f))) : nullptr;
}

}  // namespace

PyObject* read_pointer_list(const library& lib, const field& f, PyObject* self, char* data) {
  PyObject* retained = retained_for_field(as_storage(self), data);
  bool is_pending = !retained && !PyErr_Occurred() && f.f & read_only;
  const reference block{is_pending ? new_library_array(lib, f, self, data) : retained};
  if (!block && PyErr_Occurred()) return nullptr;
  // in a union, the referent may belong to another member
  bool has_elements = block && is_memory_block(block);
  Py_ssize_t n = has_elements ? Py_ssize_t(as_block(block)->size) / element_size(lib, f) : 0;
  char* elements = has_elements ? as_block(block)->data : nullptr;
  return read_elements(lib, f, block, elements, n);
}

int write_pointer_list(const library& lib, const field& f, PyObject* self, char* data,
                       PyObject* value) {
  const reference items{value == Py_None ? PyTuple_New(0) : frozen(value)};
  if (!items) return failed;
  Py_ssize_t n = PyTuple_GET_SIZE(items.get());
  reference block{n ? new_memory_block(std::size_t(n * element_size(lib, f))) : nullptr};
  char* elements = block ? as_block(block)->data : nullptr;
  if (n && (!block || write_elements(lib, f, block, elements, items) < 0)) return failed;
  return point_field(self, data, reinterpret_cast<word>(elements), block.release());
}

}  // namespace halfwarp::bindings
