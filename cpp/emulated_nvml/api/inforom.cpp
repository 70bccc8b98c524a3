// SPDX-License-Identifier: Apache-2.0
// The data in a board's InfoROM: versions and checksums.
#include <time.h>

#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {

nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t, nvmlInforomObject_t object, char* version,
                                         unsigned length) noexcept {
  constexpr const char* versions[] = {"2.1", "7.16", "2.0"};  // without DEN
  static_assert(NVML_INFOROM_DEN == sizeof versions / sizeof *versions);
  if (!is_among(object, NVML_INFOROM_COUNT)) return NVML_ERROR_INVALID_ARGUMENT;
  if (object == NVML_INFOROM_DEN) return NVML_ERROR_NOT_SUPPORTED;
  return write_text(version, length, versions[object]);
}

nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t, char* version,
                                              unsigned length) noexcept {
  return write_text(version, length, "E000.0001.00.01");
}

nvmlReturn_t nvmlDeviceGetInforomConfigurationChecksum(nvmlDevice_t, unsigned* sum) noexcept {
  return write_value(sum, 0xE0A1);
}

nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t) noexcept { return NVML_SUCCESS; }

nvmlReturn_t nvmlDeviceGetLastBBXFlushTime(nvmlDevice_t, unsigned long long* timestamp,
                                           unsigned long* duration) noexcept {
  const nvmlReturn_t code = write_value(timestamp, 1'000'000LL * time(nullptr));
  return code == NVML_SUCCESS ? write_value(duration, 0) : code;
}

nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t, char* number, unsigned length) noexcept {
  return write_text(number, length, "EMULATED-0001");
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t, char* version, unsigned length) noexcept {
  return write_text(version, length, "E0.00.01.00.00");
}

}  // namespace halfwarp::emulated_nvml::api
