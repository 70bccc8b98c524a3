// SPDX-License-Identifier: Apache-2.0
// Fields of NumPy structs by form, including pointers to arrays with a count field.
#include "bindings/numpy_structs/numpy_struct_fields.hpp"

#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/field_properties.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

// Computes the extent of a field over all structs of the object, with one more dimension for an
// array field.
bool column_of(const numpy_field& f, PyObject* self, Py_ssize_t n, extent& out) {
  out = is_single(as_numpy_struct(self)) && !numpy_record_of(self).is_array
            ? extent{}
            : as_numpy_struct(self)->e;
  if (!f.is_array || out.append(n, f.size)) return true;
  return raise_error(PyExc_ValueError, "index before reading '%s': too many dimensions",
                     f.name.c_str());
}

PyObject* numbers_view(const numpy_field& f, PyObject* self, Py_ssize_t n) {
  extent e;
  if (!column_of(f, self, n, e)) return nullptr;
  return new_typed_view(f.element, data_of(f, self), e, memory_owner(self),
                        as_numpy_struct(self)->is_read_only);
}

// --- numbers -------------------------------------------------------------------------------------

PyObject* read_plain(const library&, const numpy_field& f, PyObject* self) {
  if (is_single(as_numpy_struct(self))) return read_number(f.element, data_of(f, self));
  return numbers_view(f, self, 1);
}

int write_plain(const library&, const numpy_field& f, PyObject* self, PyObject* value) {
  return assign_numbers(f.element, as_numpy_struct(self)->e, data_of(f, self), value);
}

PyObject* read_numbers(const library&, const numpy_field& f, PyObject* self) {
  return numbers_view(f, self, counted(f, self));
}

int reject_length(const numpy_field& f, Py_ssize_t n) {
  return raise_error(PyExc_ValueError,
                     !f.has_counter() && f.shape != form::bytes
                         ? "Expected length %zd for field %s, got %zd"
                         : "Expected length of at most %zd for field %s, got %zd",
                     Py_ssize_t(f.count), f.name.c_str(), n);
}

int write_numbers(const library&, const numpy_field& f, PyObject* self, PyObject* value) {
  Py_ssize_t n = PyObject_Size(value);
  if (n < 0) return failed;
  bool is_one = is_single(as_numpy_struct(self));
  if (f.has_counter() ? n > Py_ssize_t(f.count) : is_one && n != Py_ssize_t(f.count))
    return reject_length(f, n);
  extent e = is_one ? extent{} : as_numpy_struct(self)->e;
  e.append(f.has_counter() ? n : f.count, f.size);
  if (assign_numbers(f.element, e, data_of(f, self), value) < 0) return failed;
  return set_counter(f, self, n);
}

// --- addresses -----------------------------------------------------------------------------------

// Stores an integer, or the address of a NumPy struct.
int write_address(const library&, const numpy_field& f, PyObject* self, PyObject* value) {
  class_type* type = any_class_of(value);
  if (!type || !type->record->numpy || as_numpy_struct(self)->e.elements() != 1) {
    if (value == Py_None) return point_field(self, data_of(f, self), 0, nullptr);
    return assign_numbers(kind::i64, as_numpy_struct(self)->e, data_of(f, self), value);
  }
  auto address = reinterpret_cast<word>(as_numpy_struct(value)->data);
  return point_field(self, data_of(f, self), address, Py_NewRef(value));
}

// --- text ----------------------------------------------------------------------------------------

PyObject* decode(const char* text, Py_ssize_t n) {
  return PyUnicode_DecodeUTF8(text, n, "surrogateescape");
}

PyObject* read_text(const library&, const numpy_field& f, PyObject* self) {
  bool is_text = !numpy_record_of(self).is_array && is_single(as_numpy_struct(self));
  return is_text ? text_at(f, data_of(f, self)) : numbers_view(f, self, f.count);
}

int write_characters(const numpy_field& f, char* data, PyObject* value) {
  const reference bytes{PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape")};
  if (!bytes) return failed;
  auto n = std::size_t(PyBytes_GET_SIZE(bytes.get()));
  bool fits = n < f.count;
  if (fits) {
    std::memset(data, 0, f.count);
    std::memcpy(data, PyBytes_AS_STRING(bytes.get()), n);
  } else {
    PyErr_Format(PyExc_ValueError, "String too long for field %s, max length is %zd",
                 f.name.c_str(), Py_ssize_t(f.count) - 1);
  }
  return fits ? 0 : failed;
}

int write_text(const library& lib, const numpy_field& f, PyObject* self, PyObject* value) {
  if (!PyUnicode_Check(value)) {
    if (!is_single(as_numpy_struct(self)) || numpy_record_of(self).is_array)
      return write_numbers(lib, f, self, value);
    return raise_expected("str", value);
  }
  return for_each_element(as_numpy_struct(self)->e, data_of(f, self),
                          [&](char* at) { return write_characters(f, at, value) == 0; })
             ? 0
             : failed;
}

PyObject* read_text_pointer(const library&, const numpy_field& f, PyObject* self) {
  address_lock lock{as_storage(self)};
  const char* text;
  std::memcpy(&text, data_of(f, self), sizeof text);
  return decode(text ? text : "", text ? Py_ssize_t(std::strlen(text)) : 0);
}

int write_text_pointer(const library&, const numpy_field& f, PyObject* self, PyObject* value) {
  if (value != Py_None && !PyUnicode_Check(value)) return raise_expected("str", value);
  PyObject* bytes = value == Py_None ? nullptr : PyUnicode_AsUTF8String(value);
  if (value != Py_None && !bytes) return failed;
  const char* text = bytes ? PyBytes_AS_STRING(bytes) : nullptr;
  return point_field(self, data_of(f, self), reinterpret_cast<word>(text), bytes);
}

PyObject* read_bytes(const library&, const numpy_field& f, PyObject* self) {
  return PyBytes_FromStringAndSize(data_of(f, self), Py_ssize_t(f.count));
}

int write_bytes(const library&, const numpy_field& f, PyObject* self, PyObject* value) {
  char* bytes;
  Py_ssize_t n;
  if (PyBytes_AsStringAndSize(value, &bytes, &n) < 0) return failed;
  if (n > Py_ssize_t(f.count)) return reject_length(f, n);
  std::memset(data_of(f, self), 0, f.count);
  std::memcpy(data_of(f, self), bytes, std::size_t(n));
  return 0;
}

// --- structs -------------------------------------------------------------------------------------

PyObject* read_structure(const library& lib, const numpy_field& f, PyObject* self) {
  numpy_struct_object* object = as_numpy_struct(self);
  const numpy_record& inner = *lib.classes[std::size_t(f.type)].numpy;
  bool is_plain = is_single(object) && (!numpy_record_of(self).is_array || f.has_counter());
  numpy_struct_view view{data_of(f, self), {}, memory_owner(self), object->is_read_only, !is_plain};
  if (is_plain) {
    view.e = f.is_array ? extent::line(counted(f, self), f.size) : extent_of_one(inner);
  } else if (!column_of(f, self, f.count, view.e)) {
    return nullptr;
  }
  return new_numpy_struct_view(lib, f.type, view);
}

int write_structure(const library& lib, const numpy_field& f, PyObject* self, PyObject* value) {
  if (!check_numpy_struct(value, lib, f.type)) return failed;
  numpy_struct_object* object = as_numpy_struct(self);
  Py_ssize_t n = as_numpy_struct(value)->e.elements();
  if (f.is_array && is_single(object)) {
    if (f.has_counter() ? n > Py_ssize_t(f.count) : n != Py_ssize_t(f.count))
      return reject_length(f, n);
    if (copy_numpy_structs(self, data_of(f, self), extent::line(n, f.size), value) < 0)
      return failed;
    return set_counter(f, self, n);
  }
  extent e = object->e;
  if (f.is_array) e.append(f.count, f.size);
  return copy_numpy_structs(self, data_of(f, self), e, value);
}

struct accessor {
  PyObject* (*read)(const library&, const numpy_field&, PyObject* self);
  int (*write)(const library&, const numpy_field&, PyObject* self, PyObject* value);
};

// Indexed by `form`.
constexpr accessor accessors[] = {
    {read_plain, write_plain},
    {read_numbers, write_numbers},
    {read_plain, write_address},
    {read_text, write_text},
    {read_text_pointer, write_text_pointer},
    {read_bytes, write_bytes},
    {read_structure, write_structure},
    {read_number_list, write_number_list},
    {read_structure_list, write_structure_list},
};

// Rejects arrays of structs: lists and texts by address belong to one struct.
bool check_one(const numpy_field& f, PyObject* self) {
  bool is_by_address = f.shape == form::text_pointer || f.shape >= form::number_list;
  if (!is_by_address || as_numpy_struct(self)->e.elements() == 1) return true;
  return raise_error(PyExc_ValueError, "'%s' is a field of one struct: index the array first",
                     f.name.c_str());
}

char* pointer_in(const numpy_field& f, PyObject* self) {
  char* pointer;
  std::memcpy(&pointer, data_of(f, self), sizeof pointer);
  return pointer;
}

// Sets the field and its count to `n` elements at `array`, which `owner` keeps alive.
int point_to(const numpy_field& f, PyObject* self, char* array, Py_ssize_t n, PyObject* owner) {
  if (!n) array = nullptr;
  address_lock lock{as_storage(self)};
  if (set_counter(f, self, n) < 0) return failed;
  return point_field(self, data_of(f, self), reinterpret_cast<word>(array),
                     n ? Py_NewRef(owner) : nullptr);
}

// Returns the owner of the array of a field: the stored object, else the owner of the struct. A new
// reference.
PyObject* array_owner(const numpy_field& f, PyObject* self) {
  PyObject* owner = retained_for_field(as_storage(self), data_of(f, self));
  return owner ? owner : Py_NewRef(memory_owner(self));
}

// Copies a sequence of structs of the class into one array.
PyObject* gathered(const library& lib, int type, PyObject* value) {
  if (is_instance(value, lib, type)) return packed_copy(value);
  if (PyUnicode_Check(value) || !PySequence_Check(value)) {
    check_numpy_struct(value, lib, type);
    return nullptr;
  }
  const reference items{PySequence_Tuple(value)};
  PyObject* array =
      items ? new_numpy_struct_array(lib, type, PyTuple_GET_SIZE(items.get())) : nullptr;
  std::size_t size = lib.classes[std::size_t(type)].numpy->size;
  for (Py_ssize_t i = 0; array && i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    char* to = as_numpy_struct(array)->data + std::size_t(i) * size;
    if (!check_numpy_struct(item, lib, type) || copy_numpy_structs(array, to, {}, item) < 0)
      Py_CLEAR(array);
  }
  return array;
}

}  // namespace

PyObject* read_numpy_field(const library& lib, const numpy_field& f, PyObject* self) {
  return check_one(f, self) ? accessors[int(f.shape)].read(lib, f, self) : nullptr;
}

int write_numpy_field(const library& lib, const numpy_field& f, PyObject* self, PyObject* value) {
  if (!value)
    return raise_error(PyExc_AttributeError, "%s.%s cannot be deleted", class_name(self),
                       f.name.c_str());
  if (!check_writable(self) || !check_one(f, self)) return failed;
  as_numpy_struct(self)->is_length_fixed = true;  // converting the value may run user code
  if (accessors[int(f.shape)].write(lib, f, self, value) == 0) return 0;
  return add_context("%s.%s: ", class_name(self), f.name.c_str());
}

const numpy_field* find_numpy_field(const numpy_record& record, PyObject* name) {
  for (const numpy_field& f : record.fields)
    if (!f.is_hidden && PyUnicode_CompareWithASCIIString(name, f.name) == 0) return &f;
  return nullptr;
}

PyObject* text_at(const numpy_field& f, const char* place) {
  return decode(place, Py_ssize_t(strnlen(place, f.count)));
}

namespace {

constexpr getter get_any = get_bound<numpy_field, read_numpy_field>;

template <class T>
PyObject* get_number(PyObject* self, void* closure) {
  const numpy_field& f = *static_cast<const bound_field<numpy_field>*>(closure)->f;
  return is_single(as_numpy_struct(self)) ? number_at<T>(data_of(f, self)) : get_any(self, closure);
}

// Indexed by kind.
constexpr getter number_getters[] = {get_number<std::int8_t>,  get_number<std::uint8_t>,
                                     get_number<std::int16_t>, get_number<std::uint16_t>,
                                     get_number<std::int32_t>, get_number<std::uint32_t>,
                                     get_number<std::int64_t>, get_number<std::uint64_t>,
                                     get_number<float>,        get_number<double>};

PyObject* get_text(PyObject* self, void* closure) {
  const numpy_field& f = *static_cast<const bound_field<numpy_field>*>(closure)->f;
  return is_single(as_numpy_struct(self)) ? text_at(f, data_of(f, self)) : get_any(self, closure);
}

}  // namespace

namespace {

constexpr setter put_any = put_bound<numpy_field, write_numpy_field>;

// Stores a non-negative int of one digit into one struct without conversion.
template <class T>
int put_digit(PyObject* self, PyObject* value, void* closure) {
  numpy_struct_object* object = as_numpy_struct(self);
  word digit;
  if (!value || !PyLong_CheckExact(value) || !digit_value(value, digit) || object->e.ndim ||
      object->is_read_only)
    return put_any(self, value, closure);
  const numpy_field& f = *static_cast<const bound_field<numpy_field>*>(closure)->f;
  const T number = static_cast<T>(digit);
  std::memcpy(data_of(f, self), &number, sizeof number);
  object->is_length_fixed = true;
  return 0;
}

}  // namespace

setter setter_of(const numpy_field& f) {
  if (f.shape != form::number) return put_any;
  if (f.element == kind::i32 || f.element == kind::u32) return put_digit<std::uint32_t>;
  return f.element == kind::i64 || f.element == kind::u64 ? put_digit<std::uint64_t> : put_any;
}

getter getter_of(const numpy_record& record, const numpy_field& f) {
  if (f.shape == form::number || f.shape == form::address) return number_getters[int(f.element)];
  return f.shape == form::text && !record.is_array ? get_text : get_any;
}

Py_ssize_t counted(const numpy_field& f, PyObject* self) {
  if (!f.has_counter()) return f.count;
  const numpy_field& counter = numpy_record_of(self).fields[std::size_t(f.counter)];
  word n{};
  std::memcpy(&n, as_numpy_struct(self)->data + counter.offset, counter.size);
  bool is_inline = f.shape == form::numbers || f.shape == form::structure;
  return Py_ssize_t(is_inline && n > f.count ? f.count : n);
}

int set_counter(const numpy_field& f, PyObject* self, Py_ssize_t n) {
  if (!f.has_counter()) return 0;
  const numpy_field& counter = numpy_record_of(self).fields[std::size_t(f.counter)];
  const reference number{PyLong_FromSsize_t(n)};
  if (!number) return failed;
  return write_number(counter.element, as_numpy_struct(self)->data + counter.offset, number);
}

PyObject* read_number_list(const library&, const numpy_field& f, PyObject* self) {
  address_lock lock{as_storage(self)};
  char* array = pointer_in(f, self);
  Py_ssize_t n = array ? counted(f, self) : 0;
  if (!n) return PyList_New(0);
  const reference owner{array_owner(f, self)};
  return new_typed_view(f.element, array, extent::line(n, number_size(f.element)), owner,
                        as_numpy_struct(self)->is_read_only);
}

int write_number_list(const library&, const numpy_field& f, PyObject* self, PyObject* value) {
  Py_ssize_t n = value == Py_None ? 0 : PyObject_Size(value);
  const reference array{n < 0 ? nullptr : new_typed_array(f.element, n)};
  if (!array) return failed;
  typed_array* numbers = as_typed_array(array);
  int status = n ? assign_numbers(f.element, numbers->e, numbers->data, value) : 0;
  if (status == 0) status = point_to(f, self, numbers->data, n, array);
  return status;
}

PyObject* read_structure_list(const library& lib, const numpy_field& f, PyObject* self) {
  address_lock lock{as_storage(self)};
  char* array = pointer_in(f, self);
  Py_ssize_t n = array ? counted(f, self) : 0;
  if (!n) return PyList_New(0);
  PyObject* holder = array_owner(f, self);
  const class_record& record = lib.classes[std::size_t(f.type)];
  // The view depends on the owner of the array: a NumPy struct, which may be a view.
  class_type* type = any_class_of(holder);
  PyObject* owner = type && type->record->numpy ? memory_owner(holder) : holder;
  extent e = n == 1 && !record.numpy->is_array ? extent{}
                                               : extent::line(n, Py_ssize_t(record.numpy->size));
  PyObject* view =
      new_numpy_struct_view(lib, f.type, {array, e, owner, as_numpy_struct(self)->is_read_only});
  Py_DECREF(holder);
  return view;
}

int write_structure_list(const library& lib, const numpy_field& f, PyObject* self,
                         PyObject* value) {
  if (value == Py_None) return point_to(f, self, nullptr, 0, nullptr);
  if (!ready_class(lib, f.type)) return failed;
  Py_ssize_t size = Py_ssize_t(lib.classes[std::size_t(f.type)].numpy->size);
  // Uses an array without a copy, so that later changes of its elements are visible.
  bool is_usable = is_instance(value, lib, f.type) && as_numpy_struct(value)->e.is_contiguous(size);
  const reference array{is_usable ? Py_NewRef(value) : gathered(lib, f.type, value)};
  if (!array) return failed;
  return point_to(f, self, as_numpy_struct(array)->data, as_numpy_struct(array)->e.elements(),
                  array);
}

int allocate_list(const library& lib, const numpy_field& f, PyObject* self, Py_ssize_t n) {
  bool has_structs = f.shape == form::structure_list;
  const reference array{has_structs ? new_numpy_struct_array(lib, f.type, n)
                                    : new_typed_array(f.element, n)};
  if (!array) return failed;
  char* memory = has_structs ? as_numpy_struct(array)->data : as_typed_array(array)->data;
  return point_to(f, self, memory, n, array);
}

}  // namespace halfwarp::bindings
