// SPDX-License-Identifier: Apache-2.0
// The processors near a device: all processors of the process at its start.
#include <sched.h>

#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

constexpr unsigned bits = 8 * sizeof(unsigned long);

cpu_set_t first_affinity;
[[gnu::constructor]] void record_affinity() {
  sched_getaffinity(0, sizeof first_affinity, &first_affinity);
}

nvmlReturn_t write_processors(unsigned size, unsigned long* set) noexcept {
  if (!size || !set) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < size; ++i) set[i] = 0;
  for (unsigned cpu = 0; cpu < size * bits && cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &first_affinity)) set[cpu / bits] |= 1UL << cpu % bits;
  }
  return NVML_SUCCESS;
}

bool is_scope(nvmlAffinityScope_t scope) noexcept {
  return scope == NVML_AFFINITY_SCOPE_NODE || scope == NVML_AFFINITY_SCOPE_SOCKET;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t, unsigned size, unsigned long* set) noexcept {
  return write_processors(size, set);
}

nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t, unsigned size, unsigned long* set,
                                                 nvmlAffinityScope_t scope) noexcept {
  return is_scope(scope) ? write_processors(size, set) : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t, unsigned size, unsigned long* set,
                                         nvmlAffinityScope_t scope) noexcept {
  if (!size || !set || !is_scope(scope)) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < size; ++i) set[i] = i ? 0 : 1;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t, unsigned* node) noexcept {
  return write_value(node, 0);
}

nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t) noexcept {
  return sched_setaffinity(0, sizeof first_affinity, &first_affinity) ? NVML_ERROR_UNKNOWN
                                                                      : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device) noexcept {
  return api::nvmlDeviceSetCpuAffinity(device);
}

}  // namespace halfwarp::emulated_nvml::api
