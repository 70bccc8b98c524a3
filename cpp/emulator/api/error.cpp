// SPDX-License-Identifier: Apache-2.0
// Initialization, version, error names and logs; stubs of profiler and export tables.
#include <algorithm>
#include <fstream>

#include "emulator/api/call.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/observation/driver_log.hpp"
#include "emulator/report/foreign_runtime.hpp"
#include "emulator/settings/error_names.hpp"

namespace halfwarp::emulator::api {

CUresult cuInit(unsigned int Flags) noexcept {
  return Flags == 0 ? lifecycle::initialize() : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDriverGetVersion(int* driverVersion) noexcept {
  if (!driverVersion) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** pStr) noexcept {
  if (!pStr) return CUDA_ERROR_INVALID_VALUE;
  const auto* entry = find_error(error);
  *pStr = entry ? entry->name : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** pStr) noexcept {
  if (!pStr) return CUDA_ERROR_INVALID_VALUE;
  const auto* entry = find_error(error);
  *pStr = entry ? entry->text : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void* userData,
                                CUlogsCallbackHandle* callback_out) noexcept {
  return run_unlocked([&] {
    require(callbackFunc != nullptr, CUDA_ERROR_INVALID_VALUE, "the callback is null");
    const auto handle = the_log().add(callbackFunc, userData);
    if (callback_out) *callback_out = handle;
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) noexcept {
  return run_unlocked([&] {
    require(the_log().remove(callback), CUDA_ERROR_INVALID_VALUE, "no such callback is registered");
  });
}

CUresult cuLogsCurrent(CUlogIterator* iterator_out, unsigned int flags) noexcept {
  return run_unlocked([&] {
    require_outputs(iterator_out);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not 0");
    *iterator_out = the_log().end();
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size,
                            unsigned int flags) noexcept {
  return run_unlocked([&] {
    require_outputs(buffer, size);
    require(flags == 0 && *size > 0, CUDA_ERROR_INVALID_VALUE,
            "the flags are not 0, or the buffer size is 0");
    std::uint32_t next = 0;
    std::string text = the_log().text(iterator ? *iterator : 0, next);
    // Drop the oldest entries until the text fits.
    while (text.size() >= *size) {
      const auto end = text.find('\n');
      text.erase(0, end == std::string::npos ? end : end + 1);
    }
    std::copy(text.begin(), text.end(), buffer);
    buffer[text.size()] = '\0';
    *size = text.size();
    if (iterator) *iterator = next;
  });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* pathToFile,
                          unsigned int flags) noexcept {
  return run_unlocked([&] {
    require(pathToFile != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE,
            "the path is null, or the flags are not 0");
    std::uint32_t next = 0;
    const std::string text = the_log().text(iterator ? *iterator : 0, next);
    std::ofstream file{pathToFile, std::ios::binary};
    file << text;
    file.close();
    require(!file.fail(), CUDA_ERROR_INVALID_VALUE, "the file cannot be written");
    if (iterator) *iterator = next;
  });
}

// The undocumented tables that NVIDIA's runtime queries are not emulated.
CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) noexcept {
  if (!ppExportTable || !pExportTableId) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  report::foreign_runtime(*pExportTableId);
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuProfilerStart() noexcept { return CUDA_SUCCESS; }

CUresult cuProfilerStop() noexcept { return CUDA_SUCCESS; }

}  // namespace halfwarp::emulator::api
