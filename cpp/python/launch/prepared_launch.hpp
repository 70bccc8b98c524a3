// SPDX-License-Identifier: Apache-2.0
// A launch that is checked and packed once and then executed repeatedly.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <memory>
#include <vector>

#include "core/module/kernel.hpp"
#include "python/arguments/argument_block.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {

struct prepared_fields;

// The state of `entry` in capi.pxd. It points to itself, so it must not be copied or moved.
class prepared_launch {
 public:
  prepared_launch() noexcept = default;
  prepared_launch(const prepared_launch&) = delete;
  prepared_launch& operator=(const prepared_launch&) = delete;

  // Checks and packs a tuple of values like launch(). Returns 0, or -1 with an exception set.
  int prepare(const core::kernel_handle& kernel, const config_fields& config,
              PyObject* values) noexcept;

  // Packs a new value of one parameter. The caller then retains it in place of the old value,
  // before any user code runs. Returns 0, or -1 with an exception set and the old value.
  int replace(std::size_t index, PyObject* value) noexcept;

  // Launches on a Stream object; `object` is for error messages and captures. Returns None, or null
  // with an exception set.
  PyObject* launch(PyObject* stream, const prepared_fields& object) noexcept;

  [[nodiscard]] std::size_t count() const noexcept { return arguments_.count(); }

  // Entry point for C: launches without checks, recorder and GIL.
  static CUresult submit_raw(void* prepared, CUstream stream) noexcept;

 private:
  // Raises for a failed launch, waits for a synchronous one, and retains a captured one.
  PyObject* finish_launch(CUresult code, const core::stream_ref& stream,
                          const prepared_fields& object) noexcept;

  // Allocates the memory for all arguments. Returns 0, or -1 with MemoryError set.
  int reserve(std::size_t count) noexcept;

  // Needed with further attributes. Returns 0, or -1 with MemoryError set.
  int gather_all_attributes() noexcept;

  // Makes launches check that the memory of one argument is open. Does not allocate.
  void watch(std::size_t index, PyObject* value) noexcept;
  [[nodiscard]] bool is_memory_open() const noexcept {
    for (const watched_memory& each : watched_) {
      if (!each.memory->is_open) [[unlikely]]
        return false;
    }
    return true;
  }
  // Raises RuntimeError that names the argument with closed memory; returns null.
  [[gnu::cold]] PyObject* refuse_closed_memory() noexcept;

  core::kernel_handle kernel_;
  config_fields config_{};  // the containing object owns `further`
  struct attribute_list {
    CUlaunchAttribute values[most_attributes];
  };
  std::unique_ptr<attribute_list> all_;  // null without further attributes
  struct watched_memory {
    const buffer_fields* memory;  // of a Buffer that the object's `values` retain
    std::size_t index;            // of the argument
  };
  std::vector<watched_memory> watched_;  // has the capacity for all arguments
  owned_arguments arguments_;
};

// The C entry point of a prepared launch; the object must be alive.
using launch_entry = CUresult (*)(void* prepared, CUstream stream) noexcept;

struct prepared_fields {
  vectorcallfunc vectorcall;
  prepared_launch* launch;  // owned
  launch_entry entry;       // for C
  PyObject* kernel;         // for error messages; borrowed from a field of the object
  PyObject* values;         // borrowed, like the next one
  PyObject* owners;         // a list of the memory of Buffer arguments
};

// Makes instances callable without a tuple. Call once, when the class is ready. Returns 0, or -1.
int install_prepared_call(PyObject* type) noexcept;

// The vectorcall function of instances.
PyObject* call_prepared(PyObject* self, PyObject* const* arguments, std::size_t flagged_count,
                        PyObject* keywords) noexcept;

}  // namespace halfwarp::python
