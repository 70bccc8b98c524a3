// SPDX-License-Identifier: Apache-2.0
// Memory and processes: the data that the emulated device really has.
#include <unistd.h>

#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) noexcept {
  const nvmlReturn_t code = check_version(memory, 2);
  if (code != NVML_SUCCESS) return code;
  const auto total = device->facts.memory_total, used = use_of(device).bytes;
  memory->total = total;
  memory->reserved = 0;
  memory->used = used;
  memory->free = total - used;
  return NVML_SUCCESS;
}

// The host can access all memory, since it is host memory.
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t* memory) noexcept {
  const auto total = device->facts.memory_total, used = use_of(device).bytes;
  return write_value(memory, nvmlBAR1Memory_t{total, total - used, used});
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* bits) noexcept {
  return write_value(bits, device->facts.memory_bus_width);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* infos) noexcept {
  const auto use = use_of(device);
  constexpr unsigned no_instance = 0xFFFFFFFF;  // MIG is off
  return write_list(count, infos, use.is_used ? 1U : 0U, [&](unsigned) {
    return nvmlProcessInfo_t{static_cast<unsigned>(getpid()), use.bytes, no_instance, no_instance};
  });
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                      nvmlProcessInfo_t*) noexcept {
  return write_value(count, 0);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                        nvmlProcessInfo_t*) noexcept {
  return write_value(count, 0);
}

}  // namespace halfwarp::emulated_nvml::api
