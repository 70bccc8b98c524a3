// SPDX-License-Identifier: Apache-2.0
// Creates and copies objects of NumPy structs, and implements their Python protocols.
#include "bindings/numpy_structs/numpy_struct_object.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "bindings/errors/errors.hpp"
#include "bindings/numpy_structs/numpy_struct_fields.hpp"
#include "bindings/objects/field_properties.hpp"
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

// Largest object whose memory is reused. Larger memory comes zeroed from the system, so that unused
// pages cost nothing.
constexpr std::size_t largest_recyclable = 512;

// Creates one struct without an extent, or structs with it.
PyObject* make(const library& lib, int type, const extent* e, std::size_t least = 0) {
  class_type* ready = ready_class(lib, type);
  const Py_ssize_t n = e ? e->elements() : 1;
  std::size_t bytes = ready ? memory_of(*ready->record->numpy, n, least) : 0;
  if (!bytes) return nullptr;
  const std::size_t alignment = ready->record->alignment;
  if (alignment > alignof(std::max_align_t)) bytes += alignment;
  const std::size_t size = sizeof(numpy_struct_object) + bytes;
  const bool is_recyclable = n == 1 && !least && size <= largest_recyclable;
  void* spare = is_recyclable ? pop_spare(*ready) : nullptr;
  auto* object = static_cast<numpy_struct_object*>(spare ? std::memset(spare, 0, size)
                                                         : PyObject_Calloc(1, size));
  if (!object) return PyErr_NoMemory();
  object->is_recyclable = is_recyclable;
  object->data = storage_of(object, alignment);
  if (e && e->ndim) object->e = *e;  // zero already otherwise
  object->is_length_fixed = true;
  return PyObject_Init(reinterpret_cast<PyObject*>(object), &ready->type);
}

// --- construction --------------------------------------------------------------------------------

// Replaces the memory of an object with new zeroed memory, which owns the previous memory: views of
// it may exist.
bool replace_memory(PyObject* self, const extent& e) {
  std::size_t bytes = memory_of(numpy_record_of(self), e.elements());
  PyObject* block = bytes ? new_memory_block(bytes) : nullptr;
  if (!block) return false;
  auto* object = as_numpy_struct(self);
  as_storage(block)->owner = object->owner;
  object->data = as_block(block)->data;
  object->e = e;
  object->owner = block;
  return true;
}

// Sets the length of an object, once: buffers, fields and calls use the address of its memory.
bool set_length(PyObject* self, Py_ssize_t n) {
  auto* object = as_numpy_struct(self);
  bool is_length_fixed = std::exchange(object->is_length_fixed, true);
  if (n == object->e.elements()) return true;
  if (!is_length_fixed)
    return replace_memory(self, extent::line(n, Py_ssize_t(numpy_record_of(self).size)));
  return raise_error(PyExc_ValueError, "the length of this %s is %zd and cannot change to %zd",
                     class_name(self), object->e.elements(), n);
}

// Creates an instance of a subclass. Its attributes follow the header, so a separate block holds
// the memory.
PyObject* make_subclass(PyTypeObject* subclass) {
  PyObject* self = subclass->tp_alloc(subclass, 0);
  if (self && !replace_memory(self, extent_of_one(numpy_record_of(self)))) Py_CLEAR(self);
  return self;
}

PyObject* make(PyTypeObject* called, PyObject*, PyObject*) {
  class_type& type = class_of(called);
  if (called != &type.type) return make_subclass(called);
  PyObject* self = new_numpy_struct(*type.lib, index_of(type));
  if (self) as_numpy_struct(self)->is_length_fixed = false;
  return self;
}

// Returns the length argument, by position or keyword; 1 without one. Returns -1 with an error set.
Py_ssize_t length_of(PyObject* self, PyObject* args, PyObject* keywords) {
  Py_ssize_t count = PyTuple_GET_SIZE(args), most = numpy_record_of(self).is_array ? 1 : 0;
  const class_record& record = *class_of(Py_TYPE(self)).record;
  if (count > most) return raise_too_many(record, most, count) - 1;
  PyObject* size = count ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (most && !size && keywords) size = PyDict_GetItemString(keywords, "size");
  if (!size) return 1;
  Py_ssize_t n = PyNumber_AsSsize_t(size, PyExc_OverflowError);
  if (n == -1 && PyErr_Occurred()) {
    add_argument_context(record, "size");
  } else if (n < 0)
    PyErr_Format(PyExc_ValueError, "%s() size must not be negative, got %zd", class_name(self), n);
  return n < 0 ? -1 : n;
}

int set_fields(PyObject* self, PyObject* keywords) {
  const class_type& type = class_of(Py_TYPE(self));
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
    const numpy_field* f = find_numpy_field(*type.record->numpy, name);
    if (f && write_numpy_field(*type.lib, *f, self, value) < 0) return failed;
    if (f || (type.record->numpy->is_array && PyUnicode_CompareWithASCIIString(name, "size") == 0))
      continue;
    return raise_error(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                       class_name(self), name);
  }
  return 0;
}

int initialize(PyObject* self, PyObject* args, PyObject* keywords) {
  Py_ssize_t n = length_of(self, args, keywords);
  if (n < 0) return failed;
  return set_length(self, n) ? set_fields(self, keywords) : failed;
}

// Calls `type` with a tuple and a dictionary of the arguments.
PyObject* call_with(PyObject* type, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  PyObject *positional = PyTuple_New(n), *keywords = names ? PyDict_New() : nullptr;
  bool ok = positional && (keywords || !names);
  for (Py_ssize_t i = 0; ok && i < n; ++i) PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; ok && names && i < PyTuple_GET_SIZE(names); ++i)
    ok = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), args[n + i]) == 0;
  PyObject* object = ok ? PyType_Type.tp_call(type, positional, keywords) : nullptr;
  Py_XDECREF(positional);
  Py_XDECREF(keywords);
  return object;
}

PyObject* vectorcall(PyObject* callable, PyObject* const* args, std::size_t flagged,
                     PyObject* names) {
  auto& type = *reinterpret_cast<class_type*>(callable);
  Py_ssize_t n = PyVectorcall_NARGS(flagged);
  if (n || names) return call_with(callable, args, n, names);
  return new_numpy_struct(*type.lib, index_of(type));
}

void release(PyObject* self) {
  Py_XDECREF(as_numpy_struct(self)->refs);
  Py_XDECREF(as_numpy_struct(self)->owner);
  PyTypeObject* type = Py_TYPE(self);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
    type->tp_free(self);
  } else if (!as_numpy_struct(self)->is_recyclable || !store_spare(class_of(type), self)) {
    PyObject_Free(self);
  }
}

// --- elements ------------------------------------------------------------------------------------

bool has_length(PyObject* self) { return as_numpy_struct(self)->e.ndim > 0; }

Py_ssize_t length(PyObject* self) {
  if (has_length(self)) return as_numpy_struct(self)->e.shape[0];
  return raise_error(PyExc_TypeError, "object of type '%s' has no len()", class_name(self));
}

int is_true(PyObject* self) { return !has_length(self) || as_numpy_struct(self)->e.shape[0] != 0; }

PyObject* view_of(PyObject* self, const selection& chosen) {
  const class_type& type = class_of(Py_TYPE(self));
  numpy_struct_object* object = as_numpy_struct(self);
  numpy_struct_view view{chosen.data, chosen.e, memory_owner(self), object->is_read_only};
  if (!chosen.e.ndim) view.e = extent_of_one(*type.record->numpy);
  view.is_column = object->is_column && !chosen.is_element;
  return new_numpy_struct_view(*type.lib, index_of(type), view);
}

const numpy_field* field_named(PyObject* self, PyObject* name) {
  const numpy_field* f = find_numpy_field(numpy_record_of(self), name);
  if (!f) PyErr_Format(PyExc_ValueError, "%s has no field of name %U", class_name(self), name);
  return f;
}

PyObject* get_item(PyObject* self, PyObject* key) {
  if (PyUnicode_Check(key)) return field_named(self, key) ? PyObject_GetAttr(self, key) : nullptr;
  if (!has_length(self))
    return raise_error(PyExc_TypeError, "'%s' object is not subscriptable", class_name(self));
  selection chosen;
  as_numpy_struct(self)->is_length_fixed = true;  // converting the index may run user code
  if (!select(as_numpy_struct(self)->e, as_numpy_struct(self)->data, key, chosen)) return nullptr;
  return view_of(self, chosen);
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  if (PyUnicode_Check(key))
    return field_named(self, key) ? PyObject_SetAttr(self, key, value) : failed;
  if (!value || !has_length(self))
    return raise_error(PyExc_TypeError, "elements of %s cannot be %s", class_name(self),
                       value ? "assigned: it is one struct" : "deleted");
  const class_type& type = class_of(Py_TYPE(self));
  selection chosen;
  as_numpy_struct(self)->is_length_fixed = true;
  if (!check_writable(self) || !check_numpy_struct(value, *type.lib, index_of(type)) ||
      !select(as_numpy_struct(self)->e, as_numpy_struct(self)->data, key, chosen))
    return failed;
  return copy_numpy_structs(self, chosen.data, chosen.e, value);
}

PyObject* address(PyObject* self) { return PyLong_FromVoidPtr(as_numpy_struct(self)->data); }
PyObject* get_address(PyObject* self, void*) { return address(self); }

// --- memory --------------------------------------------------------------------------------------

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* object = as_numpy_struct(self);
  Py_ssize_t size = Py_ssize_t(numpy_record_of(self).size);
  if (!object->e.is_contiguous(size)) {
    PyErr_SetString(PyExc_BufferError, "these structs are not contiguous; copy them");
    return failed;
  }
  return PyBuffer_FillInfo(view, self, object->data, object->e.elements() * size,
                           object->is_read_only, flags);
}

PyNumberMethods numbers = {.nb_bool = is_true, .nb_int = address};
PySequenceMethods sequence = {.sq_length = length, .sq_item = item_at<get_item>};
PyMappingMethods mapping = {length, get_item, set_item};
PyBufferProcs buffer = {get_buffer, nullptr};

bool add_field_properties(class_type& type) {
  static constexpr PyGetSetDef extra[] = {
      {"ptr", get_address, nullptr, "Address of the memory.", nullptr}};
  const numpy_record& record = *type.record->numpy;
  auto describe = [&](const numpy_field& f) -> PyGetSetDef {
    if (f.is_hidden) return {};
    return {f.name, getter_of(record, f), setter_of(f), nullptr, nullptr};
  };
  return add_properties(type, record.fields, describe, extra);
}

bool add_methods(class_type& type) {
  constexpr std::size_t most = source_method_count + numpy_struct_method_count + 1;
  auto* methods = static_cast<PyMethodDef*>(PyMem_Calloc(most, sizeof(PyMethodDef)));
  if (!methods) return PyErr_NoMemory() != nullptr;
  add_source_methods(*type.record->numpy, methods);
  std::memcpy(methods + source_method_count, numpy_struct_methods, sizeof numpy_struct_methods);
  type.type.tp_methods = methods;
  return true;
}

bool set_slots(class_type& type) {
  PyTypeObject& slots = type.type;
  slots.tp_basicsize = sizeof(numpy_struct_object);
  slots.tp_new = make;
  slots.tp_vectorcall = vectorcall;
  slots.tp_init = initialize;
  slots.tp_dealloc = release;
  slots.tp_repr = represent_numpy_struct;
  slots.tp_richcompare = compare_numpy_structs;
  slots.tp_hash = PyObject_HashNotImplemented;
  slots.tp_as_number = &numbers;
  slots.tp_as_sequence = &sequence;
  slots.tp_as_mapping = &mapping;
  slots.tp_as_buffer = &buffer;
  slots.tp_doc = type.record->doc;
  return add_methods(type) && add_field_properties(type);
}

}  // namespace

extent extent_of_one(const numpy_record& record) {
  return record.is_array ? extent::line(1, Py_ssize_t(record.size)) : extent{};
}

std::size_t memory_of(const numpy_record& record, Py_ssize_t n, std::size_t least) {
  constexpr auto most = std::size_t(PY_SSIZE_T_MAX) - sizeof(numpy_struct_object) - struct_slack;
  // The size of one struct, the usual case, needs no division.
  if ((n == 1 || std::size_t(n) <= most / record.size) && least <= most) [[likely]]
    return std::max(std::size_t(n) * record.size, least) + struct_slack;
  PyErr_NoMemory();
  return 0;
}

PyObject* new_numpy_struct(const library& lib, int type) {
  return new_numpy_struct_with_tail(lib, type, 0);
}

PyObject* new_numpy_struct_with_tail(const library& lib, int type, std::size_t bytes) {
  const numpy_record& record = *lib.classes[std::size_t(type)].numpy;
  if (!record.is_array) [[likely]]
    return make(lib, type, nullptr, bytes);
  const extent one = extent_of_one(record);
  return make(lib, type, &one, bytes);
}

PyObject* new_numpy_struct_array(const library& lib, int type, Py_ssize_t n) {
  const extent line = extent::line(n, Py_ssize_t(lib.classes[std::size_t(type)].numpy->size));
  return make(lib, type, &line);
}

PyObject* new_numpy_struct_view(const library& lib, int type, const numpy_struct_view& view) {
  class_type* ready = ready_class(lib, type);
  auto* object = ready ? PyObject_New(numpy_struct_object, &ready->type) : nullptr;
  if (!object) return nullptr;
  object->data = view.data;
  object->owner = Py_NewRef(view.owner);
  object->refs = nullptr;
  object->e = view.e;
  object->is_read_only = view.is_read_only;
  object->is_column = view.is_column;
  object->is_length_fixed = true;
  object->is_recyclable = false;
  return reinterpret_cast<PyObject*>(object);
}

bool check_numpy_struct(PyObject* object, const library& lib, int type) {
  if (!ready_class(lib, type)) return false;
  return is_instance(object, lib, type) ||
         raise_expected(short_name(lib.classes[std::size_t(type)].name), object);
}

namespace {

// Copies one struct, and the references that its fields depend on.
bool copy_one(PyObject* target, char* to, PyObject* source, char* from) {
  std::size_t size = numpy_record_of(source).size;
  std::memmove(to, from, size);
  return copy_references(as_storage(target), to, as_storage(source), from, size) == 0;
}

}  // namespace

// Packs several structs first: source and target may overlap.
int copy_numpy_structs(PyObject* target, char* data, const extent& e, PyObject* source) {
  Py_ssize_t n = as_numpy_struct(source)->e.elements();
  if (n != 1 && n != e.elements())
    return raise_error(PyExc_ValueError, "expected %zd structs, got %zd", e.elements(), n);
  const reference packed{n == 1 ? Py_NewRef(source) : packed_copy(source)};
  if (!packed) return failed;
  char* from = as_numpy_struct(packed)->data;
  std::size_t step = n == 1 ? 0 : numpy_record_of(source).size;
  bool ok = for_each_element(e, data, [&](char* to) {
    return copy_one(target, to, packed, std::exchange(from, from + step));
  });
  return ok ? 0 : failed;
}

PyObject* packed_copy(PyObject* source) {
  class_type& type = class_of(Py_TYPE(source));
  numpy_struct_object* object = as_numpy_struct(source);
  Py_ssize_t size = Py_ssize_t(type.record->numpy->size);
  const extent packed = object->e.packed(size);
  PyObject* copy = make(*type.lib, index_of(type), &packed);
  if (!copy) return nullptr;
  char* to = as_numpy_struct(copy)->data;
  if (!for_each_element(object->e, object->data, [&](char* from) {
        return copy_one(copy, std::exchange(to, to + size), source, from);
      }))
    Py_CLEAR(copy);
  return copy;
}

bool check_writable(PyObject* self) {
  if (!as_numpy_struct(self)->is_read_only) return true;
  return raise_error(PyExc_ValueError, "This %s instance is read-only", class_name(self));
}

const class_family numpy_struct_family = {set_slots, nullptr, numpy_struct_with_contents};

}  // namespace halfwarp::bindings
