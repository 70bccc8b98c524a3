// SPDX-License-Identifier: Apache-2.0
// One parameter that is being given its argument, and the errors that name it.
#pragma once

#include <Python.h>

#include "core/module/launch_plan.hpp"
#include "python/arguments/argument_block.hpp"

namespace halfwarp::python {

struct target {
  const core::parameter& parameter;
  argument_block& block;
  std::size_t index;
  const core::launch_plan* plan;  // null: nothing is known of the kernel
  bool is_replaced = false;       // a prepared launch gives it a new value

  // Room for `size` bytes. Null with an exception set: TypeError when the parameter has another
  // size, MemoryError.
  [[nodiscard]] std::byte* place(PyObject* value, std::size_t size) const noexcept;
  // Copies `size` bytes from there. 0, or -1 with an exception set.
  int copy(PyObject* value, const void* bytes, std::size_t size) const noexcept;

  // Each sets an exception that names kernel, position and type, and returns -1.
  int wrong_size(PyObject* value, std::size_t size) const noexcept;
  int unsupported(PyObject* value, const char* advice) const noexcept;
  // `text` says what is wrong; ", got" and the type of `value` follow it.
  int fail(PyObject* exception, const char* text, PyObject* value) const noexcept;
  // `text` says it all.
  int fail(PyObject* exception, const char* text) const noexcept;
  // OverflowError: the integer does not fit `size` bytes.
  int out_of_range(PyObject* value, std::size_t size) const noexcept;
};

// "saxpy() argument 2 of 4 (float const*)". New reference, null with an exception set.
PyObject* describe_target(const target& to) noexcept;

}  // namespace halfwarp::python
