// SPDX-License-Identifier: Apache-2.0
// Fills modules from tables.
#include "bindings/module.hpp"

#include <cstring>

#include "bindings/data_types/numpy_types.hpp"
#include "bindings/data_types/records.hpp"
#include "bindings/enums/enum_type.hpp"
#include "bindings/raising/errors.hpp"
#include "bindings/types/class_type.hpp"
#include "bindings/types/engine_lock.hpp"

namespace halfwarp::bindings {
namespace {

PyMethodDef common_methods[] = {{"sizeof", module_sizeof, METH_O,
                                 "sizeof(objType)\n--\n\nSize in bytes of the C type behind a "
                                 "class of this module. Host only."},
                                {}};

// Thousands of objects that all stay would make the collector look at them several times.
class collection_pause {
 public:
  collection_pause() : was_enabled_{PyGC_Disable() != 0} {}
  ~collection_pause() {
    if (was_enabled_) PyGC_Enable();
  }
  collection_pause(const collection_pause&) = delete;  // what was enabled is enabled once
  collection_pause& operator=(const collection_pause&) = delete;

 private:
  bool was_enabled_;
};

// As PyModule_AddFunctions does, but straight into the dictionary: setting an attribute of the
// module five hundred times would take most of the time of the import.
int add_functions(PyObject* module, PyMethodDef* methods) {
  PyObject* dictionary = PyModule_GetDict(module);
  PyObject* module_name = PyModule_GetNameObject(module);
  int status = module_name ? 0 : -1;
  for (PyMethodDef* method = methods; status == 0 && method->ml_name; ++method) {
    PyObject* name = PyUnicode_InternFromString(method->ml_name);
    PyObject* function = name ? PyCFunction_NewEx(method, module, module_name) : nullptr;
    status = function ? PyDict_SetItem(dictionary, name, function) : -1;
    Py_XDECREF(function);
    Py_XDECREF(name);
  }
  Py_XDECREF(module_name);
  return status;
}

int define_methods(const library& lib) {
  PyMethodDef*& methods = lib.state->methods;
  if (methods) return 0;
  methods = static_cast<PyMethodDef*>(PyMem_Calloc(lib.methods.size() + 1, sizeof(PyMethodDef)));
  if (!methods) return PyErr_NoMemory() ? 0 : -1;
  PyMethodDef* next = methods;
  for (const method_record& each : lib.methods)
    *next++ = {each.name, each.entry, each.calling, each.doc};
  return 0;
}

int add_classes(const library& lib, PyObject* dictionary) {
  for (std::size_t i = 0; i < lib.classes.size(); ++i) {
    const data_record* data = lib.classes[i].data;
    if (data && !data->dtype) continue;  // for calls alone
    class_type* made = ready_class(lib, int(i));
    auto* object = reinterpret_cast<PyObject*>(made);
    if (!made || PyDict_SetItemString(dictionary, short_name(lib.classes[i].name), object) < 0)
      return -1;
  }
  return 0;
}

int add_enums(const library& lib, PyObject* dictionary) {
  for (std::size_t i = 0; i < lib.enums.size(); ++i) {
    auto* made = reinterpret_cast<PyObject*>(ready_enum(lib, int(i)));
    if (!made || PyDict_SetItemString(dictionary, short_name(lib.enums[i].name), made) < 0)
      return -1;
  }
  return 0;
}

int add_foreign_enums(const library& lib, PyObject* dictionary) {
  for (const foreign_enum& each : lib.foreign_enums) {
    auto* made = reinterpret_cast<PyObject*>(ready_enum(*each.owner, each.index));
    if (!made || PyDict_SetItemString(dictionary, each.name, made) < 0) return -1;
  }
  return 0;
}

int add_exceptions(const library& lib, PyObject* dictionary) {
  std::size_t n = lib.raises ? lib.raises->classes.size() : 0;
  for (std::size_t i = 0; i < n; ++i) {
    auto* made = reinterpret_cast<PyObject*>(ready_exception(lib, int(i)));
    const char* name = short_name(lib.raises->classes[i].name);
    if (!made || PyDict_SetItemString(dictionary, name, made) < 0) return -1;
  }
  if (!n) return 0;
  for (const exception_alias& alias : lib.raises->aliases) {
    auto* made = reinterpret_cast<PyObject*>(ready_exception(lib, alias.index));
    if (!made || PyDict_SetItemString(dictionary, alias.name, made) < 0) return -1;
  }
  return 0;
}

int add_constants(const library& lib, PyObject* dictionary) {
  for (const constant& c : lib.constants) {
    PyObject* value = PyLong_FromLongLong(c.value);
    int status = value ? PyDict_SetItemString(dictionary, c.name, value) : -1;
    Py_XDECREF(value);
    if (status < 0) return -1;
  }
  return 0;
}

bool is_public(PyObject* key) {
  return PyUnicode_Check(key) && PyUnicode_GET_LENGTH(key) && PyUnicode_READ_CHAR(key, 0) != '_';
}

// All public names, for `from module import *`.
int add_all(PyObject* dictionary) {
  PyObject* names = PyList_New(0);
  PyObject *name, *value;
  Py_ssize_t at = 0;
  int status = names ? 0 : -1;
  while (status == 0 && PyDict_Next(dictionary, &at, &name, &value))
    if (is_public(name)) status = PyList_Append(names, name);
  if (status == 0) status = PyDict_SetItemString(dictionary, "__all__", names);
  Py_XDECREF(names);
  return status;
}

int forget(PyObject* dictionary, const char* name) {
  PyObject* key = PyUnicode_FromString(name);
  int present = key ? PyDict_Contains(dictionary, key) : -1;
  if (present == 1) present = PyDict_DelItem(dictionary, key);
  Py_XDECREF(key);
  return present < 0 ? -1 : 0;
}

bool is_complete(PyObject* dictionary) {
  return PyDict_GetItemString(dictionary, "__all__") != nullptr;
}

PyObject* raise_no_attribute(const library& lib, PyObject* name) {
  PyErr_Format(PyExc_AttributeError, "module '%s' has no attribute '%U'", lib.module, name);
  return nullptr;
}

// `__path__`, `__wrapped__` and so on: the import system and others ask every module for them.
bool is_private_protocol(PyObject* name) {
  return PyUnicode_GET_LENGTH(name) > 1 && PyUnicode_READ_CHAR(name, 0) == '_' &&
         PyUnicode_READ_CHAR(name, 1) == '_' &&
         PyUnicode_CompareWithASCIIString(name, "__all__") != 0;
}

}  // namespace

int fill_module(const library& lib, PyObject* module) {
  lib.state->module = Py_NewRef(module);
  if (!lib.state->keywords) {
    lib.state->keywords =
        static_cast<PyObject**>(PyMem_Calloc(lib.functions.size(), sizeof(PyObject*)));
    if (!lib.state->keywords) return PyErr_NoMemory() ? 0 : -1;
  }
  collection_pause pause;
  if (define_methods(lib) < 0 || add_functions(module, lib.state->methods) < 0) return -1;
  if (!lib.raises && add_functions(module, common_methods) < 0) return -1;
  return add_functions(module, lib.lazy_methods);
}

int complete_module(const library& lib) {
  engine_lock lock;
  PyObject* dictionary = PyModule_GetDict(lib.state->module);
  if (is_complete(dictionary)) return 0;
  collection_pause pause;
  if (add_classes(lib, dictionary) < 0 || add_enums(lib, dictionary) < 0 ||
      add_foreign_enums(lib, dictionary) < 0 || add_exceptions(lib, dictionary) < 0 ||
      add_constants(lib, dictionary) < 0)
    return -1;
  if (has_numpy_types(lib)) return add_all(dictionary);  // which are made one by one
  if (forget(dictionary, "__getattr__") < 0 || forget(dictionary, "__dir__") < 0) return -1;
  return add_all(dictionary);
}

PyObject* missing_name(const library& lib, PyObject* name) {
  if (!PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "attribute name must be str, not %s", Py_TYPE(name)->tp_name);
    return nullptr;
  }
  if (is_private_protocol(name)) return raise_no_attribute(lib, name);
  if (complete_module(lib) < 0) return nullptr;
  PyObject* found = PyDict_GetItemWithError(PyModule_GetDict(lib.state->module), name);
  if (found || PyErr_Occurred()) return Py_XNewRef(found);
  PyObject* type = numpy_type_named(lib, name);
  return type || PyErr_Occurred() ? type : raise_no_attribute(lib, name);
}

PyObject* directory(const library& lib) {
  if (complete_module(lib) < 0) return nullptr;
  PyObject* names = PyDict_Keys(PyModule_GetDict(lib.state->module));
  if (names && (list_numpy_types(lib, names) < 0 || PyList_Sort(names) < 0)) Py_CLEAR(names);
  return names;
}

PyObject* size_of(PyObject* type) {
  for (const library* lib : libraries) {
    auto* candidate = reinterpret_cast<class_type*>(type);
    if (candidate >= lib->types && candidate < lib->types + lib->classes.size())
      return PyLong_FromLong(candidate->record->size);
  }
  PyErr_Format(PyExc_TypeError, "Unknown type: %R", type);
  return nullptr;
}

}  // namespace halfwarp::bindings
