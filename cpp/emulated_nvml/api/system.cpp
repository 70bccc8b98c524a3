// SPDX-License-Identifier: Apache-2.0
// The library's beginning and end, its versions, and processes.
#include <stdio.h>
#include <unistd.h>

#include "emulated_nvml/api/answers.hpp"
#include "emulated_nvml/api/error_text.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

// Made up; a real one is "580.95.05", of branch "r580_00".
constexpr const char* driver_version = "600.13.05";
constexpr const char* nvml_version = "13.600.13.05";
constexpr const char* driver_branch = "r600_13";

nvmlReturn_t begin() noexcept {
  const nvmlReturn_t found = find_devices();
  if (found == NVML_SUCCESS) ++begun;
  return found;
}

}  // namespace

nvmlReturn_t nvmlInit_v2() noexcept { return begin(); }

nvmlReturn_t nvmlInitWithFlags(unsigned) noexcept { return begin(); }

nvmlReturn_t nvmlShutdown() noexcept {
  --begun;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) noexcept { return error_text(result); }

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) noexcept {
  return give_text(version, length, driver_version);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) noexcept {
  return give_text(version, length, nvml_version);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) noexcept {
  return give(version, devices[0].facts.cuda_version);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) noexcept {
  return api::nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t* info,
                                       unsigned length) noexcept {
  const nvmlReturn_t code = check_version(info, 1);
  if (code != NVML_SUCCESS) return code;
  return give_text(info->branch, length < sizeof info->branch ? length : sizeof info->branch,
                   driver_branch);
}

// By /proc, for any process: on a GPU NVML knows those that use it.
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) noexcept {
  char path[32], target[4096];
  if (!name) return NVML_ERROR_INVALID_ARGUMENT;
  snprintf(path, sizeof path, "/proc/%u/exe", pid);
  const ssize_t size = readlink(path, target, sizeof target - 1);
  if (size < 0) return access(path, F_OK) ? NVML_ERROR_NOT_FOUND : NVML_ERROR_NO_PERMISSION;
  target[size] = '\0';
  return give_text(name, length, target);
}

nvmlReturn_t nvmlUnitGetCount(unsigned* count) noexcept { return give(count, 0); }

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned* count) noexcept { return give(count, 0); }

}  // namespace halfwarp::emulated_nvml::api
