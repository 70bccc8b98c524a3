// SPDX-License-Identifier: Apache-2.0
// Converts C++ exceptions and driver errors to Python exceptions.
#pragma once

#include <Python.h>
#include <cuda.h>

#include "python/lock/gil.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {

// Sets CUDAError (or OutOfMemoryError) for a driver function that returned `code`; returns -1.
// Keeps an error that is already set, such as the loader's. `function` may be null. Needs the GIL.
using raise_function = int (*)(CUresult code, const char* function);

// Set once, when the extension is imported.
inline raise_function raise_driver_error = nullptr;

// Returns a value for an error message: its repr, in one short line. Set once, as above.
inline PyObject* (*show_value)(PyObject* value) = nullptr;

// Like `show_value`; without memory for the text, the type of the value. For "%S" of PyErr_Format.
[[nodiscard]] reference shown(PyObject* value) noexcept;

// Call inside a catch block, with the GIL held: sets the exception for the one being handled.
void translate_exception() noexcept;

// Sets RuntimeError for an object whose constructor did not run or complete; returns -1.
int raise_uninitialized(PyObject* object) noexcept;

// Checks a driver status. Returns 0, or -1 with an exception set. Acquires the GIL only to raise.
[[nodiscard]] inline int check(CUresult code, const char* function) noexcept {
  if (code == CUDA_SUCCESS) [[likely]]
    return 0;
  const gil_acquire lock;
  run_python([=] { return raise_driver_error(code, function); });
  return failed;
}

// Returns whether the interpreter is finalizing; module globals may then be cleared.
[[nodiscard]] bool is_finalizing() noexcept;

// Sets the class of the warnings about driver objects that could not be destroyed.
void set_cleanup_warning(PyObject* warning_class) noexcept;

}  // namespace halfwarp::python
