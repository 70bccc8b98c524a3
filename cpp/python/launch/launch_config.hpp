// SPDX-License-Identifier: Apache-2.0
// LaunchConfig: converts Python values to the driver's launch struct.
#pragma once

#include "python/objects.hpp"

namespace halfwarp::python {

// The parameters of LaunchConfig(...) in their order; the last two are older spellings.
enum config_argument : std::size_t {
  config_grid,
  config_cluster,
  config_block,
  config_shmem_size,
  config_is_cooperative,
  config_programmatic,
  config_cooperative_launch,
  config_stream,
  config_argument_count,
};
inline constexpr std::size_t config_positional_count = config_programmatic + 1;

// Replaces all values of `config`, one per argument; null means omitted. Returns 0, or -1 with an
// exception set and `config` unchanged.
int configure(config_fields& config, PyObject* const* values) noexcept;

// Assigns one field, with the same checks.
int assign(config_fields& config, config_argument field, PyObject* value) noexcept;

// Returns a new reference to a tuple of three ints, or to None for an unset cluster.
PyObject* dimensions_as_tuple(const dimensions& value) noexcept;

[[nodiscard]] inline bool is_set(const dimensions& value) noexcept { return value.x != 0; }

// Objects and functions of the Cython layer that the constructor uses.
struct config_hooks {
  PyObject* cuda_error;     // the class CUDAError
  PyObject* further_names;  // a dict whose keys are the names of further attributes
  // Sets the further attributes of a LaunchConfig from a dict. Returns 0, or -1 with an exception
  // set.
  int (*set_further)(PyObject* config, PyObject* values);
  // Raises TypeError for an unknown keyword argument.
  void (*raise_unknown)(PyObject* keyword);
  // Raises for a driver of CUDA `version` that does not support one of the attributes.
  void (*raise_too_old)(PyObject* further, int version);
};

// Makes `LaunchConfig(...)` a single C call instead of a tuple, a dict and __init__. Subclasses use
// the default path. The objects of the hooks must never be destroyed. Returns 0, or -1.
int install_config_constructor(PyObject* type, const config_hooks& new_hooks) noexcept;

// Copies all attributes of a launch, in the driver's order, and returns their number. `further` is
// the value of `config.further` read before; `all` must hold most_attributes.
unsigned gather_attributes(const config_fields& config, PyObject* further,
                           CUlaunchAttribute* all) noexcept;

// Raises ValueError for a priority outside the range of the current context; `label` names it.
// Returns 0, 1 if no context is current, or -1.
int check_priority(const char* label, int priority) noexcept;

// Raises RuntimeError if the driver is older than one of the attributes, and ValueError for an
// unchecked priority outside the range. Returns 0, or -1.
int check_further(PyObject* further) noexcept;

// Raises CUDAError if a device lacks a feature that the configuration needs. Returns 0, or -1.
int check_device_supports(const config_fields& config, CUdevice device) noexcept;

}  // namespace halfwarp::python
