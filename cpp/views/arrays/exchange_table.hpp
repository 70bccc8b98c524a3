// SPDX-License-Identifier: Apache-2.0
// DLPack's table of C functions, with the layout of its header.
#pragma once

#include <Python.h>

#include <cstdint>

#include "python/dlpack.hpp"

namespace halfwarp::views {

using python::dlpack::device_type;
using python::dlpack::tensor;
using python::dlpack::versioned_tensor;

using set_error_function = void (*)(void* context, const char* kind, const char* text);
using allocate_function = int (*)(tensor* prototype, versioned_tensor** out, void* context,
                                  set_error_function set_error);
using export_function = int (*)(void* object, versioned_tensor** out);
using import_function = int (*)(versioned_tensor* tensor_arg, void** out_object);
using borrow_function = int (*)(void* object, tensor* out);
using stream_function = int (*)(device_type kind, std::int32_t ordinal, void** out_stream);

struct exchange_header {
  std::uint32_t major, minor;
  const exchange_header* previous;  // an older version of the same table
};

struct exchange_table {
  exchange_header header;
  allocate_function allocate;
  export_function export_tensor;
  import_function import_tensor;
  borrow_function borrow_tensor;  // may be null
  stream_function current_stream;
};
static_assert(sizeof(exchange_table) == 16 + 5 * sizeof(void*));

inline constexpr char exchange_capsule[] = "dlpack_exchange_api";

// Returns the table attribute of the object's class: borrowed, null without an error.
[[nodiscard]] inline PyObject* table_attribute(PyObject* object) noexcept {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
  return name ? _PyType_Lookup(Py_TYPE(object), name) : nullptr;
}

}  // namespace halfwarp::views
