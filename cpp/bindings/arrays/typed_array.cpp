// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers: the Python class, and bulk conversion of numbers in strided memory.
#include "bindings/arrays/typed_array.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "bindings/errors/errors.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

// Returns the number kind that stores an element; an address is stored as u64.
kind stored(kind element) { return element == kind::address ? kind::u64 : element; }

// Whether a value is a sequence to assign element by element; any other value is one number.
bool is_sequence(PyObject* value) {
  return !PyLong_Check(value) && !PyFloat_Check(value) && !PyUnicode_Check(value) &&
         PySequence_Check(value);
}

int assign(kind element, const extent& e, char* data, PyObject* value);

int assign_one_by_one(kind element, const extent& e, char* data, PyObject* items) {
  if (PyTuple_GET_SIZE(items) != e.shape[0])
    return raise_error(PyExc_ValueError, "expected %zd elements, got %zd", e.shape[0],
                       PyTuple_GET_SIZE(items));
  extent inner = e.inner();
  for (Py_ssize_t i = 0; i < e.shape[0]; ++i)
    if (assign(element, inner, data + i * e.stride[0], PyTuple_GET_ITEM(items, i)) < 0)
      return failed;
  return 0;
}

int assign_to_all(kind element, const extent& e, char* data, PyObject* value) {
  return for_each_element(e, data,
                          [&](char* at) { return write_number(stored(element), at, value) == 0; })
             ? 0
             : failed;
}

int assign(kind element, const extent& e, char* data, PyObject* value) {
  if (!e.ndim) return write_number(stored(element), data, value);
  if (!is_sequence(value)) return assign_to_all(element, e, data, value);
  const reference items{PySequence_Tuple(value)};
  if (!items) return failed;
  return assign_one_by_one(element, e, data, items);
}

extern PyTypeObject array_type;

typed_array* allocate(kind element) {
  if (!typed_array_type()) return nullptr;
  auto* array = PyObject_New(typed_array, &array_type);
  if (!array) return nullptr;
  array->owner = nullptr;
  array->data = nullptr;
  array->element = element;
  array->is_read_only = false;
  return array;
}

void release(PyObject* self) {
  auto* array = as_typed_array(self);
  if (!array->owner) PyMem_Free(array->data);
  Py_XDECREF(array->owner);
  PyObject_Free(self);
}

PyObject* view_of(PyObject* self, const selection& chosen) {
  auto* array = as_typed_array(self);
  return new_typed_view(array->element, chosen.data, chosen.e, array->owner ? array->owner : self,
                        array->is_read_only);
}

// Returns a NumPy array of the same memory, created by NumPy's `asarray`.
PyObject* as_numpy(PyObject* asarray, PyObject* self) {
  auto* array = as_typed_array(self);
  if (array->element != kind::address) return PyObject_CallOneArg(asarray, self);
  const reference numbers{
      // NumPy has no address type
      new_typed_view(kind::u64, array->data, array->e, self, array->is_read_only)};
  return numbers ? PyObject_CallOneArg(asarray, numbers) : nullptr;
}

// Converts to a NumPy array if NumPy is loaded: NumPy then selects and compares, except for single
// elements. Returns nullptr with an error set, or without one if NumPy is not loaded.
PyObject* numpy_array(PyObject* self) {
  const reference asarray{loaded_numpy_attribute("asarray")};
  return asarray ? as_numpy(asarray, self) : nullptr;
}

// Whether a key is an integer. An integer array has `__index__` too, but is no index of one
// element.
bool is_index(PyObject* key) {
  PyMappingMethods* mapping = Py_TYPE(key)->tp_as_mapping;
  return PyIndex_Check(key) && !(mapping && mapping->mp_length);
}

PyObject* get_item(PyObject* self, PyObject* key) {
  auto* array = as_typed_array(self);
  if (!is_index(key)) {
    const reference ndarray{numpy_array(self)};
    PyObject* chosen = ndarray ? PyObject_GetItem(ndarray, key) : nullptr;
    if (chosen || PyErr_Occurred()) return chosen;
  }
  selection chosen;
  if (!select(array->e, array->data, key, chosen)) return nullptr;
  if (chosen.e.ndim) return view_of(self, chosen);
  return list_of_numbers(array->element, chosen.e, chosen.data);
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  auto* array = as_typed_array(self);
  if (!value || array->is_read_only)
    return raise_error(value ? PyExc_ValueError : PyExc_TypeError,
                       value ? "this array is read-only" : "elements cannot be deleted");
  if (!is_index(key) && !PySlice_Check(key)) {
    const reference ndarray{numpy_array(self)};
    int status = ndarray ? PyObject_SetItem(ndarray, key, value) : failed;
    if (ndarray || PyErr_Occurred()) return status;
  }
  selection chosen;
  if (!select(array->e, array->data, key, chosen)) return failed;
  return assign_numbers(array->element, chosen.e, chosen.data, value);
}

Py_ssize_t length(PyObject* self) { return as_typed_array(self)->e.shape[0]; }

PyObject* to_list(PyObject* self, PyObject*) {
  auto* array = as_typed_array(self);
  return list_of_numbers(array->element, array->e, array->data);
}

PyObject* to_bytes(PyObject* self, PyObject*) {
  const reference view{PyMemoryView_FromObject(self)};
  return view ? PyObject_CallMethod(view.get(), "tobytes", nullptr) : nullptr;
}

PyObject* represent(PyObject* self) {
  const reference list{to_list(self, nullptr)};
  return list ? PyUnicode_FromFormat("array('%s', %R)",
                                     number_format(as_typed_array(self)->element), list.get())
              : nullptr;
}

// Compares like a NumPy array if NumPy is loaded; else equals any sequence with the same elements.
PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (PyObject* array = numpy_array(self)) {
    PyObject* result = PyObject_RichCompare(array, other, operation);
    Py_DECREF(array);
    return result;
  }
  if (PyErr_Occurred()) return nullptr;
  if ((operation != Py_EQ && operation != Py_NE) || !PySequence_Check(other) ||
      PyUnicode_Check(other))
    Py_RETURN_NOTIMPLEMENTED;
  const reference ours{to_list(self, nullptr)};
  const reference theirs{is_typed_array(other) ? to_list(other, nullptr) : PySequence_List(other)};
  return ours && theirs ? PyObject_RichCompare(ours, theirs, operation) : nullptr;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* array = as_typed_array(self);
  Py_ssize_t size = number_size(array->element);
  bool wants_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if ((flags & PyBUF_WRITABLE && array->is_read_only) ||
      (!wants_strides && !array->e.is_contiguous(size)))
    return raise_error(PyExc_BufferError, array->is_read_only ? "this array is read-only"
                                                              : "this array is not contiguous");
  *view = {};
  view->buf = array->data;
  view->obj = Py_NewRef(self);
  view->len = array->e.elements() * size;
  view->itemsize = size;
  view->readonly = array->is_read_only;
  view->ndim = array->e.ndim;
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(number_format(array->element)) : nullptr;
  view->shape = flags & PyBUF_ND ? array->e.shape : nullptr;
  view->strides = wants_strides ? array->e.stride : nullptr;
  return 0;
}

PyObject* tuple_of(const Py_ssize_t* values, int n) {
  PyObject* tuple = PyTuple_New(n);
  for (int i = 0; tuple && i < n; ++i) {
    PyObject* value = PyLong_FromSsize_t(values[i]);
    if (!value) Py_CLEAR(tuple);
    if (tuple) PyTuple_SET_ITEM(tuple, i, value);
  }
  return tuple;
}

PyObject* get_shape(PyObject* self, void*) {
  return tuple_of(as_typed_array(self)->e.shape, as_typed_array(self)->e.ndim);
}
PyObject* get_strides(PyObject* self, void*) {
  return tuple_of(as_typed_array(self)->e.stride, as_typed_array(self)->e.ndim);
}
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(as_typed_array(self)->e.ndim); }
PyObject* get_size(PyObject* self, void*) {
  return PyLong_FromSsize_t(as_typed_array(self)->e.elements());
}
PyObject* get_item_size(PyObject* self, void*) {
  return PyLong_FromLong(number_size(as_typed_array(self)->element));
}
PyObject* get_byte_count(PyObject* self, void*) {
  auto* array = as_typed_array(self);
  return PyLong_FromSsize_t(array->e.elements() * number_size(array->element));
}
PyObject* get_format(PyObject* self, void*) {
  return PyUnicode_FromString(number_format(as_typed_array(self)->element));
}
PyObject* get_dtype(PyObject* self, void*) {
  kind element = as_typed_array(self)->element;
  return numpy_type_of(number_format(element == kind::address ? kind::u64 : element));
}
PyObject* get_view(PyObject* self, void*) { return PyMemoryView_FromObject(self); }
PyObject* get_address(PyObject* self, void*) {
  return PyLong_FromVoidPtr(as_typed_array(self)->data);
}

// Pickles as the standard library's `array`, so that unpickling does not need this package.
PyObject* reduce(PyObject* self, PyObject*) {
  const reference module{PyImport_ImportModule("array")};
  PyObject* type = module ? PyObject_GetAttrString(module, "array") : nullptr;
  PyObject* list = type ? to_list(self, nullptr) : nullptr;
  if (!list) {
    Py_XDECREF(type);
    return nullptr;
  }
  return Py_BuildValue("(N(sN))", type, number_format(as_typed_array(self)->element), list);
}

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "Elements per dimension.", nullptr},
    {"strides", get_strides, nullptr, "Bytes from element to element, per dimension.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of dimensions.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"itemsize", get_item_size, nullptr, "Bytes per element.", nullptr},
    {"nbytes", get_byte_count, nullptr, "Bytes of all elements.", nullptr},
    {"format", get_format, nullptr, "Letter of the element type, as in `struct`.", nullptr},
    {"typecode", get_format, nullptr,
     "Same as `format`; reprlib reads it of any class named array.", nullptr},
    {"dtype", get_dtype, nullptr, "The NumPy type of the elements; imports NumPy.", nullptr},
    {"memview", get_view, nullptr, "The same memory as a memoryview.", nullptr},
    {"ptr", get_address, nullptr, "Address of the first element.", nullptr},
    {}};

PyMethodDef methods[] = {
    {"tolist", to_list, METH_NOARGS, "tolist($self)\n--\n\nElements as a list. Host only."},
    {"tobytes", to_bytes, METH_NOARGS, "tobytes($self)\n--\n\nElements as bytes. Host only."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {}};

PySequenceMethods sequence = {.sq_length = length, .sq_item = item_at<get_item>};
PyMappingMethods mapping = {length, get_item, set_item};
PyBufferProcs buffer = {get_buffer, nullptr};

PyTypeObject array_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "cuda.bindings._low.array",
    .tp_basicsize = sizeof(typed_array),
    .tp_dealloc = release,
    .tp_repr = represent,
    .tp_as_sequence = &sequence,
    .tp_as_mapping = &mapping,
    .tp_hash = PyObject_HashNotImplemented,
    .tp_as_buffer = &buffer,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_SEQUENCE,
    .tp_doc = "Numbers in C memory: indexable, sliced without copying, with the buffer protocol.",
    .tp_richcompare = compare,
    .tp_methods = methods,
    .tp_getset = properties,
};

}  // namespace

const char* number_format(kind element) {
  static constexpr const char* formats[] = {"b", "B", "h", "H", "i", "I", "q", "Q", "f", "d"};
  if (element == kind::address) return "P";
  return formats[int(element)];
}

// Converts a sequence into scratch memory first. A rejected value then leaves the array unchanged,
// and an overlapping source is read before any element is written.
int assign_numbers(kind element, const extent& e, char* data, PyObject* value) {
  if (!is_sequence(value)) return assign(element, e, data, value);
  Py_ssize_t size = number_size(element);
  scratch memory;
  auto* converted = static_cast<char*>(memory.allocate(std::size_t(e.elements() * size)));
  if (!converted || assign(element, e.packed(size), converted, value) < 0) return failed;
  for_each_element(e, data, [&](char* at) {
    std::memcpy(at, std::exchange(converted, converted + size), std::size_t(size));
    return true;
  });
  return 0;
}

PyObject* list_of_numbers(kind element, const extent& e, char* data) {
  if (!e.ndim) return read_number(stored(element), data);
  PyObject* list = PyList_New(e.shape[0]);
  extent inner = e.inner();
  for (Py_ssize_t i = 0; list && i < e.shape[0]; ++i) {
    PyObject* item = list_of_numbers(element, inner, data + i * e.stride[0]);
    if (item) {
      PyList_SET_ITEM(list, i, item);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

PyTypeObject* typed_array_type() {
  engine_lock lock;
  bool is_ready = array_type.tp_flags & Py_TPFLAGS_READY || PyType_Ready(&array_type) == 0;
  return is_ready ? &array_type : nullptr;
}

bool is_typed_array(PyObject* object) { return Py_TYPE(object) == &array_type; }

PyObject* new_typed_array(kind element, Py_ssize_t n) {
  typed_array* array = allocate(element);
  if (!array) return nullptr;
  std::size_t size = std::size_t(number_size(element));
  array->e = extent::line(n, Py_ssize_t(size));
  array->data = static_cast<char*>(PyMem_Calloc(n ? std::size_t(n) : 1, size));
  auto* object = reinterpret_cast<PyObject*>(array);
  if (!array->data) {
    Py_DECREF(object);
    return PyErr_NoMemory();
  }
  return object;
}

PyObject* new_typed_view(kind element, char* data, const extent& e, PyObject* owner,
                         bool is_read_only) {
  typed_array* array = allocate(element);
  if (!array) return nullptr;
  array->data = data;
  array->owner = Py_NewRef(owner);
  array->e = e;
  array->is_read_only = is_read_only;
  return reinterpret_cast<PyObject*>(array);
}

PyObject* from_numpy(const char* name) {
  const reference numpy{PyImport_ImportModule("numpy")};
  return numpy ? PyObject_GetAttrString(numpy, name) : nullptr;
}

PyObject* numpy_type_of(const char* format) {
  const reference constructor{from_numpy("dtype")};
  return constructor ? PyObject_CallFunction(constructor.get(), "s", format) : nullptr;
}

}  // namespace halfwarp::bindings
