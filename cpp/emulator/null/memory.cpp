// SPDX-License-Identifier: Apache-2.0
// Allocations of the null driver: accessible addresses with undefined contents.
#include <algorithm>

#include "emulator/null/outputs.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

template <class T>
CUresult allocate(T* out, std::size_t bytes) noexcept {
  store(out, next_address(bytes));
  return CUDA_SUCCESS;
}

CUmemoryPool default_pool() noexcept {
  static const auto handle = next_handle();
  return reinterpret_cast<CUmemoryPool>(handle);
}

}  // namespace

CUresult cuMemAlloc(CUdeviceptr* dptr, size_t bytesize) noexcept {
  return allocate(dptr, bytesize);
}

CUresult cuMemAllocPitch(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                         unsigned int) noexcept {
  const std::size_t pitch = (WidthInBytes + 511) & ~std::size_t{511};
  store(pPitch, pitch);
  return allocate(dptr, pitch * Height);
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int) noexcept {
  return allocate(dptr, bytesize);
}

CUresult cuMemAllocHost(void** pp, size_t bytesize) noexcept { return allocate(pp, bytesize); }

CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int) noexcept {
  return allocate(pp, bytesize);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* pdptr, void* p, unsigned int) noexcept {
  store(pdptr, reinterpret_cast<CUdeviceptr>(p));
  return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream) noexcept {
  return allocate(dptr, bytesize);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool,
                                 CUstream) noexcept {
  return allocate(dptr, bytesize);
}

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t, CUdeviceptr addr,
                             unsigned long long) noexcept {
  if (!addr) return allocate(ptr, size);
  store(ptr, addr);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) noexcept {
  store(granularity, std::size_t{2} << 20);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice) noexcept {
  store(pool_out, default_pool());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice) noexcept {
  store(pool, default_pool());
  return CUDA_SUCCESS;
}

// The first seven attributes are three ints and four 64-bit counters.
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute attr, void* value) noexcept {
  const bool is_counter = attr >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
  zero(static_cast<char*>(value), is_counter ? sizeof(cuuint64_t) : sizeof(int));
  return CUDA_SUCCESS;
}

// Every address is device memory of the one device.
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute,
                               CUdeviceptr ptr) noexcept {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      store(static_cast<CUdeviceptr*>(data), ptr);
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      store(static_cast<unsigned*>(data), CU_MEMORYTYPE_DEVICE);
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      store(static_cast<int*>(data), 0);
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      store(static_cast<bool*>(data), false);
      break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      store(static_cast<unsigned*>(data), 0);
      break;
    default:
      zero(static_cast<cuuint64_t*>(data));
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes,
                                void** data, CUdeviceptr ptr) noexcept {
  for (unsigned i = 0; i < numAttributes; ++i) {
    null_driver::cuPointerGetAttribute(data[i], attributes[i], ptr);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) noexcept {
  store(pbase, dptr);
  zero(psize);
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::emulator::null_driver
