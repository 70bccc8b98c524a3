// SPDX-License-Identifier: Apache-2.0
// The state of the library: initialization and devices.
#pragma once

#include "headers/nvml.h"

#include "emulated_nvml/process/lock.hpp"
#include "emulated_nvml/process/sensors.hpp"
#include "emulator/control/control.h"

// The target of a device handle.
struct nvmlDevice_st {
  halfwarp_emulated_device facts;  // constant
  char uuid[48];                   // "GPU-" and hexadecimal digits
  char bus_id[20];                 // "0000E000:00:00.0"
  halfwarp::emulated_nvml::sensor_values sensors;
  double energy = 0;       // mJ until `energy_time`
  double energy_time = 0;  // seconds of CLOCK_MONOTONIC
};

namespace halfwarp::emulated_nvml {

inline constexpr unsigned max_devices = 16;  // the maximum of option `devices`

// The variables below are guarded by the lock.
extern unsigned init_count;    // calls of nvmlInit without an nvmlShutdown
extern unsigned device_count;  // set by the first initialization
extern nvmlDevice_st devices[max_devices];

// Finds the devices. Fails if the emulator cannot be loaded or its options are invalid.
nvmlReturn_t find_devices() noexcept;

bool is_device(nvmlDevice_t device) noexcept;
unsigned index_of_device(nvmlDevice_t device) noexcept;

// Returns the current use of a device by this process.
halfwarp_emulated_use use_of(nvmlDevice_t device) noexcept;

// Returns the energy since the start in millijoules, integrated over the power.
double energy_of(nvmlDevice_t device) noexcept;

double seconds_now() noexcept;  // time of CLOCK_MONOTONIC

}  // namespace halfwarp::emulated_nvml
