// SPDX-License-Identifier: Apache-2.0
// A launch that is checked and packed once and then repeated.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <memory>

#include "core/module/kernel.hpp"
#include "python/arguments/argument_block.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {

struct prepared_fields;

// What `entry` of capi.pxd is called with. It refers to itself, so it is neither copied nor moved.
class prepared_launch {
 public:
  prepared_launch() noexcept = default;
  prepared_launch(const prepared_launch&) = delete;
  prepared_launch& operator=(const prepared_launch&) = delete;

  // Checks and packs a tuple of values as launch does. 0, or -1 with an exception set.
  int prepare(const core::kernel_handle& kernel, const config_fields& config,
              PyObject* values) noexcept;

  // Packs a new value for one parameter. 0, or -1 with an exception set and the old value in place.
  int replace(std::size_t index, PyObject* value) noexcept;

  // Launches on a Stream object; `object` is for error messages only. None, or null with an
  // exception set.
  PyObject* launch(PyObject* stream, const prepared_fields& object) noexcept;

  [[nodiscard]] std::size_t count() const noexcept { return arguments_.count(); }

  // For C: launches as it is, without checks, recorder and interpreter lock.
  static CUresult submit_raw(void* prepared, CUstream stream) noexcept;

 private:
  // Raises for a launch that failed, or waits for one that is to be waited for.
  PyObject* finish_launch(CUresult code, const core::stream_ref& stream,
                          const prepared_fields& object) noexcept;

  // For a configuration with further attributes. 0, or -1 with MemoryError set.
  int gather() noexcept;

  core::kernel_handle kernel_;
  config_fields config_{};  // the object that holds this one keeps `further` alive
  struct attribute_list {
    CUlaunchAttribute values[most_attributes];
  };
  std::unique_ptr<attribute_list> all_;  // with further attributes only
  kept_arguments arguments_;
};

// What C calls a prepared launch with; the object must live.
using launch_entry = CUresult (*)(void* prepared, CUstream stream) noexcept;

struct prepared_fields {
  vectorcallfunc vectorcall;
  prepared_launch* launch;  // owned
  launch_entry entry;       // for C
  PyObject* kernel;         // for error messages, borrowed from the object's own fields
  PyObject* values;
  PyObject* kept;  // a list of the memory of Buffers among them, borrowed likewise
};

// Makes instances callable without a tuple. Call once, when the class is ready. 0, or -1.
int install_prepared_call(PyObject* type) noexcept;

// The vectorcall function of instances.
PyObject* call_prepared(PyObject* self, PyObject* const* arguments, std::size_t flagged_count,
                        PyObject* keywords) noexcept;

}  // namespace halfwarp::python
