// SPDX-License-Identifier: Apache-2.0
// Listed names and pickling of struct classes.
#include "bindings/objects/keep_alive.hpp"

namespace halfwarp::bindings {
namespace {

bool is_padding(PyObject* attribute) {
  if (!PyObject_TypeCheck(attribute, &PyGetSetDescr_Type)) return false;
  return reinterpret_cast<PyGetSetDescrObject*>(attribute)->d_getset->doc == padding_doc;
}

bool is_listed(PyTypeObject* type, PyObject* name) {
  const reference found{PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name)};
  if (!found) return PyErr_Clear(), true;  // an attribute of the object itself
  bool is_extra = Py_IS_TYPE(found.get(), &PyMethodDescr_Type) &&  // a method in C
                  (PyUnicode_CompareWithASCIIString(name, "copy") == 0 ||
                   PyUnicode_CompareWithASCIIString(name, "asdict") == 0);
  bool is_hidden = is_extra || is_padding(found);
  return !is_hidden;
}

}  // namespace

const char padding_doc[] = "Padding of the C struct.";

PyObject* list_attributes(PyObject* self, PyObject*) {
  auto* object = reinterpret_cast<PyObject*>(&PyBaseObject_Type);
  const reference all{PyObject_CallMethod(object, "__dir__", "O", self)};
  PyObject* listed = all ? PyList_New(0) : nullptr;
  for (Py_ssize_t i = 0; listed && i < PyList_GET_SIZE(all.get()); ++i) {
    PyObject* name = PyList_GET_ITEM(all.get(), i);
    if (is_listed(Py_TYPE(self), name) && PyList_Append(listed, name) < 0) Py_CLEAR(listed);
  }
  return listed;
}

PyObject* pickled_struct(PyObject* self, PyObject* contents) {
  const reference low{contents ? PyImport_ImportModule("cuda.bindings._low") : nullptr};
  PyObject* restore = low ? PyObject_GetAttrString(low, "struct_from_bytes") : nullptr;
  if (restore) return Py_BuildValue("(N(ON))", restore, Py_TYPE(self), contents);
  Py_XDECREF(contents);
  return nullptr;
}

PyObject* struct_from_bytes(PyObject* type, PyObject* contents) {
  Py_buffer bytes;
  if (PyObject_GetBuffer(contents, &bytes, PyBUF_SIMPLE) < 0) return nullptr;
  class_type* ours =
      PyType_Check(type) ? any_class(reinterpret_cast<PyTypeObject*>(type)) : nullptr;
  auto from_bytes = ours ? family_of(*ours).from_bytes : nullptr;
  PyObject* made = from_bytes ? from_bytes(type, *ours, bytes) : nullptr;
  if (!made && !PyErr_Occurred())
    PyErr_Format(PyExc_ValueError, "%zd bytes are not the contents of %R", bytes.len, type);
  PyBuffer_Release(&bytes);
  return made;
}

PyObject* joined(const char* separator, PyObject* texts) {
  const reference between{texts ? PyUnicode_FromString(separator) : nullptr};
  PyObject* text = between ? PyUnicode_Join(between, texts) : nullptr;
  Py_XDECREF(texts);
  return text;
}

bool append(PyObject* list, PyObject* item) {
  int status = list && item ? PyList_Append(list, item) : -1;
  Py_XDECREF(item);
  return status == 0;
}

}  // namespace halfwarp::bindings
