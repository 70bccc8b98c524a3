// SPDX-License-Identifier: Apache-2.0
// The parameter that an argument is packed for, and the errors that name it.
#pragma once

#include <Python.h>

#include "core/module/launch_plan.hpp"
#include "python/arguments/argument_block.hpp"

namespace halfwarp::python {

struct target {
  const core::parameter& parameter;
  argument_block& block;
  std::size_t index;
  const core::launch_plan* plan;  // null: the kernel is unknown
  bool is_replaced = false;       // a prepared launch replaces the value

  // Returns memory for `size` bytes. Null with an exception set: TypeError if the parameter has
  // another size, or MemoryError.
  [[nodiscard]] std::byte* reserve(PyObject* value, std::size_t size) const noexcept;
  // Copies `size` bytes to the parameter. Returns 0, or -1 with an exception set.
  int copy(PyObject* value, const void* bytes, std::size_t size) const noexcept;

  // Set an exception that names kernel, position and type, and return -1.
  int wrong_size(PyObject* value, std::size_t size) const noexcept;
  int unsupported(PyObject* value, const char* advice) const noexcept;
  // Appends ", got" and the type of `value` to `text`.
  int fail(PyObject* exception, const char* text, PyObject* value) const noexcept;
  // Raises `text` unchanged.
  int fail(PyObject* exception, const char* text) const noexcept;
  // Raises OverflowError: the integer is outside the range of the parameter of `size` bytes.
  int out_of_range(PyObject* value, std::size_t size, long long lowest,
                   unsigned long long highest) const noexcept;
};

// Returns "saxpy() argument 2 of 4 (float const*)": a new reference, null with an exception set.
PyObject* describe_target(const target& to) noexcept;

}  // namespace halfwarp::python
