// SPDX-License-Identifier: Apache-2.0
// Converts copies of rows and slices to the driver's struct.
#include "emulated_runtime/api/memory/pitched_copy.hpp"

#include "emulated_runtime/api/texture/format.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

bool reads_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
}

bool writes_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
}

endpoint memory_end(const void* memory, size_t pitch, cudaMemcpyKind kind, bool is_host) {
  endpoint result;
  if (kind != cudaMemcpyDefault) result.type = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  result.memory = memory;
  result.pitch = pitch;
  return result;
}

endpoint array_end(cudaArray_const_t array, const cudaPos& position, size_t element) {
  endpoint result = in_array(array, position.x * element, position.y);
  result.at.z = position.z;
  return result;
}

endpoint at_position(endpoint result, const cudaPitchedPtr& pointer, const cudaPos& position) {
  result.at = position;
  result.rows = pointer.ysize;
  return result;
}

// Returns the element size of the arrays in bytes, or 1 if no array takes part.
cudaError_t element_size(cudaArray_const_t a, cudaArray_const_t b, size_t* bytes) {
  size_t sizes[] = {0, 0};
  if (a) {
    if (const cudaError_t code = bytes_of_element(a, &sizes[0])) return code;
  }
  if (b) {
    if (const cudaError_t code = bytes_of_element(b, &sizes[1])) return code;
  }
  if (a && b && sizes[0] != sizes[1]) return cudaErrorInvalidValue;
  *bytes = a ? sizes[0] : b ? sizes[1] : 1;
  return cudaSuccess;
}

// Both kinds of parameters have these fields.
template <class Parameters>
cudaError_t read(const Parameters& params, cudaMemcpyKind kind, pitched_copy* out) {
  if ((params.srcArray && params.srcPtr.ptr) || (params.dstArray && params.dstPtr.ptr)) {
    return cudaErrorInvalidValue;
  }
  size_t element = 1;
  if (const cudaError_t code = element_size(params.srcArray, params.dstArray, &element))
    return code;
  const auto& [src, dst] = std::pair{params.srcPtr, params.dstPtr};
  out->from = params.srcArray
                  ? array_end(params.srcArray, params.srcPos, element)
                  : at_position(source_memory(src.ptr, src.pitch, kind), src, params.srcPos);
  out->to = params.dstArray
                ? array_end(params.dstArray, params.dstPos, element)
                : at_position(target_memory(dst.ptr, dst.pitch, kind), dst, params.dstPos);
  out->extent = {params.extent.width * element, params.extent.height, params.extent.depth};
  return cudaSuccess;
}

// Both driver structs have these fields.
template <class Copy>
Copy write(const pitched_copy& copy) {
  Copy result{};
  result.srcXInBytes = copy.from.at.x;
  result.srcY = copy.from.at.y;
  result.srcZ = copy.from.at.z;
  result.srcMemoryType = copy.from.type;
  result.srcHost = copy.from.memory;
  result.srcDevice = as_driver<CUdeviceptr>(copy.from.memory);
  result.srcArray = as_driver<CUarray>(const_cast<cudaArray_t>(copy.from.array));
  result.srcPitch = copy.from.pitch;
  result.srcHeight = copy.from.rows;
  result.dstXInBytes = copy.to.at.x;
  result.dstY = copy.to.at.y;
  result.dstZ = copy.to.at.z;
  result.dstMemoryType = copy.to.type;
  result.dstHost = const_cast<void*>(copy.to.memory);
  result.dstDevice = as_driver<CUdeviceptr>(copy.to.memory);
  result.dstArray = as_driver<CUarray>(const_cast<cudaArray_t>(copy.to.array));
  result.dstPitch = copy.to.pitch;
  result.dstHeight = copy.to.rows;
  result.WidthInBytes = copy.extent.width;
  result.Height = copy.extent.height;
  result.Depth = copy.extent.depth;
  return result;
}

void* memory_of(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (from == CU_MEMORYTYPE_HOST) {
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  }
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

}  // namespace

endpoint source_memory(const void* memory, size_t pitch, cudaMemcpyKind kind) {
  return memory_end(memory, pitch, kind, reads_host(kind));
}

endpoint target_memory(const void* memory, size_t pitch, cudaMemcpyKind kind) {
  return memory_end(memory, pitch, kind, writes_host(kind));
}

endpoint in_array(cudaArray_const_t array, size_t x_in_bytes, size_t row) {
  endpoint result;
  result.type = CU_MEMORYTYPE_ARRAY;
  result.array = array;
  result.at = {x_in_bytes, row, 0};
  return result;
}

cudaError_t read_parameters(const cudaMemcpy3DParms& params, pitched_copy* out) {
  if (params.kind < cudaMemcpyHostToHost || params.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return read(params, params.kind, out);
}

cudaError_t read_parameters(const cudaMemcpy3DPeerParms& params, pitched_copy* out) {
  return read(params, cudaMemcpyDeviceToDevice, out);
}

CUDA_MEMCPY3D for_driver(const pitched_copy& copy) { return write<CUDA_MEMCPY3D>(copy); }

CUDA_MEMCPY3D_PEER for_driver_between_peers(const pitched_copy& copy) {
  return write<CUDA_MEMCPY3D_PEER>(copy);
}

cudaError_t read_driver(const CUDA_MEMCPY3D& driver_copy, cudaMemcpy3DParms* out) {
  cudaMemcpy3DParms result{};
  result.kind = kind_of(driver_copy.srcMemoryType, driver_copy.dstMemoryType);
  const bool from_array = driver_copy.srcMemoryType == CU_MEMORYTYPE_ARRAY;
  const bool to_array = driver_copy.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  if (from_array) result.srcArray = reinterpret_cast<cudaArray_t>(driver_copy.srcArray);
  if (to_array) result.dstArray = reinterpret_cast<cudaArray_t>(driver_copy.dstArray);
  size_t element = 1;
  if (const cudaError_t code = element_size(result.srcArray, result.dstArray, &element))
    return code;
  result.srcPos = {driver_copy.srcXInBytes / (from_array ? element : 1), driver_copy.srcY,
                   driver_copy.srcZ};
  result.dstPos = {driver_copy.dstXInBytes / (to_array ? element : 1), driver_copy.dstY,
                   driver_copy.dstZ};
  if (!from_array) {
    result.srcPtr = {
        memory_of(driver_copy.srcMemoryType, driver_copy.srcHost, driver_copy.srcDevice),
        driver_copy.srcPitch, driver_copy.WidthInBytes, driver_copy.srcHeight};
  }
  if (!to_array) {
    result.dstPtr = {
        memory_of(driver_copy.dstMemoryType, driver_copy.dstHost, driver_copy.dstDevice),
        driver_copy.dstPitch, driver_copy.WidthInBytes, driver_copy.dstHeight};
  }
  result.extent = {driver_copy.WidthInBytes / element, driver_copy.Height, driver_copy.Depth};
  *out = result;
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
