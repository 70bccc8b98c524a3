// SPDX-License-Identifier: Apache-2.0
// A launch as parameters of a graph node, with the checks and packing of launch().
#pragma once

#include <Python.h>
#include <cuda.h>

#include "core/graph/graph_lock.hpp"
#include "python/arguments/argument_block.hpp"
#include "python/objects.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {

// Used on the stack for one driver call, which copies the values.
class packed_launch {
 public:
  packed_launch() noexcept = default;
  packed_launch(const packed_launch&) = delete;  // the parameters refer to the object itself
  packed_launch& operator=(const packed_launch&) = delete;

  // Checks and packs a LaunchConfig, a Kernel and a tuple of arguments for the current device.
  // Returns 0, or -1 with an exception set. May run Python code.
  int prepare(PyObject* config, PyObject* kernel, PyObject* arguments) noexcept;

  [[nodiscard]] CUgraphNodeParams parameters() noexcept;
  [[nodiscard]] const config_fields& config() const noexcept { return config_; }
  [[nodiscard]] bool has_attributes() const noexcept {
    return config_.native.numAttrs != 0 || config_.further != nullptr;
  }

 private:
  config_fields config_;
  reference further_;  // owns config_.further: Python code may assign to the original
  CUkernel kernel_;
  call_arguments arguments_;
};

// Sets attributes that are not part of the node's parameters: cluster, cooperative and others.
// Returns the first error; earlier attributes remain set.
[[nodiscard]] CUresult set_attributes(core::graph_lock& lock, CUgraphNode node,
                                      const config_fields& config) noexcept;

}  // namespace halfwarp::python
