// SPDX-License-Identifier: Apache-2.0
// Device handles, names and identities.
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

template <class Predicate>
nvmlReturn_t find_device(nvmlDevice_t* device, Predicate matches) noexcept {
  if (!device) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < device_count; ++i) {
    if (!matches(devices[i])) continue;
    *device = &devices[i];
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

unsigned architecture_of(const halfwarp_emulated_device& facts) noexcept {
  switch (facts.major) {
    case 7:
      return facts.minor < 5 ? NVML_DEVICE_ARCH_VOLTA : NVML_DEVICE_ARCH_TURING;
    case 8:
      return facts.minor < 9 ? NVML_DEVICE_ARCH_AMPERE : NVML_DEVICE_ARCH_ADA;
    case 9:
      return NVML_DEVICE_ARCH_HOPPER;
    case 10:
    case 11:
    case 12:
      return NVML_DEVICE_ARCH_BLACKWELL;
    default:
      return NVML_DEVICE_ARCH_UNKNOWN;
  }
}

}  // namespace

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) noexcept {
  return write_value(count, device_count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) noexcept {
  if (index >= device_count) return NVML_ERROR_INVALID_ARGUMENT;
  return write_value(device, &devices[index]);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) noexcept {
  if (!uuid) return NVML_ERROR_INVALID_ARGUMENT;
  return find_device(device, [&](auto& each) { return strcasecmp(each.uuid, uuid) == 0; });
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t* uuid, nvmlDevice_t* device) noexcept {
  const nvmlReturn_t code = check_version(uuid, 1);
  if (code != NVML_SUCCESS) return code;
  if (uuid->type == NVML_UUID_TYPE_ASCII) {
    char text[sizeof uuid->value.str + 1] = {};
    memcpy(text, uuid->value.str, sizeof uuid->value.str);
    return api::nvmlDeviceGetHandleByUUID(text, device);
  }
  if (uuid->type != NVML_UUID_TYPE_BINARY) return NVML_ERROR_INVALID_ARGUMENT;
  return find_device(
      device, [&](auto& each) { return memcmp(each.facts.uuid, uuid->value.bytes, 16) == 0; });
}

// Parses "[domain:]bus:device[.function]" in hexadecimal.
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device) noexcept {
  unsigned domain = 0, bus = 0, slot = 0;
  if (!id) return NVML_ERROR_INVALID_ARGUMENT;
  if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    if (sscanf(id, "%x:%x", &bus, &slot) != 2) return NVML_ERROR_INVALID_ARGUMENT;
  }
  return find_device(device, [&](auto& each) {
    return slot == 0 && each.facts.pci_domain == domain && each.facts.pci_bus == bus;
  });
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device) noexcept {
  return serial && device ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) noexcept {
  return write_text(name, length, device->facts.name);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned length) noexcept {
  return write_text(uuid, length, device->uuid);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) noexcept {
  return write_value(index, index_of_device(device));
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned* number) noexcept {
  return write_value(number, index_of_device(device));
}

nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned* id) noexcept {
  return write_value(id, index_of_device(device));
}

nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned* id) noexcept {
  return write_value(id, device->facts.pci_bus);
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t, unsigned* is_multi) noexcept {
  return write_value(is_multi, 0);
}

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t first, nvmlDevice_t second, int* is_same) noexcept {
  if (!is_device(second)) return NVML_ERROR_INVALID_ARGUMENT;
  return write_value(is_same, first == second);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t, nvmlBrandType_t* brand) noexcept {
  return write_value(brand, NVML_BRAND_UNKNOWN);
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device,
                                       nvmlDeviceArchitecture_t* architecture) noexcept {
  return write_value(architecture, architecture_of(device->facts));
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major,
                                                int* minor) noexcept {
  if (!major || !minor) return NVML_ERROR_INVALID_ARGUMENT;
  *major = device->facts.major;
  *minor = device->facts.minor;
  return NVML_SUCCESS;
}

// Describes the whole board, whose only engines are its multiprocessors and one copy engine.
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device,
                                        nvmlDeviceAttributes_t* attributes) noexcept {
  nvmlDeviceAttributes_t result{};
  result.multiprocessorCount = static_cast<unsigned>(device->facts.multiprocessors);
  result.sharedCopyEngineCount = 1;
  result.gpuInstanceSliceCount = result.computeInstanceSliceCount = 1;
  result.memorySizeMB = device->facts.memory_total >> 20;
  return write_value(attributes, result);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t, unsigned* is_mig) noexcept {
  return write_value(is_mig, 0);
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t, unsigned* count) noexcept {
  return write_value(count, 0);
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t, nvmlComputeMode_t* mode) noexcept {
  return write_value(mode, NVML_COMPUTEMODE_DEFAULT);
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* state) noexcept {
  return write_sensor(state, device, sensor::display_connected);
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* state) noexcept {
  return write_sensor(state, device, sensor::display_active);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) noexcept {
  return write_sensor(mode, device, sensor::persistence_mode);
}

nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode) noexcept {
  if (mode != NVML_FEATURE_DISABLED && mode != NVML_FEATURE_ENABLED) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  device->sensors.set(sensor::persistence_mode, mode);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* info) noexcept {
  if (!info) return NVML_ERROR_INVALID_ARGUMENT;
  return write_sensor(&info->isC2cEnabled, device, sensor::c2c);
}

nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device,
                                         nvmlDeviceAddressingMode_t* mode) noexcept {
  const nvmlReturn_t code = check_version(mode, 1);
  return code == NVML_SUCCESS ? write_sensor(&mode->value, device, sensor::addressing_mode) : code;
}

nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_t* status) noexcept {
  const nvmlReturn_t code = check_version(status, 1);
  if (code != NVML_SUCCESS) return code;
  status->bChannelRepairPending = device->sensors.get(sensor::repair_pending);
  status->bTpcRepairPending = 0;
  return NVML_SUCCESS;
}

}  // namespace halfwarp::emulated_nvml::api
