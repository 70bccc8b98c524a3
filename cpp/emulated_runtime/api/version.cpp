// SPDX-License-Identifier: Apache-2.0
// The version and errors of the library, and the driver's entry points.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"
#include "emulated_runtime/process/thread.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

constexpr const char* unknown_error = "unrecognized error code";

CUresult as_driver(cudaError_t error) { return static_cast<CUresult>(error); }

// Converts the query result of the driver, whose enumerators are in the same order.
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
  const char* text = nullptr;
  if (!entry) return unknown_error;
  if (entry->text) return entry->text;
  const bool is_known = ensure_connection() && !table->cuGetErrorString(as_driver(error), &text);
  return is_known ? text : entry->name;
}

// An unknown name is reported in `driverStatus`, not as an error.
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

// Like the driver, the library has no undocumented tables.
cudaError_t cudaGetExportTable(const void** ppExportTable,
                               const cudaUUID_t* pExportTableId) noexcept {
  if (!ppExportTable || !pExportTableId) return cudaErrorInvalidValue;
  return forward(table->cuGetExportTable, ppExportTable, pExportTableId);
}

}  // namespace halfwarp::emulated_runtime::api
