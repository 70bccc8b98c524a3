// SPDX-License-Identifier: Apache-2.0
// LaunchConfig: from Python values to the native struct that the driver takes.
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

// Fills `config` anew from one value for each argument; null: omitted. 0, or -1 with an exception
// set and `config` as it was.
int configure(config_fields& config, PyObject* const* values) noexcept;

// Assignment to one field, by the same rules.
int assign(config_fields& config, config_argument field, PyObject* value) noexcept;

// New reference to a tuple of three ints; None for a cluster that is not set.
PyObject* dimensions_as_tuple(const dimensions& value) noexcept;

[[nodiscard]] inline bool is_set(const dimensions& value) noexcept { return value.x != 0; }

// What the constructor needs of the class above it.
struct config_hooks {
  PyObject* cuda_error;     // the class CUDAError
  PyObject* further_names;  // a dict with the name of each further attribute
  // Gives a LaunchConfig a dict of further attributes. 0, or -1 with an exception set.
  int (*set_further)(PyObject* config, PyObject* values);
  // Raises for a driver of CUDA version `there` that does not know one of the attributes.
  void (*raise_too_old)(PyObject* further, int there);
};

// Makes `LaunchConfig(...)` one C call instead of a tuple, a dict and __init__. Subclasses keep
// the ordinary way. The hooks' objects must live as long as the process. 0, or -1.
int install_config_constructor(PyObject* type, const config_hooks& from) noexcept;

// All attributes of a launch, in the order in which the driver gets them; how many there are.
// `further` is what `config.further` was when it was looked at; `all` has room for
// most_attributes.
unsigned gather_attributes(const config_fields& config, PyObject* further,
                           CUlaunchAttribute* all) noexcept;

// RuntimeError when the driver is older than one of the attributes. 0, or -1.
int check_driver_knows(PyObject* further) noexcept;

// CUDAError when a device lacks what the configuration asks for. 0, or -1.
int check_device_supports(const config_fields& config, CUdevice device) noexcept;

}  // namespace halfwarp::python
