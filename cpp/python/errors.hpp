// SPDX-License-Identifier: Apache-2.0
// The one place where what C++ or the driver reports becomes a Python exception.
#pragma once

#include <Python.h>
#include <cuda.h>

#include "python/lock/interpreter_lock.hpp"

namespace halfwarp::python {

// Sets CUDAError (or OutOfMemoryError) for a driver function that answered `code`; returns -1. An
// error that is set already stays: the loader's, when there was no function to call. `function`
// may be null. Needs the interpreter lock.
using raise_function = int (*)(CUresult code, const char* function);

// Written once, when the extension is imported.
inline raise_function raise_driver_error = nullptr;

// Call inside a catch block, with the interpreter lock: sets the exception for what was thrown.
void translate_exception() noexcept;

// For a function whose status is at hand: 0, or -1 with the exception set. Takes the interpreter
// lock only to raise.
[[nodiscard]] inline int check(CUresult code, const char* function) noexcept {
  if (code == CUDA_SUCCESS) [[likely]]
    return 0;
  const gil_acquire lock;
  run_python([=] { return raise_driver_error(code, function); });
  return -1;
}

// Whether the interpreter is going down: module globals may be gone.
[[nodiscard]] bool is_finalizing() noexcept;

// Lets driver objects that could not be destroyed become warnings of this class, which must live as
// long as the process.
void warn_of_clean_up(PyObject* warning_class) noexcept;

}  // namespace halfwarp::python
