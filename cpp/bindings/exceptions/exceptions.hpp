// SPDX-License-Identifier: Apache-2.0
// Exceptions of libraries whose functions raise: classes, and functions that raise them.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Library-specific parts of errors. `result` is the return value of the C function; 0 if the
// exception was constructed in Python.
struct error_details {
  // Returns the message in place of "NAME (value)"; a new reference, nullptr to use the default.
  PyObject* (*text)(const library& lib, std::int64_t status, word result) = nullptr;
  // Sets the further attributes of a new error.
  bool (*complete)(const library& lib, PyObject* error, word result) = nullptr;
  // Whether the constructor accepts a CUDA status too.
  bool takes_cuda_status = false;
  // Whether a negative number is an error; -1 means that `errno` has the status.
  bool negative_is_error = false;
};

extern const error_details nvml_errors, cufile_errors, nvrtc_errors;

// Marks a result that holds a CUDA status; for errors that Python code constructed.
constexpr word has_cuda_status_flag = word{1} << 63;

// Returns a class of the library's table of exceptions, created on first use (borrowed).
PyTypeObject* ready_exception(const library& lib, int index);

// Returns the class of errors with a status (borrowed).
PyTypeObject* exception_for(const library& lib, std::int64_t status);

// Raises the exception of the status that `caller` ("nvml.init_v2") returned; nullptr. Keeps a
// Python error that is set already (missing library or symbol).
PyObject* raise_status(const library& lib, const char* caller, std::int64_t status, word result);

// Raises the library's error for a null handle without a call: not all of its functions check.
// Returns true if the library lacks the function, since the call then reports that.
bool reject_null(const library& lib, const function& f, const param& p);

// Returns 0, or raises if a status is an error; the insufficient-size status may pass.
PyObject* check_status(const library& lib, PyObject* status, bool insufficient_passes);
template <const library& Library>
PyObject* module_check_status(PyObject*, PyObject* status) {
  return check_status(Library, status, false);
}
template <const library& Library>
PyObject* module_check_status_size(PyObject*, PyObject* status) {
  return check_status(Library, status, true);
}

// Returns the explanation of a status.
PyObject* op_status_error(const library& lib, PyObject* status);
template <const library& Library>
PyObject* module_op_status_error(PyObject*, PyObject* status) {
  return op_status_error(Library, status);
}

// Implements `__init__`: sets the fields of a new exception from its status.
int init_error(const library& lib, PyObject* self, PyObject* args, PyObject* keywords);
template <const library& Library>
int error_init(PyObject* self, PyObject* args, PyObject* keywords) {
  return init_error(Library, self, args, keywords);
}

}  // namespace halfwarp::bindings
