// SPDX-License-Identifier: Apache-2.0
// Earlier names of functions that programs still look up but the API description omits.
#include "emulated_nvml/api/gate.hpp"
#include "emulated_nvml/api/results.hpp"

namespace api = halfwarp::emulated_nvml::api;
using halfwarp::emulated_nvml::sensor;

#pragma GCC visibility push(default)

extern "C" {

nvmlReturn_t nvmlInit() { return nvmlInit_v2(); }

nvmlReturn_t nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* id, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t type,
                                      unsigned* temperature) {
  const api::gate entry{api::index_of("nvmlDeviceGetTemperatureV"), device};
  if (entry.blocked) return entry.code;
  if (type != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
  return api::write_sensor(temperature, device, sensor::temperature);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  const api::gate entry{api::index_of("nvmlDeviceGetMemoryInfo_v2"), device};
  if (entry.blocked) return entry.code;
  const auto total = device->facts.memory_total;
  const auto used = halfwarp::emulated_nvml::use_of(device).bytes;
  return api::write_value(memory, nvmlMemory_t{total, total - used, used});
}

nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  const api::gate entry{api::index_of("nvmlDeviceGetPowerUsage"), device};
  return entry.blocked ? entry.code : api::write_value(mode, NVML_FEATURE_ENABLED);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device,
                                                         unsigned long long* reasons) {
  return nvmlDeviceGetSupportedClocksEventReasons(device, reasons);
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data, unsigned milliseconds) {
  return nvmlEventSetWait_v2(set, data, milliseconds);
}

}  // extern "C"

#pragma GCC visibility pop
