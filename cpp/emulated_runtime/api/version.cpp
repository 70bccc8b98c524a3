// SPDX-License-Identifier: Apache-2.0
// The library as a whole: its version, its errors, and the driver's functions by name.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"
#include "emulated_runtime/process/thread.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

constexpr const char* unknown_error = "unrecognized error code";

// What the driver calls these states is in the same order.
cudaDriverEntryPointQueryResult state_of(CUdriverProcAddressQueryResult status) {
  return static_cast<cudaDriverEntryPointQueryResult>(status);
}

}  // namespace

cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) noexcept {
  if (!runtimeVersion) return cudaErrorInvalidValue;
  *runtimeVersion = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() noexcept {
  const cudaError_t last = this_thread.last_error;
  this_thread.last_error = cudaSuccess;
  return last;
}

cudaError_t cudaPeekAtLastError() noexcept { return this_thread.last_error; }

const char* cudaGetErrorName(cudaError_t error) noexcept {
  const auto* entry = find_error(error);
  return entry ? entry->name : unknown_error;
}

const char* cudaGetErrorString(cudaError_t error) noexcept {
  const auto* entry = find_error(error);
  return entry ? entry->text : unknown_error;
}

// A name that is not found is an answer, not a failure.
cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
    cudaDriverEntryPointQueryResult* driverStatus) noexcept {
  if (!symbol || !funcPtr) return cudaErrorInvalidValue;
  *funcPtr = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const cudaError_t code = forward(table->cuGetProcAddress, symbol, funcPtr,
                                   static_cast<int>(cudaVersion), flags, &status);
  if (driverStatus) *driverStatus = state_of(status);
  return code == cudaErrorSymbolNotFound ? cudaSuccess : code;
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* driverStatus) noexcept {
  return api::cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags,
                                               driverStatus);
}

// As in the driver: there are no undocumented tables.
cudaError_t cudaGetExportTable(const void** ppExportTable,
                               const cudaUUID_t* pExportTableId) noexcept {
  if (!ppExportTable || !pExportTableId) return cudaErrorInvalidValue;
  return forward(table->cuGetExportTable, ppExportTable, pExportTableId);
}

}  // namespace halfwarp::emulated_runtime::api
