// SPDX-License-Identifier: Apache-2.0
// Initialization and shutdown of the library, versions and processes.
#include <stdio.h>
#include <unistd.h>

#include "emulated_nvml/api/error_text.hpp"
#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

// Fictitious versions; a real driver is "580.95.05" of branch "r580_00".
constexpr const char* driver_version = "600.13.05";
constexpr const char* nvml_version = "13.600.13.05";
constexpr const char* driver_branch = "r600_13";

nvmlReturn_t initialize() noexcept {
  const nvmlReturn_t status = find_devices();
  if (status == NVML_SUCCESS) ++init_count;
  return status;
}

}  // namespace

nvmlReturn_t nvmlInit_v2() noexcept { return initialize(); }

nvmlReturn_t nvmlInitWithFlags(unsigned) noexcept { return initialize(); }

nvmlReturn_t nvmlShutdown() noexcept {
  --init_count;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) noexcept { return error_text(result); }

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) noexcept {
  return write_text(version, length, driver_version);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) noexcept {
  return write_text(version, length, nvml_version);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) noexcept {
  return write_value(version, devices[0].facts.cuda_version);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) noexcept {
  return api::nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t* info,
                                       unsigned length) noexcept {
  const nvmlReturn_t code = check_version(info, 1);
  if (code != NVML_SUCCESS) return code;
  return write_text(info->branch, length < sizeof info->branch ? length : sizeof info->branch,
                    driver_branch);
}

// Reads /proc for any process; NVML on a GPU knows only the processes that use it.
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) noexcept {
  char path[32], target[4096];
  if (!name) return NVML_ERROR_INVALID_ARGUMENT;
  snprintf(path, sizeof path, "/proc/%u/exe", pid);
  const ssize_t size = readlink(path, target, sizeof target - 1);
  if (size < 0) return access(path, F_OK) ? NVML_ERROR_NOT_FOUND : NVML_ERROR_NO_PERMISSION;
  target[size] = '\0';
  return write_text(name, length, target);
}

nvmlReturn_t nvmlUnitGetCount(unsigned* count) noexcept { return write_value(count, 0); }

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned* count) noexcept { return write_value(count, 0); }

}  // namespace halfwarp::emulated_nvml::api
