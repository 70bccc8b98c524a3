// SPDX-License-Identifier: Apache-2.0
// A launch as the parameters of a graph node: checked and packed as launch does it.
#pragma once

#include <Python.h>
#include <cuda.h>

#include "core/graph/graph_lock.hpp"
#include "python/arguments/argument_block.hpp"
#include "python/objects.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {

// Lives on the stack for the time of one call to the driver, which copies the values.
class packed_launch {
 public:
  packed_launch() noexcept = default;
  packed_launch(const packed_launch&) = delete;  // the parameters refer to the object itself
  packed_launch& operator=(const packed_launch&) = delete;

  // A LaunchConfig, a Kernel and a tuple of arguments; the device is the current one. 0, or -1 with
  // an exception set. May run code of Python.
  int prepare(PyObject* config, PyObject* kernel, PyObject* arguments) noexcept;

  [[nodiscard]] CUgraphNodeParams parameters() noexcept;
  [[nodiscard]] const config_fields& config() const noexcept { return config_; }
  [[nodiscard]] bool has_attributes() const noexcept {
    return config_.native.numAttrs != 0 || config_.further != nullptr;
  }

 private:
  config_fields config_;
  reference further_;  // of config_: what converts an argument may assign to the original
  CUkernel kernel_;
  call_arguments arguments_;
};

// What a kernel node cannot be given with its parameters: cluster, cooperative and the like. The
// first error; the node has what came before.
[[nodiscard]] CUresult set_attributes(core::graph_lock& lock, CUgraphNode node,
                                      const config_fields& config) noexcept;

}  // namespace halfwarp::python
