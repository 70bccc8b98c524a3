// SPDX-License-Identifier: Apache-2.0
// Comparison, copies, pickling and representation of data types.
#include "bindings/numpy_structs/data_fields.hpp"

#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* copy(PyObject* self, PyObject*) { return packed_data(self); }

// Without gaps, as bytes.
PyObject* contents_of(PyObject* self) {
  const reference packed{packed_data(self)};
  if (!packed) return nullptr;
  auto size = as_data(packed)->e.elements() * Py_ssize_t(data_record_of(packed).size);
  return PyBytes_FromStringAndSize(as_data(packed)->where, size);
}

bool has_addresses(const library& lib, const data_record& record) {
  for (const data_field& f : record.fields) {
    bool is_address =
        f.shape == form::address || f.shape == form::text_pointer || f.shape >= form::number_list;
    if (is_address ||
        (f.shape == form::structure && has_addresses(lib, *lib.classes[std::size_t(f.type)].data)))
      return true;
  }
  return false;
}

bool is_all_zero(PyObject* bytes) {
  const char* text = PyBytes_AS_STRING(bytes);
  for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(bytes); ++i)
    if (text[i]) return false;
  return true;
}

// Contents travel; addresses mean nothing in another process.
PyObject* reduce(PyObject* self, PyObject*) {
  const class_type& type = class_of(Py_TYPE(self));
  PyObject* contents = contents_of(self);
  if (!contents) return nullptr;
  if (has_addresses(*type.lib, *type.record->data) && !is_all_zero(contents)) {
    Py_DECREF(contents);
    PyErr_Format(PyExc_TypeError, "cannot pickle %s: it holds addresses or handles",
                 short_name(type.record->name));
    return nullptr;
  }
  return pickled_struct(self, contents);
}

// The value of a field as a dictionary holds it: numbers, texts, lists, dictionaries.
PyObject* plain_value(PyObject* value);

PyObject* as_dict(PyObject* self, PyObject*) {
  const class_type& type = class_of(Py_TYPE(self));
  PyObject* made = PyDict_New();
  for (const data_field& f : type.record->data->fields) {
    if (!made || f.is_hidden) continue;
    const reference value{read_data_field(*type.lib, f, self)};
    const reference plain{value ? plain_value(value) : nullptr};
    if (!plain || PyDict_SetItemString(made, f.name, plain) < 0) Py_CLEAR(made);
  }
  return made;
}

PyObject* list_of_structs(PyObject* array) {
  PyObject* list = PySequence_List(array);
  for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); ++i) {
    PyObject* plain = plain_value(PyList_GET_ITEM(list, i));
    if (plain) {
      PyList_SetItem(list, i, plain);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

PyObject* plain_value(PyObject* value) {
  if (is_typed_array(value)) return PyObject_CallMethod(value, "tolist", nullptr);
  class_type* type = any_class_of(value);
  if (!type || !type->record->data) return Py_NewRef(value);
  if (as_data(value)->e.ndim <= 1 && as_data(value)->e.elements() == 1)
    return as_dict(value, nullptr);
  return list_of_structs(value);
}

// `Name(field=value, ...)`: what makes the struct again.
PyObject* represent_one(PyObject* self) {
  const class_type& type = class_of(Py_TYPE(self));
  PyObject* parts = PyList_New(0);
  for (const data_field& f : type.record->data->fields) {
    if (!parts || f.is_hidden) continue;
    const reference value{read_data_field(*type.lib, f, self)};
    PyObject* part = value ? PyUnicode_FromFormat("%s=%R", f.name.c_str(), value.get()) : nullptr;
    if (!append(parts, part)) Py_CLEAR(parts);
  }
  const reference inner{joined(", ", parts)};
  return inner ? PyUnicode_FromFormat("%s(%U)", short_name(type.record->name), inner.get())
               : nullptr;
}

}  // namespace

PyObject* represent_data(PyObject* self) {
  if (is_single(as_data(self))) return represent_one(self);
  return PyUnicode_FromFormat("<%s array of %zd>", class_name(self), as_data(self)->e.elements());
}

// By class, number of structs, and contents.
PyObject* compare_data(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  class_type* theirs = any_class_of(other);
  if (!theirs || theirs != &class_of(Py_TYPE(self))) Py_RETURN_NOTIMPLEMENTED;
  PyObject *ours = contents_of(self), *others = ours ? contents_of(other) : nullptr;
  PyObject* result = others ? PyObject_RichCompare(ours, others, operation) : nullptr;
  Py_XDECREF(ours);
  Py_XDECREF(others);
  return result;
}

PyObject* data_with_contents(PyObject*, class_type& type, const Py_buffer& contents) {
  const data_record& record = *type.record->data;
  Py_ssize_t size = Py_ssize_t(record.size), n = contents.len / size;
  if (contents.len % size || (n != 1 && !record.is_array)) return nullptr;
  int index = index_of(type);
  PyObject* made =
      record.is_array ? new_data_array(*type.lib, index, n) : new_data(*type.lib, index);
  if (made) std::memcpy(as_data(made)->where, contents.buf, std::size_t(contents.len));
  return made;
}

PyMethodDef data_methods[data_method_count] = {
    {"copy", copy, METH_NOARGS,
     "copy($self, /)\n--\n\nThe same contents in memory of its own. Host only."},
    {"asdict", as_dict, METH_NOARGS,
     "asdict($self, /)\n--\n\nField names and values; nested structs as dictionaries. Host only."},
    {"__dir__", list_attributes, METH_NOARGS, nullptr},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", copy, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr}};

}  // namespace halfwarp::bindings
