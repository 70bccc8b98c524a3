// SPDX-License-Identifier: Apache-2.0
// The library as a whole: initialisation, version, the names of errors, what it has no part in.
#include "emulator/api/call.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/settings/error_names.hpp"

namespace halfwarp::emulator::api {

CUresult cuInit(unsigned int Flags) noexcept {
  return Flags == 0 ? lifecycle::initialise() : CUDA_ERROR_INVALID_VALUE;
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

// The undocumented tables that libcudart asks for are not imitated.
CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) noexcept {
  if (!ppExportTable || !pExportTableId) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuProfilerStart() noexcept { return CUDA_SUCCESS; }

CUresult cuProfilerStop() noexcept { return CUDA_SUCCESS; }

}  // namespace halfwarp::emulator::api
