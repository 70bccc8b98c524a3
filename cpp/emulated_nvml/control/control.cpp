// SPDX-License-Identifier: Apache-2.0
// The documented test interface: sets sensors and posts events.
#include "emulated_nvml/control/control.h"

#include <string.h>

#include "emulated_nvml/process/event_sets.hpp"
#include "emulated_nvml/process/library.hpp"

namespace halfwarp::emulated_nvml {
namespace {

bool find_sensor(unsigned device, const char* name, sensor& id) noexcept {
  if (find_devices() != NVML_SUCCESS || device >= device_count) return false;
  for (unsigned i = 0; i < sensor_count; ++i) {
    if (strcmp(sensor_kinds[i].name, name) != 0) continue;
    id = static_cast<sensor>(i);
    return true;
  }
  return false;
}

}  // namespace
}  // namespace halfwarp::emulated_nvml

#pragma GCC visibility push(default)

extern "C" {

using namespace halfwarp::emulated_nvml;

const char* halfwarp_nvml_sensor(unsigned number) {
  return number < sensor_count ? sensor_kinds[number].name : nullptr;
}

int halfwarp_nvml_read(unsigned device, const char* name, long long* value) {
  const lock_guard guard;
  sensor id;
  if (!find_sensor(device, name, id)) return 0;
  *value = devices[device].sensors[id];
  return 1;
}

int halfwarp_nvml_set(unsigned device, const char* name, long long value, long long* min_value,
                      long long* max_value) {
  const lock_guard guard;
  sensor id;
  if (!find_sensor(device, name, id)) return 0;
  const sensor_kind& kind = sensor_kinds[static_cast<unsigned>(id)];
  *min_value = kind.min_value;
  *max_value = kind.max_value;
  if (value < kind.min_value || value > kind.max_value) return -1;
  energy_of(&devices[device]);  // accounts for the energy at the previous power
  devices[device].sensors.set(id, value);
  return 1;
}

void halfwarp_nvml_reset(void) {
  const lock_guard guard;
  for (auto& each : devices) each.sensors.reset();
  clear_events();
}

int halfwarp_nvml_post(unsigned device, unsigned long long type, unsigned long long data,
                       int is_of_system) {
  const lock_guard guard;
  if (find_devices() != NVML_SUCCESS || device >= device_count) return -1;
  return static_cast<int>(post({&devices[device], type, data}, is_of_system != 0));
}

}  // extern "C"

#pragma GCC visibility pop
