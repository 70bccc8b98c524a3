// SPDX-License-Identifier: Apache-2.0
// The exceptions of libraries whose functions raise: their classes, and how they come to be raised.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// What the errors of a library have besides their status. `result` is what the C function
// returned; 0 when the exception is constructed by hand.
struct error_details {
  // The message, in place of "NAME (value)"; a new reference, or nullptr for that.
  PyObject* (*text)(const library& lib, std::int64_t status, word result) = nullptr;
  // Gives a new error its further attributes.
  bool (*complete)(const library& lib, PyObject* error, word result) = nullptr;
  // The constructor takes the status of CUDA besides.
  bool takes_cuda_status = false;
  // A function that returns a number tells an error by a negative one: -1 is in `errno`.
  bool negative_is_error = false;
};

extern const error_details nvml_errors, cufile_errors, nvrtc_errors;

// The two statuses of an error that was constructed by hand, as if a C function had returned them.
constexpr word has_cuda_status_flag = word{1} << 63;

// The class at a place in the library's table of exceptions, made when first needed (borrowed).
PyTypeObject* ready_exception(const library& lib, int index);

// The class of errors with that status (borrowed).
PyTypeObject* exception_for(const library& lib, std::int64_t status);

// Raises the exception of a status that `caller` ("nvml.init_v2") got; nullptr. A Python error
// that is set already (no library, no such symbol) stays.
PyObject* raise_status(const library& lib, const char* caller, std::int64_t status, word result);

// What the library says of a null handle, without asking it: not all of its functions look. True
// where the call says better what is wrong, since the library lacks the function.
bool reject_null(const library& lib, const function& f, const param& p);

// 0 unless a status is an error; one that asks for more memory may pass.
PyObject* check_status(const library& lib, PyObject* status, bool insufficient_passes);
template <const library& Library>
PyObject* module_check_status(PyObject*, PyObject* status) {
  return check_status(Library, status, false);
}
template <const library& Library>
PyObject* module_check_status_size(PyObject*, PyObject* status) {
  return check_status(Library, status, true);
}

// What a status means, in words.
PyObject* op_status_error(const library& lib, PyObject* status);
template <const library& Library>
PyObject* module_op_status_error(PyObject*, PyObject* status) {
  return op_status_error(Library, status);
}

// Fills a new exception from its one argument, the status: `__init__`.
int init_error(const library& lib, PyObject* self, PyObject* args, PyObject* keywords);
template <const library& Library>
int error_init(PyObject* self, PyObject* args, PyObject* keywords) {
  return init_error(Library, self, args, keywords);
}

}  // namespace halfwarp::bindings
