// SPDX-License-Identifier: Apache-2.0
// Two- and three-dimensional copies between memory and arrays.
#include <concepts>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/device/array.hpp"

namespace halfwarp::emulator::api {
namespace {

// An end of a copy, from any of the API's structs.
struct endpoint {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t x, y, z, pitch, rows;
  CUarray array;
};

struct extent {
  std::size_t width, height, depth;
};

endpoint source_of(const CUDA_MEMCPY2D& p) {
  return {p.srcMemoryType, p.srcHost, p.srcDevice, p.srcXInBytes, p.srcY, 0,
          p.srcPitch,      0,         p.srcArray};
}

endpoint target_of(const CUDA_MEMCPY2D& p) {
  return {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstXInBytes, p.dstY, 0,
          p.dstPitch,      0,         p.dstArray};
}

extent extent_of(const CUDA_MEMCPY2D& p) { return {p.WidthInBytes, p.Height, 1}; }

template <class Parameters>
concept three_dimensional =
    std::same_as<Parameters, CUDA_MEMCPY3D> || std::same_as<Parameters, CUDA_MEMCPY3D_PEER>;

endpoint source_of(const three_dimensional auto& p) {
  require(p.srcLOD == 0, CUDA_ERROR_INVALID_VALUE, "srcLOD must be 0");
  return {p.srcMemoryType, p.srcHost,  p.srcDevice, p.srcXInBytes, p.srcY,
          p.srcZ,          p.srcPitch, p.srcHeight, p.srcArray};
}

endpoint target_of(const three_dimensional auto& p) {
  require(p.dstLOD == 0, CUDA_ERROR_INVALID_VALUE, "dstLOD must be 0");
  return {p.dstMemoryType, p.dstHost,  p.dstDevice, p.dstXInBytes, p.dstY,
          p.dstZ,          p.dstPitch, p.dstHeight, p.dstArray};
}

extent extent_of(const CUDA_MEMCPY3D& p) {
  require(!p.reserved0 && !p.reserved1, CUDA_ERROR_INVALID_VALUE, "reserved members must be null");
  return {p.WidthInBytes, p.Height, p.Depth};
}

extent extent_of(const CUDA_MEMCPY3D_PEER& p) { return {p.WidthInBytes, p.Height, p.Depth}; }

// Checks the pitch if there is a second row, and the slice height if there is a second slice.
void require_room(const endpoint& end, const extent& shape) {
  if (end.type == CU_MEMORYTYPE_ARRAY) return;
  require(end.type >= CU_MEMORYTYPE_HOST && end.type <= CU_MEMORYTYPE_UNIFIED,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such type of memory");
  const bool has_rows = shape.height > 1 || shape.depth > 1 || end.y || end.z;
  require(!has_rows || end.pitch >= end.x + shape.width, CUDA_ERROR_INVALID_VALUE,
          "the pitch is smaller than a row");
  const bool has_slices = shape.depth > 1 || end.z;
  require(!has_slices || end.rows >= end.y + shape.height, CUDA_ERROR_INVALID_VALUE,
          "the slice height is smaller than the copied height");
}

// Drivers require whole elements, except for a row that is copied from or to the host.
enum class row_unit { in_elements, in_bytes };

memory_area area_in_array(const call& c, const endpoint& end, const extent& shape, row_unit unit) {
  const auto array = c.find<cuda_array>(end.array);
  const texture::image& image = array->image;
  const texture::image_level& level = image.levels[0];
  const std::size_t element = image.format.bytes();
  const bool is_whole = end.x % element == 0 && shape.width % element == 0;
  require(is_whole || unit == row_unit::in_bytes, CUDA_ERROR_INVALID_VALUE,
          "a copy with an array must consist of whole elements");
  const auto fits = [](std::size_t first, std::size_t count, std::size_t available) {
    return first <= available && count <= available - first;
  };
  require(fits(end.x, shape.width, level.width * element) &&
              fits(end.y, shape.height, level.height) && fits(end.z, shape.depth, level.depth),
          CUDA_ERROR_INVALID_VALUE, "the copy exceeds the array");
  const auto start =
      image.base + level.offset + end.z * level.slice_pitch + end.y * level.row_pitch;
  auto area = range(start + end.x, shape.width, image.device);
  area.rows = shape.height;
  area.pitch = level.row_pitch;
  area.slices = shape.depth;
  area.slice_pitch = level.slice_pitch;
  area.array = end.array;
  area.array_x = end.x, area.array_y = end.y, area.array_z = end.z;
  return area;
}

memory_area area_of(const endpoint& end, const extent& shape, int device) {
  const bool is_host = end.type == CU_MEMORYTYPE_HOST;
  const auto base = is_host ? reinterpret_cast<CUdeviceptr>(end.host) : end.device;
  auto area = range(base + (end.z * end.rows + end.y) * end.pitch + end.x, shape.width, device);
  area.rows = shape.height;
  area.pitch = end.pitch;
  area.slices = shape.depth;
  area.slice_pitch = end.pitch * end.rows;
  return area;
}

void require_side(const call& c, const endpoint& end, memory_area area, bool is_write) {
  if (area.array) return;
  admit_side(c, area, is_write);
  if (end.type == CU_MEMORYTYPE_DEVICE) require_device_memory(c, area);
}

// The devices that read the source and write the target.
struct device_pair {
  int source, target;
};

struct checked_areas {
  memory_area to, from;
  bool is_empty;
};

template <class Parameters>
checked_areas check_rows(const call& c, const Parameters& params, device_pair devices,
                         row_unit unit = row_unit::in_elements) {
  const endpoint from = source_of(params), to = target_of(params);
  const extent shape = extent_of(params);
  require_room(from, shape);
  require_room(to, shape);
  if (shape.width == 0 || shape.height == 0 || shape.depth == 0) return {{}, {}, true};
  const auto area = [&](const endpoint& end, int device) {
    return end.type == CU_MEMORYTYPE_ARRAY ? area_in_array(c, end, shape, unit)
                                           : area_of(end, shape, device);
  };
  const auto source = area(from, devices.source), target = area(to, devices.target);
  require_side(c, from, source, false);
  require_side(c, to, target, true);
  return {target, source, false};
}

template <class Parameters>
device_pair devices_of(const call&, const Parameters&, const stream& target) {
  const int device = copying_device(target);
  return {device, device};
}

// Returns the device of each side's context; only device memory has a context.
device_pair devices_of(const call& c, const CUDA_MEMCPY3D_PEER& params, const stream& target) {
  const auto device = [&](CUmemorytype type, CUcontext raw) {
    const bool has_context = type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_ARRAY;
    return has_context ? c.context_of(raw)->device().ordinal() : copying_device(target);
  };
  return {device(params.srcMemoryType, params.srcContext),
          device(params.dstMemoryType, params.dstContext)};
}

template <class Parameters>
CUresult copy_rows(const Parameters* params, CUstream stream_handle, wait_mode mode,
                   row_unit unit = row_unit::in_elements) {
  return run_locked([&](call& c) {
    require_outputs(params);
    const auto stream = c.stream_of(stream_handle);
    const auto areas = check_rows(c, *params, devices_of(c, *params, *stream), unit);
    return areas.is_empty ? CUDA_SUCCESS : copy_area_in(c, *stream, areas.to, areas.from, mode);
  });
}

// An end of a copy of one row, in an array or in memory.
struct row_end {
  CUmemorytype type;
  CUarray array = nullptr;
  std::size_t offset = 0;
  const void* host = nullptr;
  CUdeviceptr device = 0;
};

row_end in_array(CUarray array, std::size_t offset) { return {CU_MEMORYTYPE_ARRAY, array, offset}; }
row_end on_host(const void* host) { return {CU_MEMORYTYPE_HOST, nullptr, 0, host}; }
row_end on_device(CUdeviceptr address) {
  return {CU_MEMORYTYPE_DEVICE, nullptr, 0, nullptr, address};
}

CUresult copy_row(const row_end& to, const row_end& from, std::size_t bytes, CUstream stream_handle,
                  wait_mode mode) {
  CUDA_MEMCPY2D row{};
  row.srcMemoryType = from.type, row.dstMemoryType = to.type;
  row.srcArray = from.array, row.dstArray = to.array;
  row.srcXInBytes = from.offset, row.dstXInBytes = to.offset;
  row.srcHost = from.host, row.dstHost = const_cast<void*>(to.host);
  row.srcDevice = from.device, row.dstDevice = to.device;
  row.WidthInBytes = bytes;
  row.Height = 1;
  const bool has_host = from.type == CU_MEMORYTYPE_HOST || to.type == CU_MEMORYTYPE_HOST;
  return copy_rows(&row, stream_handle, mode,
                   has_host ? row_unit::in_bytes : row_unit::in_elements);
}

}  // namespace

std::shared_ptr<operation> make_copy(call& c, const CUDA_MEMCPY3D& params, int device) {
  auto areas = check_rows(c, params, {device, device});
  if (!areas.is_empty) {
    admit_side(c, areas.to, true);
    admit_side(c, areas.from, false);
  }
  return std::make_shared<copy_memory>(areas.to, areas.from);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, wait_mode::for_host_only);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, wait_mode::for_host_only);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* pCopy, CUstream hStream) noexcept {
  return copy_rows(pCopy, hStream, wait_mode::if_needed);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, wait_mode::for_host_only);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* pCopy, CUstream hStream) noexcept {
  return copy_rows(pCopy, hStream, wait_mode::if_needed);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, wait_mode::for_host_only);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) noexcept {
  return copy_rows(pCopy, hStream, wait_mode::if_needed);
}

CUresult cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void* srcHost,
                      size_t ByteCount) noexcept {
  return copy_row(in_array(dstArray, dstOffset), on_host(srcHost), ByteCount, nullptr,
                  wait_mode::always);
}

CUresult cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void* srcHost,
                           size_t ByteCount, CUstream hStream) noexcept {
  return copy_row(in_array(dstArray, dstOffset), on_host(srcHost), ByteCount, hStream,
                  wait_mode::if_needed);
}

CUresult cuMemcpyAtoH(void* dstHost, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount) noexcept {
  return copy_row(on_host(dstHost), in_array(srcArray, srcOffset), ByteCount, nullptr,
                  wait_mode::always);
}

CUresult cuMemcpyAtoHAsync(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                           CUstream hStream) noexcept {
  return copy_row(on_host(dstHost), in_array(srcArray, srcOffset), ByteCount, hStream,
                  wait_mode::if_needed);
}

CUresult cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                      size_t ByteCount) noexcept {
  return copy_row(in_array(dstArray, dstOffset), on_device(srcDevice), ByteCount, nullptr,
                  wait_mode::for_host_only);
}

CUresult cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount) noexcept {
  return copy_row(on_device(dstDevice), in_array(srcArray, srcOffset), ByteCount, nullptr,
                  wait_mode::for_host_only);
}

CUresult cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount) noexcept {
  return copy_row(in_array(dstArray, dstOffset), in_array(srcArray, srcOffset), ByteCount, nullptr,
                  wait_mode::for_host_only);
}

}  // namespace halfwarp::emulator::api
