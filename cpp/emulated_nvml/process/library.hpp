// SPDX-License-Identifier: Apache-2.0
// The state of the library: its beginning and end, and the devices.
#pragma once

#include "headers/nvml.h"

#include "emulated_nvml/process/lock.hpp"
#include "emulated_nvml/process/sensors.hpp"
#include "emulator/control/control.h"

// What the handle of a device points to.
struct nvmlDevice_st {
  halfwarp_emulated_device facts;  // as they were at the beginning
  char uuid[48];                   // "GPU-" and hexadecimal digits
  char bus_id[20];                 // "0000E000:00:00.0"
  halfwarp::emulated_nvml::sensor_values sensors;
  double energy = 0;       // mJ until `energy_time`
  double energy_time = 0;  // of CLOCK_MONOTONIC, seconds
};

namespace halfwarp::emulated_nvml {

inline constexpr unsigned most_devices = 16;  // of option `devices`

// All guarded by the lock.
extern unsigned begun;         // nvmlInit that no nvmlShutdown has followed
extern unsigned device_count;  // known since the first beginning
extern nvmlDevice_st devices[most_devices];

// Finds the devices; not loaded: the emulator cannot be opened, or its options are not understood.
nvmlReturn_t find_devices() noexcept;

bool is_device(nvmlDevice_t device) noexcept;
unsigned index_of_device(nvmlDevice_t device) noexcept;

// What this process uses of a device now.
halfwarp_emulated_use use_of(nvmlDevice_t device) noexcept;

// Energy since the beginning in millijoules, at the power of each moment.
double energy_of(nvmlDevice_t device) noexcept;

double seconds_now() noexcept;  // of CLOCK_MONOTONIC

}  // namespace halfwarp::emulated_nvml
