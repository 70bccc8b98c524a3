// SPDX-License-Identifier: Apache-2.0
// Errors of cuFile: a status, a CUDA status, or an error of the operating system.
#include <cuda.h>

#include <cstring>

#include "bindings/exceptions/exceptions.hpp"
#include "bindings/objects/enum_type.hpp"

namespace halfwarp::bindings {
namespace {

constexpr std::int64_t first_status = 5000;  // smaller values are errno codes

bool has_cuda_status(word result) { return result >> 32 != 0; }
int cuda_status_of(word result) { return int((result & ~has_cuda_status_flag) >> 32); }

// Returns a name such as "CUDA_ERROR_NOT_INITIALIZED" from the enumeration that the module offers
// under its own name.
PyObject* cuda_status_name(const library& lib, int status) {
  if (lib.foreign_enums.empty()) return PyUnicode_FromString("CUresult");
  const foreign_enum& codes = lib.foreign_enums.front();
  const enum_type* type = ready_enum(*codes.owner, codes.index);
  const enum_entry* entry = type ? find_entry(type, status) : nullptr;
  return entry  ? Py_NewRef(entry->name)
         : type ? PyUnicode_FromFormat("UNKNOWN_%d", status)
                : nullptr;
}

PyObject* status_text(const library& lib, std::int64_t status) {
  const enum_type* statuses = ready_enum(lib, lib.result_enum);
  const enum_entry* entry = statuses ? find_entry(statuses, status) : nullptr;
  auto value = static_cast<long long>(status);
  if (entry) return PyUnicode_FromFormat("%U (%lld)", entry->name, value);
  if (!statuses) return nullptr;
  return status > 0 && status < first_status
             ? PyUnicode_FromFormat("%s (errno %lld)", std::strerror(int(status)), value)
             : PyUnicode_FromFormat("UNKNOWN_%lld (%lld)", value, value);
}

PyObject* error_text(const library& lib, std::int64_t status, word result) {
  PyObject* text = status_text(lib, status);
  if (!text || !has_cuda_status(result)) return text;
  const reference name{cuda_status_name(lib, cuda_status_of(result))};
  PyObject* both = name ? PyUnicode_FromFormat("%U; CUDA status: %U (%d)", text, name.get(),
                                               cuda_status_of(result))
                        : nullptr;
  Py_DECREF(text);
  return both;
}

bool add_cuda_error(const library&, PyObject* error, word result) {
  PyObject* value =
      has_cuda_status(result) ? PyLong_FromLong(cuda_status_of(result)) : Py_NewRef(Py_None);
  bool ok = value && PyObject_SetAttrString(error, "cuda_error", value) == 0;
  Py_XDECREF(value);
  return ok;
}

}  // namespace

const error_details cufile_errors = {.text = error_text,
                                     .complete = add_cuda_error,
                                     .takes_cuda_status = true,
                                     .negative_is_error = true};

}  // namespace halfwarp::bindings
