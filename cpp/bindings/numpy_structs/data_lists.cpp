// SPDX-License-Identifier: Apache-2.0
// Fields that point to an array beside which a count stands.
#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/numpy_structs/data_fields.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

char* pointer_in(const data_field& f, PyObject* self) {
  char* pointer;
  std::memcpy(&pointer, place_of(f, self), sizeof pointer);
  return pointer;
}

// The field and its count now say `n` elements at `array`, which `owner` keeps alive.
int point_to(const data_field& f, PyObject* self, char* array, Py_ssize_t n, PyObject* owner) {
  if (!n) array = nullptr;
  address_lock lock{as_storage(self)};
  if (set_counter(f, self, n) < 0) return -1;
  return point_field(self, place_of(f, self), reinterpret_cast<word>(array),
                     n ? Py_NewRef(owner) : nullptr);
}

// Who keeps the array behind a field: what was stored there, else whoever owns the struct. A new
// reference.
PyObject* array_owner(const data_field& f, PyObject* self) {
  PyObject* kept = kept_for_field(as_storage(self), place_of(f, self));
  return kept ? kept : Py_NewRef(holder_of(self));
}

// One array of the structs in a sequence of objects, each of the class.
PyObject* gathered(const library& lib, int type, PyObject* value) {
  if (is_instance(value, lib, type)) return packed_data(value);
  if (PyUnicode_Check(value) || !PySequence_Check(value)) {
    check_data(value, lib, type);
    return nullptr;
  }
  const reference items{PySequence_Tuple(value)};
  PyObject* made = items ? new_data_array(lib, type, PyTuple_GET_SIZE(items.get())) : nullptr;
  std::size_t size = lib.classes[std::size_t(type)].data->size;
  for (Py_ssize_t i = 0; made && i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    char* to = as_data(made)->where + std::size_t(i) * size;
    if (!check_data(item, lib, type) || copy_data(made, to, {}, item) < 0) Py_CLEAR(made);
  }
  return made;
}

}  // namespace

Py_ssize_t counted(const data_field& f, PyObject* self) {
  if (f.counter < 0) return f.count;
  const data_field& counter = data_record_of(self).fields[std::size_t(f.counter)];
  word n = 0;
  std::memcpy(&n, as_data(self)->where + counter.offset, counter.size);
  bool is_inline = f.shape == form::numbers || f.shape == form::structure;
  return Py_ssize_t(is_inline && n > f.count ? f.count : n);
}

int set_counter(const data_field& f, PyObject* self, Py_ssize_t n) {
  if (f.counter < 0) return 0;
  const data_field& counter = data_record_of(self).fields[std::size_t(f.counter)];
  const reference number{PyLong_FromSsize_t(n)};
  if (!number) return -1;
  return write_number(counter.element, as_data(self)->where + counter.offset, number);
}

PyObject* read_number_list(const library&, const data_field& f, PyObject* self) {
  address_lock lock{as_storage(self)};
  char* array = pointer_in(f, self);
  Py_ssize_t n = array ? counted(f, self) : 0;
  if (!n) return PyList_New(0);
  const reference owner{array_owner(f, self)};
  return new_typed_view(f.element, array, extent::line(n, number_size(f.element)), owner,
                        as_data(self)->is_read_only);
}

int write_number_list(const library&, const data_field& f, PyObject* self, PyObject* value) {
  Py_ssize_t n = value == Py_None ? 0 : PyObject_Size(value);
  const reference array{n < 0 ? nullptr : new_typed_array(f.element, n)};
  if (!array) return -1;
  typed_array* made = as_typed_array(array);
  int status = n ? assign_numbers(f.element, made->e, made->where, value) : 0;
  if (status == 0) status = point_to(f, self, made->where, n, array);
  return status;
}

PyObject* read_structure_list(const library& lib, const data_field& f, PyObject* self) {
  address_lock lock{as_storage(self)};
  char* array = pointer_in(f, self);
  Py_ssize_t n = array ? counted(f, self) : 0;
  if (!n) return PyList_New(0);
  PyObject* kept = array_owner(f, self);
  const class_record& record = lib.classes[std::size_t(f.type)];
  // The view depends on what keeps the array: a data object, which may be a view itself.
  class_type* type = any_class_of(kept);
  PyObject* owner = type && type->record->data ? holder_of(kept) : kept;
  extent e =
      n == 1 && !record.data->is_array ? extent{} : extent::line(n, Py_ssize_t(record.data->size));
  PyObject* view = new_data_view(lib, f.type, {array, e, owner, as_data(self)->is_read_only});
  Py_DECREF(kept);
  return view;
}

int write_structure_list(const library& lib, const data_field& f, PyObject* self, PyObject* value) {
  if (value == Py_None) return point_to(f, self, nullptr, 0, nullptr);
  if (!ready_class(lib, f.type)) return -1;
  Py_ssize_t size = Py_ssize_t(lib.classes[std::size_t(f.type)].data->size);
  // An array is taken as it is, so that later changes of its elements are seen.
  bool as_it_is = is_instance(value, lib, f.type) && as_data(value)->e.is_contiguous(size);
  const reference array{as_it_is ? Py_NewRef(value) : gathered(lib, f.type, value)};
  if (!array) return -1;
  return point_to(f, self, as_data(array)->where, as_data(array)->e.elements(), array);
}

int allocate_list(const library& lib, const data_field& f, PyObject* self, Py_ssize_t n) {
  bool has_structs = f.shape == form::structure_list;
  const reference array{has_structs ? new_data_array(lib, f.type, n)
                                    : new_typed_array(f.element, n)};
  if (!array) return -1;
  char* memory = has_structs ? as_data(array)->where : as_typed_array(array)->where;
  return point_to(f, self, memory, n, array);
}

}  // namespace halfwarp::bindings
