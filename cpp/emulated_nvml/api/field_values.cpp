// SPDX-License-Identifier: Apache-2.0
// Values of fields by number. An unsupported field reports an error without failing the others.
#include <time.h>

#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

long long microseconds_now() noexcept {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return 1'000'000LL * time.tv_sec + time.tv_nsec / 1000;
}

void put(nvmlFieldValue_t& field, long long value) noexcept {
  field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
  field.value.uiVal = static_cast<unsigned>(value);
}

void put_wide(nvmlFieldValue_t& field, double value) noexcept {
  field.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
  field.value.ullVal = static_cast<unsigned long long>(value);
}

void put_signed(nvmlFieldValue_t& field, long long value) noexcept {
  field.valueType = NVML_VALUE_TYPE_SIGNED_INT;
  field.value.siVal = static_cast<int>(value);
}

bool read(nvmlDevice_t device, nvmlFieldValue_t& field) noexcept {
  const auto& sensors = device->sensors;
  switch (field.fieldId) {
    case NVML_FI_DEV_MEMORY_TEMP:
      return put(field, sensors[sensor::memory_temperature]), true;
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT:
      return put(field, sensors[sensor::power]), true;
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT:
      return put(field, sensors[sensor::power_limit]), true;
    case NVML_FI_DEV_POWER_MIN_LIMIT:
      return put(field, rated::min_power), true;
    case NVML_FI_DEV_POWER_MAX_LIMIT:
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
      return put(field, rated::max_power), true;
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
      return put_wide(field, energy_of(device)), true;
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
      return put(field, sensors[sensor::nvlinks]), true;
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER:
      return put(field, sensors[sensor::pcie_replays]), true;
    // The margin to the highest temperature, negative for a threshold above it.
    case NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT:
      return put_signed(field, static_cast<int>(rated::max_temperature) -
                                   static_cast<int>(rated::shutdown)),
             true;
    case NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT:
      return put_signed(field, static_cast<int>(rated::max_temperature) -
                                   static_cast<int>(rated::slowdown)),
             true;
    case NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT:
      return put_signed(field, 0), true;
    default:
      return false;
  }
}

}  // namespace

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count,
                                      nvmlFieldValue_t* values) noexcept {
  if (count <= 0 || !values) return NVML_ERROR_INVALID_ARGUMENT;
  for (int i = 0; i < count; ++i) {
    const bool is_supported = read(device, values[i]);
    values[i].timestamp = microseconds_now();
    values[i].latencyUsec = 0;
    values[i].nvmlReturn = is_supported ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceClearFieldValues(nvmlDevice_t device, int count,
                                        nvmlFieldValue_t* values) noexcept {
  if (count <= 0 || !values) return NVML_ERROR_INVALID_ARGUMENT;
  for (int i = 0; i < count; ++i) {
    const bool is_clearable = values[i].fieldId == NVML_FI_DEV_PCIE_REPLAY_COUNTER;
    if (is_clearable) device->sensors.set(sensor::pcie_replays, 0);
    values[i].nvmlReturn = is_clearable ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  }
  return NVML_SUCCESS;
}

}  // namespace halfwarp::emulated_nvml::api
