// SPDX-License-Identifier: Apache-2.0
// Fills modules from tables.
#include "bindings/module/module.hpp"

#include <algorithm>

#include "bindings/errors/errors.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/module/documentation.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/records/records.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {

constinit const class_family* const class_families[] = {&handle_family, &struct_family,
                                                        &numpy_struct_family};
namespace {

// Binds the argument of `sizeof`, with the errors of bind_arguments.
PyObject* sizeof_argument(PyObject* const* args, Py_ssize_t n, PyObject* names) {
  Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "objType") == 0) continue;
    return PyErr_Format(PyExc_TypeError, "sizeof() got an unexpected keyword argument '%U'", name);
  }
  if (n + named == 1) return args[0];
  if (n + named == 0)
    return PyErr_Format(PyExc_TypeError,
                        "sizeof() missing required argument 'objType' (position 1)");
  if (named)
    return PyErr_Format(PyExc_TypeError, "sizeof() got multiple values for argument 'objType'");
  return PyErr_Format(PyExc_TypeError, "sizeof() takes 1 argument but %zd were given", n);
}

PyObject* module_sizeof(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  PyObject* type = sizeof_argument(args, n, names);
  return type ? size_of(type) : nullptr;
}

PyMethodDef common_methods[] = {
    {"sizeof", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(module_sizeof)),
     METH_FASTCALL | METH_KEYWORDS,
     "sizeof(objType)\n--\n\nReturns the size in bytes of a C type. Host only."
     "\n\nParameters\n----------\nobjType\n    Class of this module for the type."},
    {}};

// Disables the garbage collector while thousands of permanent objects are created, which it would
// traverse repeatedly.
class collection_pause {
 public:
  collection_pause() : was_enabled_{PyGC_Disable() != 0} {}
  ~collection_pause() {
    if (was_enabled_) PyGC_Enable();
  }
  collection_pause(const collection_pause&) = delete;  // enables once
  collection_pause& operator=(const collection_pause&) = delete;

 private:
  bool was_enabled_;
};

// Adds an object under a name, unless user code has set the name.
bool add(PyObject* dictionary, const char* name, PyObject* object) {
  const reference key{object ? PyUnicode_InternFromString(name) : nullptr};
  return key && PyDict_SetDefault(dictionary, key, object);
}

bool add_owned(PyObject* dictionary, const char* name, PyObject* object) {
  bool ok = add(dictionary, name, object);
  Py_XDECREF(object);
  return ok;
}

// Adds a function directly to the dictionary: setting a module attribute takes longer than creating
// the function.
bool add_function(PyObject* module, PyMethodDef* method) {
  const reference name{PyModule_GetNameObject(module)};
  PyObject* function = name ? PyCFunction_NewEx(method, module, name) : nullptr;
  return add_owned(PyModule_GetDict(module), method->ml_name, function);
}

bool add_functions(PyObject* module, PyMethodDef* methods) {
  for (PyMethodDef* method = methods; method->ml_name; ++method)
    if (!add_function(module, method)) return false;
  return true;
}

bool add_function(const library& lib, const method_record& record) {
  PyMethodDef*& methods = lib.state->methods;
  if (!methods) {
    methods = static_cast<PyMethodDef*>(PyMem_Calloc(lib.methods.size(), sizeof(PyMethodDef)));
    if (!methods) return PyErr_NoMemory() != nullptr;
  }
  auto i = &record - lib.methods.data();
  if (!methods[i].ml_name) {  // an earlier function object may refer to it
    const char* doc = documentation_of(lib, record);
    if (!doc) return false;
    bool is_check = record.function < 0;
    methods[i] = {record.name, lib.entries[i], is_check ? METH_O : METH_FASTCALL | METH_KEYWORDS,
                  doc};
  }
  return add_function(lib.state->module, &methods[i]);
}

bool add_locked(const library& lib, const method_record& record) {
  engine_lock lock;
  return add_function(lib, record);
}

bool add_functions(const library& lib) {
  for (const method_record& record : lib.methods)
    if (!add_function(lib, record)) return false;
  return true;
}

// Finds a function by name. Functions are created on demand: a program uses a few of them, and
// creating all takes a third of the import time.
const method_record* find_function(const library& lib, PyObject* name) {
  auto is_before = [](const method_record& record, PyObject* key) {
    return PyUnicode_CompareWithASCIIString(key, record.name) > 0;
  };
  auto match = std::lower_bound(lib.methods.begin(), lib.methods.end(), name, is_before);
  bool is_match =
      match != lib.methods.end() && PyUnicode_CompareWithASCIIString(name, match->name) == 0;
  return is_match ? &*match : nullptr;
}

bool add_classes(const library& lib, PyObject* dictionary) {
  for (std::size_t i = 0; i < lib.classes.size(); ++i) {
    const numpy_record* data = lib.classes[i].numpy;
    if (data && !data->dtype) continue;  // used by calls only
    class_type* type = ready_class(lib, int(i));
    auto* object = reinterpret_cast<PyObject*>(type);
    if (!add(dictionary, short_name(lib.classes[i].name), object)) return false;
  }
  return true;
}

bool add_enums(const library& lib, PyObject* dictionary) {
  for (std::size_t i = 0; i < lib.enums.size(); ++i) {
    bool is_python = lib.raises && lib.raises->has_python_enums;
    PyObject* enum_class = is_python
                               ? python_enum(lib, int(i))
                               : Py_XNewRef(reinterpret_cast<PyObject*>(ready_enum(lib, int(i))));
    if (!add_owned(dictionary, short_name(lib.enums[i].name), enum_class)) return false;
  }
  return true;
}

bool add_foreign_enums(const library& lib, PyObject* dictionary) {
  for (const foreign_enum& each : lib.foreign_enums) {
    auto* enum_class = reinterpret_cast<PyObject*>(ready_enum(*each.owner, each.index));
    if (!add(dictionary, each.name, enum_class)) return false;
  }
  return true;
}

bool add_exceptions(const library& lib, PyObject* dictionary) {
  std::size_t n = lib.raises ? lib.raises->classes.size() : 0;
  for (std::size_t i = 0; i < n; ++i) {
    auto* type = reinterpret_cast<PyObject*>(ready_exception(lib, int(i)));
    if (!add(dictionary, short_name(lib.raises->classes[i].name), type)) return false;
  }
  if (!n) return true;
  for (const exception_alias& alias : lib.raises->aliases) {
    auto* type = reinterpret_cast<PyObject*>(ready_exception(lib, alias.index));
    if (!add(dictionary, alias.name, type)) return false;
  }
  return true;
}

bool add_constants(const library& lib, PyObject* dictionary) {
  for (const constant& c : lib.constants)
    if (!add_owned(dictionary, c.name, PyLong_FromLongLong(c.value))) return false;
  return true;
}

bool is_public(PyObject* key) {
  return PyUnicode_Check(key) && PyUnicode_GET_LENGTH(key) && PyUnicode_READ_CHAR(key, 0) != '_';
}

// Sets `__all__` to all public names.
bool add_all(PyObject* dictionary) {
  const reference all{PyDict_Keys(dictionary)};  // other threads may add names
  const reference names{all ? PyList_New(0) : nullptr};
  bool ok = names;
  for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(all.get()); ++i) {
    PyObject* name = PyList_GET_ITEM(all.get(), i);
    if (is_public(name)) ok = PyList_Append(names, name) == 0;
  }
  return ok && PyDict_SetItemString(dictionary, "__all__", names) == 0;
}

// Removes `__getattr__` and `__dir__` from a complete module: a `__getattr__` slows down each
// attribute access.
bool remove_lazy_methods(PyObject* dictionary) {
  for (const char* name : {"__getattr__", "__dir__"}) {
    const reference key{PyUnicode_FromString(name)};
    const reference had{key ? pop_item(dictionary, key)
                            : nullptr};  // another thread may have removed it
    if (!had && PyErr_Occurred()) return false;
  }
  return true;
}

bool is_complete(PyObject* dictionary) {
  return PyDict_GetItemString(dictionary, "__all__") != nullptr;
}

PyObject* raise_no_attribute(const library& lib, PyObject* name) {
  return raise_error(PyExc_AttributeError, "module '%s' has no attribute '%U'", lib.module, name);
}

// Whether a name is a protocol name such as `__path__` or `__wrapped__`, which the import system
// looks up in every module. C constants such as `__CUDART_API_VERSION` do not end in underscores.
bool is_private_protocol(PyObject* name) {
  const Py_ssize_t end = PyUnicode_GET_LENGTH(name);
  const auto is_underscore = [name](Py_ssize_t at) { return PyUnicode_READ_CHAR(name, at) == '_'; };
  return end > 4 && is_underscore(0) && is_underscore(1) && is_underscore(end - 1) &&
         is_underscore(end - 2) && PyUnicode_CompareWithASCIIString(name, "__all__") != 0;
}

}  // namespace

bool fill_module(const library& lib, PyObject* module) {
  lib.state->module = Py_NewRef(module);
  if (!lib.state->keywords) {
    lib.state->keywords =
        static_cast<PyObject**>(PyMem_Calloc(lib.functions.size(), sizeof(PyObject*)));
    if (!lib.state->keywords) return PyErr_NoMemory() != nullptr;
  }
  if (!lib.raises && !add_functions(module, common_methods)) return false;
  return add_functions(module, lib.lazy_methods);
}

bool complete_module(const library& lib) {
  engine_lock lock;
  PyObject* dictionary = PyModule_GetDict(lib.state->module);
  if (is_complete(dictionary)) return true;
  collection_pause pause;
  if (!add_functions(lib) || !add_classes(lib, dictionary) || !add_enums(lib, dictionary) ||
      !add_foreign_enums(lib, dictionary) || !add_exceptions(lib, dictionary) ||
      !add_constants(lib, dictionary) || !add_all(dictionary))
    return false;
  const bool has_all = !has_numpy_types(lib) || make_numpy_types(lib);
  return !has_all || remove_lazy_methods(dictionary);
}

PyObject* missing_name(const library& lib, PyObject* name) {
  if (!PyUnicode_Check(name))
    return raise_error(PyExc_TypeError, "attribute name must be str, not %s",
                       Py_TYPE(name)->tp_name);
  if (is_private_protocol(name)) return raise_no_attribute(lib, name);
  const method_record* function = find_function(lib, name);
  if (!(function ? add_locked(lib, *function) : complete_module(lib))) return nullptr;
  PyObject* value = item_of(PyModule_GetDict(lib.state->module), name);
  if (value || PyErr_Occurred()) return value;
  PyObject* type = numpy_type_named(lib, name);
  if (type && make_numpy_types(lib) && !remove_lazy_methods(PyModule_GetDict(lib.state->module)))
    Py_CLEAR(type);
  return type || PyErr_Occurred() ? type : raise_no_attribute(lib, name);
}

PyObject* directory(const library& lib) {
  if (!complete_module(lib)) return nullptr;
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
  return raise_error(PyExc_TypeError, "Unknown type: %R", type);
}

}  // namespace halfwarp::bindings
