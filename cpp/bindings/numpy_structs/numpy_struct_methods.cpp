// SPDX-License-Identifier: Apache-2.0
// Comparison, copies, pickling and representation of NumPy structs; from_ptr, from_buffer,
// from_data.
#include "bindings/numpy_structs/numpy_struct_fields.hpp"

#include <cstdarg>
#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* copy(PyObject* self, PyObject*) { return packed_copy(self); }

// Returns the packed contents as bytes.
PyObject* contents_of(PyObject* self) {
  const reference packed{packed_copy(self)};
  if (!packed) return nullptr;
  auto size = as_numpy_struct(packed)->e.elements() * Py_ssize_t(numpy_record_of(packed).size);
  return PyBytes_FromStringAndSize(as_numpy_struct(packed)->data, size);
}

bool has_addresses(const library& lib, const numpy_record& record) {
  for (const numpy_field& f : record.fields) {
    bool is_address =
        f.shape == form::address || f.shape == form::text_pointer || f.shape >= form::number_list;
    if (is_address ||
        (f.shape == form::structure && has_addresses(lib, *lib.classes[std::size_t(f.type)].numpy)))
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

// Pickles the contents. Rejects addresses, which are invalid in another process.
PyObject* reduce(PyObject* self, PyObject*) {
  const class_type& type = class_of(Py_TYPE(self));
  PyObject* contents = contents_of(self);
  if (!contents) return nullptr;
  if (has_addresses(*type.lib, *type.record->numpy) && !is_all_zero(contents)) {
    Py_DECREF(contents);
    return raise_error(PyExc_TypeError, "cannot pickle %s: it holds addresses or handles",
                       short_name(type.record->name));
  }
  return pickled_struct(self, contents);
}

// Converts the value of a field for a dictionary: numbers, texts, lists, dictionaries.
PyObject* plain_value(PyObject* value);

PyObject* as_dict(PyObject* self, PyObject*) {
  const class_type& type = class_of(Py_TYPE(self));
  PyObject* dict = PyDict_New();
  for (const numpy_field& f : type.record->numpy->fields) {
    if (!dict || f.is_hidden) continue;
    const reference value{read_numpy_field(*type.lib, f, self)};
    const reference plain{value ? plain_value(value) : nullptr};
    if (!plain || PyDict_SetItemString(dict, f.name, plain) < 0) Py_CLEAR(dict);
  }
  return dict;
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
  if (!type || !type->record->numpy) return Py_NewRef(value);
  if (as_numpy_struct(value)->e.ndim <= 1 && as_numpy_struct(value)->e.elements() == 1)
    return as_dict(value, nullptr);
  return list_of_structs(value);
}

// Returns `Name(field=value, ...)`, the call that creates an equal struct.
PyObject* represent_one(PyObject* self) {
  const class_type& type = class_of(Py_TYPE(self));
  PyObject* parts = PyList_New(0);
  for (const numpy_field& f : type.record->numpy->fields) {
    if (!parts || f.is_hidden) continue;
    const reference value{read_numpy_field(*type.lib, f, self)};
    PyObject* part = value ? PyUnicode_FromFormat("%s=%R", f.name.c_str(), value.get()) : nullptr;
    if (!append(parts, part)) Py_CLEAR(parts);
  }
  const reference inner{joined(", ", parts)};
  return inner ? PyUnicode_FromFormat("%s(%U)", short_name(type.record->name), inner.get())
               : nullptr;
}

// Returns the class that a class method was called on, or its base.
const class_type& type_behind(PyObject* cls) {
  return class_of(reinterpret_cast<PyTypeObject*>(cls));
}

// Creates a view of structs in memory that `owner` keeps alive.
PyObject* view_of(const class_type& type, void* data, const extent& e, PyObject* owner,
                  bool is_read_only) {
  auto* memory = static_cast<char*>(data);
  const reference block{new_foreign_block(memory, owner)};
  if (!block) return nullptr;
  return new_numpy_struct_view(*type.lib, index_of(type), {memory, e, block, is_read_only});
}

PyObject* copy_of(const class_type& type, const void* data, bool is_read_only) {
  PyObject* object = new_numpy_struct(*type.lib, index_of(type));
  if (!object) return nullptr;
  std::memcpy(as_numpy_struct(object)->data, data, type.record->numpy->size);
  as_numpy_struct(object)->is_read_only = is_read_only;
  return object;
}

PyObject* from_address(const class_type& type, PyObject* address, Py_ssize_t size, bool read_only,
                       PyObject* owner) {
  word value;
  if (!integer_argument<kind::i64>(address, value)) return add_context("argument 'ptr': ");
  auto* data = reinterpret_cast<void*>(value);
  if (!data || size < 0) {
    return data ? PyErr_Format(PyExc_ValueError, "size must not be negative, got %zd", size)
                : PyErr_Format(PyExc_ValueError, "ptr must not be null (0)");
  }
  const numpy_record& record = *type.record->numpy;
  if (size > PY_SSIZE_T_MAX / Py_ssize_t(record.size))
    return raise_error(PyExc_OverflowError, "no memory holds %zd structs", size);
  if (!record.is_array && owner == Py_None) return copy_of(type, data, read_only);
  extent e = record.is_array ? extent::line(size, Py_ssize_t(record.size)) : extent{};
  return view_of(type, data, e, owner, read_only);
}

// Adds the class and the method to the message of an error.
PyObject* named(const class_type& type, PyObject* result, const char* method) {
  if (!result) add_context("%s.%s", short_name(type.record->name), method);
  return result;
}

// Parses arguments; error messages name the class and the method.
bool parse(const class_type& type, PyObject* args, PyObject* keywords, const char* format,
           const char* method, const char* const* names, ...) {
  char whole[128];
  PyOS_snprintf(whole, sizeof whole, "%s:%s.%s", format, short_name(type.record->name), method);
  std::va_list targets;
  va_start(targets, names);
  bool ok =
      PyArg_VaParseTupleAndKeywords(args, keywords, whole, const_cast<char**>(names), targets);
  va_end(targets);
  return ok;
}

PyObject* array_from_ptr(PyObject* cls, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"ptr", "size", "readonly", "owner", nullptr};
  PyObject *address, *owner = Py_None;
  Py_ssize_t size = 1;
  int read_only = 0;
  const class_type& type = type_behind(cls);
  if (!parse(type, args, keywords, "O|npO", "from_ptr", names, &address, &size, &read_only, &owner))
    return nullptr;
  return named(type, from_address(type, address, size, read_only, owner), "from_ptr() ");
}

PyObject* struct_from_ptr(PyObject* cls, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"ptr", "readonly", "owner", nullptr};
  PyObject *address, *owner = Py_None;
  int read_only = 0;
  const class_type& type = type_behind(cls);
  if (!parse(type, args, keywords, "O|pO", "from_ptr", names, &address, &read_only, &owner))
    return nullptr;
  return named(type, from_address(type, address, 1, read_only, owner), "from_ptr() ");
}

bool check_length(const numpy_record& record, Py_ssize_t length) {
  Py_ssize_t size = Py_ssize_t(record.size);
  if (record.is_array ? length % size == 0 : length == size) return true;
  return raise_error(PyExc_ValueError,
                     record.is_array ? "buffer size must be a multiple of %zd bytes, got %zd"
                                     : "buffer length must be %zd bytes, got %zd",
                     size, length);
}

// Creates a view of the memory of a memoryview.
PyObject* from_view(const class_type& type, PyObject* view) {
  const Py_buffer* buffer = PyMemoryView_GET_BUFFER(view);
  const numpy_record& record = *type.record->numpy;
  if (!PyBuffer_IsContiguous(buffer, 'C'))
    return raise_error(PyExc_ValueError, "the buffer must be contiguous");
  if (!check_length(record, buffer->len)) return nullptr;
  Py_ssize_t size = Py_ssize_t(record.size);
  extent e = record.is_array ? extent::line(buffer->len / size, size) : extent{};
  return view_of(type, buffer->buf, e, view, buffer->readonly);
}

PyObject* view_buffer(const class_type& type, PyObject* buffer) {
  const reference view{PyMemoryView_FromObject(buffer)};
  return view ? from_view(type, view) : nullptr;
}

PyObject* from_buffer(PyObject* cls, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"buffer", nullptr};
  PyObject* buffer;
  const class_type& type = type_behind(cls);
  if (!parse(type, args, keywords, "O", "from_buffer", names, &buffer)) return nullptr;
  return named(type, view_buffer(type, buffer), "from_buffer() argument 'buffer': ");
}

// Views an array by its bytes: NumPy exports no buffer of a type with overlapping fields, such as a
// union.
PyObject* view_array(const class_type& type, PyObject* data) {
  if (!check_numpy_array(*type.lib, index_of(type), data)) return nullptr;
  const reference bytes{PyObject_CallMethod(data, "view", "s", "u1")};
  return bytes ? view_buffer(type, bytes) : nullptr;
}

PyObject* from_data(PyObject* cls, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"data", nullptr};
  PyObject* data;
  const class_type& type = type_behind(cls);
  if (!parse(type, args, keywords, "O", "from_data", names, &data)) return nullptr;
  return named(type, view_array(type, data), "from_data() argument 'data': ");
}

PyMethodDef method(const char* name, PyCFunctionWithKeywords function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_VARARGS | METH_KEYWORDS | METH_CLASS, doc};
}

}  // namespace

PyObject* represent_numpy_struct(PyObject* self) {
  if (is_single(as_numpy_struct(self))) return represent_one(self);
  return PyUnicode_FromFormat("<%s array of %zd>", class_name(self),
                              as_numpy_struct(self)->e.elements());
}

// Compares class, number of structs, and contents.
PyObject* compare_numpy_structs(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  class_type* other_type = any_class_of(other);
  if (!other_type || other_type != &class_of(Py_TYPE(self))) Py_RETURN_NOTIMPLEMENTED;
  PyObject *contents = contents_of(self), *other_contents = contents ? contents_of(other) : nullptr;
  PyObject* result =
      other_contents ? PyObject_RichCompare(contents, other_contents, operation) : nullptr;
  Py_XDECREF(contents);
  Py_XDECREF(other_contents);
  return result;
}

PyObject* numpy_struct_with_contents(PyObject*, class_type& type, const Py_buffer& contents) {
  const numpy_record& record = *type.record->numpy;
  Py_ssize_t size = Py_ssize_t(record.size), n = contents.len / size;
  if (contents.len % size || (n != 1 && !record.is_array)) return nullptr;
  int index = index_of(type);
  PyObject* object = record.is_array ? new_numpy_struct_array(*type.lib, index, n)
                                     : new_numpy_struct(*type.lib, index);
  if (object) std::memcpy(as_numpy_struct(object)->data, contents.buf, std::size_t(contents.len));
  return object;
}

PyMethodDef numpy_struct_methods[numpy_struct_method_count] = {
    {"copy", copy, METH_NOARGS,
     "copy($self, /)\n--\n\nReturn a copy that owns its memory. Host only."},
    {"asdict", as_dict, METH_NOARGS,
     "asdict($self, /)\n--\n\nReturn field names and values; nested structs as dictionaries. Host "
     "only."},
    {"__dir__", list_attributes, METH_NOARGS, nullptr},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", copy, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr}};

void add_source_methods(const numpy_record& record, PyMethodDef* methods) {
  methods[0] =
      record.is_array
          ? method("from_ptr", array_from_ptr,
                   "from_ptr($type, /, ptr, size=1, readonly=False, owner=None)\n--\n\n"
                   "View `size` structs at an address, which `owner` keeps alive. Host only.")
          : method("from_ptr", struct_from_ptr,
                   "from_ptr($type, /, ptr, readonly=False, owner=None)\n--\n\n"
                   "View the struct at an address that `owner` keeps alive; without an owner, "
                   "copy it. Host only.");
  methods[1] = method("from_buffer", from_buffer,
                      "from_buffer($type, /, buffer)\n--\n\n"
                      "View the memory of an object with a contiguous buffer. Host only.");
  methods[2] = method("from_data", from_data,
                      "from_data($type, /, data)\n--\n\n"
                      "View the memory of a one-dimensional NumPy array of the module's type for "
                      "this class. Host only.");
}

}  // namespace halfwarp::bindings
