// SPDX-License-Identifier: Apache-2.0
// The state of the process, which only the extension `cuda.bindings._low` contains.
#include "interpreter/lone_thread.hpp"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <unistd.h>

#include <cstring>

namespace halfwarp::interpreter {
namespace {

#ifndef Py_GIL_DISABLED
// Once true, it stays true.
bool may_be_shared;
// Size of sys.modules at the last check; a module that replaced another one was checked with it.
Py_ssize_t checked_modules = -1;
PyInterpreterState* main_interpreter;
PyObject* modules;  // sys.modules, retained: the end of the interpreter releases it
PyObject* file_key;

bool begins_with(const char* text, const char* prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool ends_with(const char* text, const char* suffix) noexcept {
  const std::size_t length = std::strlen(text), end = std::strlen(suffix);
  return length >= end && std::strcmp(text + length - end, suffix) == 0;
}

// Returns true for modules of CPython, NumPy and this package, which submit no unknown function.
bool is_known_extension(const char* name, const char* file) noexcept {
  return std::strstr(file, "/lib-dynload/") || begins_with(name, "cuda.bindings.") ||
         begins_with(name, "cuda.core.") || begins_with(name, "numpy.");
}

bool is_known_module(PyObject* name, PyObject* module) noexcept {
  if (module == Py_None || PyType_Check(module)) return true;
  if (!PyModule_Check(module) || !PyUnicode_Check(name)) return false;
  PyObject* const file = PyDict_GetItem(PyModule_GetDict(module), file_key);
  if (!file || !PyUnicode_Check(file)) return true;  // built in, frozen or created by Python code
  const char* const path = PyUnicode_AsUTF8(file);
  const char* const text = PyUnicode_AsUTF8(name);
  if (!path || !text) {
    PyErr_Clear();
    return false;
  }
  return !ends_with(path, ".so") || is_known_extension(text, path);
}

// A program that embeds Python may have threads and callbacks of its own.
bool is_python_program() noexcept {
  char path[1024];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  const char* const slash = std::strrchr(path, '/');
  return slash && begins_with(slash + 1, "python");
}

bool prepare() noexcept {
  file_key = PyUnicode_InternFromString("__file__");
  if (!file_key) {
    PyErr_Clear();
    return false;
  }
  main_interpreter = PyInterpreterState_Main();
  PyObject* const current = PySys_GetObject("modules");  // null while the interpreter finalizes
  if (!current || !PyDict_CheckExact(current)) return false;
  modules = Py_NewRef(current);
  return is_python_program();
}

// Checks all modules. Runs no Python code, so that the dict does not change.
[[gnu::noinline]] bool check_modules() noexcept {
  if (PyThreadState_Get()->interp != PyInterpreterState_Main()) return false;
  may_be_shared = !modules && !prepare();
  if (may_be_shared) return false;
  Py_ssize_t position = 0;
  PyObject *name, *module;
  while (!may_be_shared && PyDict_Next(modules, &position, &name, &module))
    may_be_shared = !is_known_module(name, module);
  checked_modules = PyDict_GET_SIZE(modules);
  return !may_be_shared;
}
#endif

}  // namespace

bool is_lone_thread() noexcept {
#ifdef Py_GIL_DISABLED
  return false;
#else
  if (may_be_shared) return false;
  const PyThreadState* const own = PyThreadState_Get();  // a node of the list of all threads
  if (own->prev || own->next) return false;
  const bool is_checked = modules && PyDict_GET_SIZE(modules) == checked_modules;
  if (!is_checked && !check_modules()) return false;
  return PyInterpreterState_Head() == main_interpreter && own->interp == main_interpreter;
#endif
}

void expect_callbacks() noexcept {
#ifndef Py_GIL_DISABLED
  may_be_shared = true;
#endif
}

}  // namespace halfwarp::interpreter
