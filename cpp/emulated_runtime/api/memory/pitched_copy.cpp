// SPDX-License-Identifier: Apache-2.0
// Copies of rows and slices, in the one form that the driver takes them in.
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
  endpoint made;
  if (kind != cudaMemcpyDefault) made.type = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  made.memory = memory;
  made.pitch = pitch;
  return made;
}

endpoint array_end(cudaArray_const_t array, const cudaPos& at, size_t element) {
  endpoint made = in_array(array, at.x * element, at.y);
  made.at.z = at.z;
  return made;
}

endpoint place(endpoint made, const cudaPitchedPtr& of, const cudaPos& at) {
  made.at = at;
  made.rows = of.ysize;
  return made;
}

// Bytes in an element of whichever array takes part; 1 when none does.
cudaError_t element_size(cudaArray_const_t one, cudaArray_const_t other, size_t* bytes) {
  size_t sizes[] = {0, 0};
  if (one) {
    if (const cudaError_t code = bytes_of_element(one, &sizes[0])) return code;
  }
  if (other) {
    if (const cudaError_t code = bytes_of_element(other, &sizes[1])) return code;
  }
  if (one && other && sizes[0] != sizes[1]) return cudaErrorInvalidValue;
  *bytes = one ? sizes[0] : other ? sizes[1] : 1;
  return cudaSuccess;
}

// Parameters of both kinds have these fields.
template <class Parameters>
cudaError_t read(const Parameters& given, cudaMemcpyKind kind, pitched_copy* out) {
  if ((given.srcArray && given.srcPtr.ptr) || (given.dstArray && given.dstPtr.ptr)) {
    return cudaErrorInvalidValue;
  }
  size_t element = 1;
  if (const cudaError_t code = element_size(given.srcArray, given.dstArray, &element)) return code;
  const auto& [src, dst] = std::pair{given.srcPtr, given.dstPtr};
  out->from = given.srcArray ? array_end(given.srcArray, given.srcPos, element)
                             : place(source_memory(src.ptr, src.pitch, kind), src, given.srcPos);
  out->to = given.dstArray ? array_end(given.dstArray, given.dstPos, element)
                           : place(target_memory(dst.ptr, dst.pitch, kind), dst, given.dstPos);
  out->extent = {given.extent.width * element, given.extent.height, given.extent.depth};
  return cudaSuccess;
}

// Both driver structs have these fields.
template <class Copy>
Copy write(const pitched_copy& from) {
  Copy made{};
  made.srcXInBytes = from.from.at.x;
  made.srcY = from.from.at.y;
  made.srcZ = from.from.at.z;
  made.srcMemoryType = from.from.type;
  made.srcHost = from.from.memory;
  made.srcDevice = as_driver<CUdeviceptr>(from.from.memory);
  made.srcArray = as_driver<CUarray>(const_cast<cudaArray_t>(from.from.array));
  made.srcPitch = from.from.pitch;
  made.srcHeight = from.from.rows;
  made.dstXInBytes = from.to.at.x;
  made.dstY = from.to.at.y;
  made.dstZ = from.to.at.z;
  made.dstMemoryType = from.to.type;
  made.dstHost = const_cast<void*>(from.to.memory);
  made.dstDevice = as_driver<CUdeviceptr>(from.to.memory);
  made.dstArray = as_driver<CUarray>(const_cast<cudaArray_t>(from.to.array));
  made.dstPitch = from.to.pitch;
  made.dstHeight = from.to.rows;
  made.WidthInBytes = from.extent.width;
  made.Height = from.extent.height;
  made.Depth = from.extent.depth;
  return made;
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
  endpoint made;
  made.type = CU_MEMORYTYPE_ARRAY;
  made.array = array;
  made.at = {x_in_bytes, row, 0};
  return made;
}

cudaError_t read_parameters(const cudaMemcpy3DParms& given, pitched_copy* out) {
  if (given.kind < cudaMemcpyHostToHost || given.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return read(given, given.kind, out);
}

cudaError_t read_parameters(const cudaMemcpy3DPeerParms& given, pitched_copy* out) {
  return read(given, cudaMemcpyDeviceToDevice, out);
}

CUDA_MEMCPY3D for_driver(const pitched_copy& copy) { return write<CUDA_MEMCPY3D>(copy); }

CUDA_MEMCPY3D_PEER for_driver_between_peers(const pitched_copy& copy) {
  return write<CUDA_MEMCPY3D_PEER>(copy);
}

cudaError_t read_driver(const CUDA_MEMCPY3D& told, cudaMemcpy3DParms* out) {
  cudaMemcpy3DParms made{};
  made.kind = kind_of(told.srcMemoryType, told.dstMemoryType);
  const bool from_array = told.srcMemoryType == CU_MEMORYTYPE_ARRAY;
  const bool to_array = told.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  if (from_array) made.srcArray = reinterpret_cast<cudaArray_t>(told.srcArray);
  if (to_array) made.dstArray = reinterpret_cast<cudaArray_t>(told.dstArray);
  size_t element = 1;
  if (const cudaError_t code = element_size(made.srcArray, made.dstArray, &element)) return code;
  made.srcPos = {told.srcXInBytes / (from_array ? element : 1), told.srcY, told.srcZ};
  made.dstPos = {told.dstXInBytes / (to_array ? element : 1), told.dstY, told.dstZ};
  if (!from_array) {
    made.srcPtr = {memory_of(told.srcMemoryType, told.srcHost, told.srcDevice), told.srcPitch,
                   told.WidthInBytes, told.srcHeight};
  }
  if (!to_array) {
    made.dstPtr = {memory_of(told.dstMemoryType, told.dstHost, told.dstDevice), told.dstPitch,
                   told.WidthInBytes, told.dstHeight};
  }
  made.extent = {told.WidthInBytes / element, told.Height, told.Depth};
  *out = made;
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
