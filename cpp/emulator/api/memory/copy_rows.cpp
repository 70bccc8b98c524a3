// SPDX-License-Identifier: Apache-2.0
// Copies of rows and slices, of memory and of arrays.
#include <concepts>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/device/array.hpp"

namespace halfwarp::emulator::api {
namespace {

// One end of a copy, as both structs of the API state it.
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
concept of_three_dimensions =
    std::same_as<Parameters, CUDA_MEMCPY3D> || std::same_as<Parameters, CUDA_MEMCPY3D_PEER>;

endpoint source_of(const of_three_dimensions auto& p) {
  require(p.srcLOD == 0, CUDA_ERROR_INVALID_VALUE, "srcLOD must be 0");
  return {p.srcMemoryType, p.srcHost,  p.srcDevice, p.srcXInBytes, p.srcY,
          p.srcZ,          p.srcPitch, p.srcHeight, p.srcArray};
}

endpoint target_of(const of_three_dimensions auto& p) {
  require(p.dstLOD == 0, CUDA_ERROR_INVALID_VALUE, "dstLOD must be 0");
  return {p.dstMemoryType, p.dstHost,  p.dstDevice, p.dstXInBytes, p.dstY,
          p.dstZ,          p.dstPitch, p.dstHeight, p.dstArray};
}

extent extent_of(const CUDA_MEMCPY3D& p) {
  require(!p.reserved0 && !p.reserved1, CUDA_ERROR_INVALID_VALUE, "what is reserved must be null");
  return {p.WidthInBytes, p.Height, p.Depth};
}

extent extent_of(const CUDA_MEMCPY3D_PEER& p) { return {p.WidthInBytes, p.Height, p.Depth}; }

// A pitch counts where there is a second row, the rows of a slice where there is a second slice.
void require_room(const endpoint& end, const extent& shape) {
  if (end.type == CU_MEMORYTYPE_ARRAY) return;
  require(end.type >= CU_MEMORYTYPE_HOST && end.type <= CU_MEMORYTYPE_UNIFIED,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such type of memory");
  const bool has_rows = shape.height > 1 || shape.depth > 1 || end.y || end.z;
  require(!has_rows || end.pitch >= end.x + shape.width, CUDA_ERROR_INVALID_VALUE,
          "the pitch is smaller than a row");
  const bool has_slices = shape.depth > 1 || end.z;
  require(!has_slices || end.rows >= end.y + shape.height, CUDA_ERROR_INVALID_VALUE,
          "a slice has fewer rows than are copied");
}

// Drivers ask for whole elements, but not of a row that is copied from or to the host.
enum class copied { in_elements, in_bytes };

memory_area area_in_array(const call& c, const endpoint& end, const extent& shape, copied how) {
  const auto array = c.find<cuda_array>(end.array);
  const texture::image& image = array->image;
  const texture::image_level& level = image.levels[0];
  const std::size_t element = image.format.bytes();
  const bool is_whole = end.x % element == 0 && shape.width % element == 0;
  require(is_whole || how == copied::in_bytes, CUDA_ERROR_INVALID_VALUE,
          "a copy with an array is of whole elements");
  const auto fits = [](std::size_t first, std::size_t count, std::size_t has) {
    return first <= has && count <= has - first;
  };
  require(fits(end.x, shape.width, level.width * element) &&
              fits(end.y, shape.height, level.height) && fits(end.z, shape.depth, level.depth),
          CUDA_ERROR_INVALID_VALUE, "the copy does not lie inside the array");
  const auto at = image.base + level.offset + end.z * level.slice_pitch + end.y * level.row_pitch;
  auto area = range(at + end.x, shape.width, image.device);
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

// Which devices read the source and write the target.
struct device_pair {
  int source, target;
};

struct checked_areas {
  memory_area to, from;
  bool is_empty;
};

template <class Parameters>
checked_areas check_rows(const call& c, const Parameters& given, device_pair on,
                         copied how = copied::in_elements) {
  const endpoint from = source_of(given), to = target_of(given);
  const extent shape = extent_of(given);
  require_room(from, shape);
  require_room(to, shape);
  if (shape.width == 0 || shape.height == 0 || shape.depth == 0) return {{}, {}, true};
  const auto area = [&](const endpoint& end, int device) {
    return end.type == CU_MEMORYTYPE_ARRAY ? area_in_array(c, end, shape, how)
                                           : area_of(end, shape, device);
  };
  const auto source = area(from, on.source), target = area(to, on.target);
  require_side(c, from, source, false);
  require_side(c, to, target, true);
  return {target, source, false};
}

template <class Parameters>
device_pair devices_of(const call&, const Parameters&, const stream& in) {
  const int device = copying_device(in);
  return {device, device};
}

// Each side is accessed from the device of its own context, which only memory of devices has.
device_pair devices_of(const call& c, const CUDA_MEMCPY3D_PEER& given, const stream& in) {
  const auto device = [&](CUmemorytype type, CUcontext of) {
    const bool has_context = type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_ARRAY;
    return has_context ? c.context_of(of)->on().ordinal() : copying_device(in);
  };
  return {device(given.srcMemoryType, given.srcContext),
          device(given.dstMemoryType, given.dstContext)};
}

template <class Parameters>
CUresult copy_rows(const Parameters* given, CUstream in, waiting when,
                   copied how = copied::in_elements) {
  return answer([&](call& c) {
    require_outputs(given);
    const auto stream = c.stream_of(in);
    const auto areas = check_rows(c, *given, devices_of(c, *given, *stream), how);
    return areas.is_empty ? CUDA_SUCCESS : copy_area_in(c, *stream, areas.to, areas.from, when);
  });
}

// One row between an array and other memory, or two arrays.
struct row_end {
  CUmemorytype type;
  CUarray array = nullptr;
  std::size_t offset = 0;
  const void* host = nullptr;
  CUdeviceptr device = 0;
};

row_end in_array(CUarray array, std::size_t offset) { return {CU_MEMORYTYPE_ARRAY, array, offset}; }
row_end on_host(const void* at) { return {CU_MEMORYTYPE_HOST, nullptr, 0, at}; }
row_end on_device(CUdeviceptr at) { return {CU_MEMORYTYPE_DEVICE, nullptr, 0, nullptr, at}; }

CUresult copy_row(const row_end& to, const row_end& from, std::size_t bytes, CUstream in,
                  waiting when) {
  CUDA_MEMCPY2D row{};
  row.srcMemoryType = from.type, row.dstMemoryType = to.type;
  row.srcArray = from.array, row.dstArray = to.array;
  row.srcXInBytes = from.offset, row.dstXInBytes = to.offset;
  row.srcHost = from.host, row.dstHost = const_cast<void*>(to.host);
  row.srcDevice = from.device, row.dstDevice = to.device;
  row.WidthInBytes = bytes;
  row.Height = 1;
  const bool has_host = from.type == CU_MEMORYTYPE_HOST || to.type == CU_MEMORYTYPE_HOST;
  return copy_rows(&row, in, when, has_host ? copied::in_bytes : copied::in_elements);
}

}  // namespace

std::shared_ptr<operation> make_copy(call& c, const CUDA_MEMCPY3D& given, int device) {
  auto areas = check_rows(c, given, {device, device});
  if (!areas.is_empty) {
    admit_side(c, areas.to, true);
    admit_side(c, areas.from, false);
  }
  return std::make_shared<copy_memory>(areas.to, areas.from);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, waiting::for_host_only);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, waiting::for_host_only);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* pCopy, CUstream hStream) noexcept {
  return copy_rows(pCopy, hStream, waiting::if_needed);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, waiting::for_host_only);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* pCopy, CUstream hStream) noexcept {
  return copy_rows(pCopy, hStream, waiting::if_needed);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) noexcept {
  return copy_rows(pCopy, nullptr, waiting::for_host_only);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) noexcept {
  return copy_rows(pCopy, hStream, waiting::if_needed);
}

CUresult cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void* srcHost,
                      size_t ByteCount) noexcept {
  return copy_row(in_array(dstArray, dstOffset), on_host(srcHost), ByteCount, nullptr,
                  waiting::always);
}

CUresult cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void* srcHost,
                           size_t ByteCount, CUstream hStream) noexcept {
  return copy_row(in_array(dstArray, dstOffset), on_host(srcHost), ByteCount, hStream,
                  waiting::if_needed);
}

CUresult cuMemcpyAtoH(void* dstHost, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount) noexcept {
  return copy_row(on_host(dstHost), in_array(srcArray, srcOffset), ByteCount, nullptr,
                  waiting::always);
}

CUresult cuMemcpyAtoHAsync(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                           CUstream hStream) noexcept {
  return copy_row(on_host(dstHost), in_array(srcArray, srcOffset), ByteCount, hStream,
                  waiting::if_needed);
}

CUresult cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                      size_t ByteCount) noexcept {
  return copy_row(in_array(dstArray, dstOffset), on_device(srcDevice), ByteCount, nullptr,
                  waiting::for_host_only);
}

CUresult cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount) noexcept {
  return copy_row(on_device(dstDevice), in_array(srcArray, srcOffset), ByteCount, nullptr,
                  waiting::for_host_only);
}

CUresult cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount) noexcept {
  return copy_row(in_array(dstArray, dstOffset), in_array(srcArray, srcOffset), ByteCount, nullptr,
                  waiting::for_host_only);
}

}  // namespace halfwarp::emulator::api
