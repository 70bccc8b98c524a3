// SPDX-License-Identifier: Apache-2.0
// The single device of the null driver, and its attributes.
#include <algorithm>
#include <cstdio>

#include "emulator/device/attributes.hpp"
#include "emulator/null/outputs.hpp"
#include "emulator/null_driver.hpp"
#include "emulator/settings/error_names.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

constexpr std::size_t memory_bytes = std::size_t{80} << 30;

const attribute_values& attributes() {
  static const attribute_values values = attributes_of(*find_architecture(9, 0), 0);
  return values;
}

}  // namespace

CUresult cuDriverGetVersion(int* driverVersion) noexcept {
  store(driverVersion, CUDA_VERSION);
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** pStr) noexcept {
  const error_entry* const match = find_error(error);
  if (pStr) *pStr = match ? match->name : nullptr;
  return match ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** pStr) noexcept {
  const error_entry* const match = find_error(error);
  if (pStr) *pStr = match ? match->text : nullptr;
  return match ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int* count) noexcept {
  store(count, 1);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) noexcept {
  if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
  store(device, 0);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int len, CUdevice) noexcept {
  if (name && len > 0) std::snprintf(name, len, "Null CUDA device (runs nothing)");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) noexcept {
  if (uuid) std::copy_n("NULLDEVICE\0\0\0\0\0", sizeof uuid->bytes, uuid->bytes);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice) noexcept {
  if (pciBusId && len > 0) std::snprintf(pciBusId, len, "%04X:00:00.0", pci_domain);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) noexcept {
  store(bytes, memory_bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(size_t* free, size_t* total) noexcept {
  store(free, memory_bytes);
  store(total, memory_bytes);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice) noexcept {
  const auto value = attributes().find(attrib);
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  store(pi, *value);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice) noexcept {
  store(major, 9);
  store(minor, 0);
  return CUDA_SUCCESS;
}

// Returns the functions of the null driver.
CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* symbolStatus) noexcept {
  return api::cuGetProcAddress(symbol, pfn, cudaVersion, flags, symbolStatus);
}

// Fails, unlike other functions: its tables are undocumented, and a caller would use them.
CUresult cuGetExportTable(const void**, const CUuuid*) noexcept { return CUDA_ERROR_NOT_FOUND; }

}  // namespace halfwarp::emulator::null_driver
