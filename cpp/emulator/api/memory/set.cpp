// SPDX-License-Identifier: Apache-2.0
// Memsets of ranges and of rectangles.
#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator::api {
namespace {

struct rectangle {
  std::size_t width, height = 1, pitch = 0;  // width in elements, pitch in bytes
};

memory_area checked_area(const call& c, CUdeviceptr first, std::size_t element,
                         const rectangle& shape, int device) {
  require(first % element == 0 && shape.pitch % element == 0, CUDA_ERROR_INVALID_VALUE,
          "the address and the pitch must be multiples of the element");
  require(shape.width <= SIZE_MAX / element &&
              (shape.height <= 1 || shape.pitch >= shape.width * element),
          CUDA_ERROR_INVALID_VALUE, "the pitch is smaller than a row");
  auto area = range(first, shape.width * element, device);
  area.rows = shape.height;
  area.pitch = shape.pitch;
  admit_area(c, area, true);
  require(!area.is_pageable || area.bytes() == 0, CUDA_ERROR_INVALID_VALUE,
          "the device has no access to this host memory");
  return area;
}

template <class Element>
CUresult fill(CUdeviceptr first, Element value, const rectangle& shape, CUstream raw,
              bool is_synchronous) {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(raw);
    const auto area =
        checked_area(c, first, sizeof(Element), shape, target->owner().device().ordinal());
    if (area.bytes() == 0) return CUDA_SUCCESS;
    if (const auto* const state = capture_of(*target); state && is_synchronous) {
      refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                            "a synchronous memset cannot be captured");
    }
    const auto end = c.submit(*target, std::make_shared<fill_memory>(area, value, sizeof(Element)));
    // A memset of device memory needs no wait; host memory must be written on return.
    const bool waits =
        is_synchronous && (c.d.memory.device_of(first) < 0 || has_sync_memops(c, first));
    return waits ? c.wait(end, target->owner()) : CUDA_SUCCESS;
  });
}

}  // namespace

std::shared_ptr<operation> make_fill(call& c, const CUDA_MEMSET_NODE_PARAMS& params, int device) {
  const auto width = params.elementSize;
  require(width == 1 || width == 2 || width == 4, CUDA_ERROR_INVALID_VALUE,
          "the size of an element is 1, 2 or 4 bytes");
  const auto pitch = params.height > 1 ? params.pitch : 0;
  const auto area = checked_area(c, params.dst, width, {params.width, params.height, pitch},
                                 home_of(c, params.dst, device));
  require(area.bytes() > 0, CUDA_ERROR_INVALID_VALUE, "a memset node fills at least one element");
  return std::make_shared<fill_memory>(area, params.value, width);
}

CUresult cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, size_t N) noexcept {
  return fill<std::uint8_t>(dstDevice, uc, {N}, nullptr, true);
}

CUresult cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, size_t N) noexcept {
  return fill<std::uint16_t>(dstDevice, us, {N}, nullptr, true);
}

CUresult cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, size_t N) noexcept {
  return fill<std::uint32_t>(dstDevice, ui, {N}, nullptr, true);
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                         CUstream hStream) noexcept {
  return fill<std::uint8_t>(dstDevice, uc, {N}, hStream, false);
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N,
                          CUstream hStream) noexcept {
  return fill<std::uint16_t>(dstDevice, us, {N}, hStream, false);
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
                          CUstream hStream) noexcept {
  return fill<std::uint32_t>(dstDevice, ui, {N}, hStream, false);
}

CUresult cuMemsetD2D8(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                      size_t Height) noexcept {
  return fill<std::uint8_t>(dstDevice, uc, {Width, Height, dstPitch}, nullptr, true);
}

CUresult cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                       size_t Height) noexcept {
  return fill<std::uint16_t>(dstDevice, us, {Width, Height, dstPitch}, nullptr, true);
}

CUresult cuMemsetD2D32(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                       size_t Height) noexcept {
  return fill<std::uint32_t>(dstDevice, ui, {Width, Height, dstPitch}, nullptr, true);
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                           size_t Height, CUstream hStream) noexcept {
  return fill<std::uint8_t>(dstDevice, uc, {Width, Height, dstPitch}, hStream, false);
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                            size_t Height, CUstream hStream) noexcept {
  return fill<std::uint16_t>(dstDevice, us, {Width, Height, dstPitch}, hStream, false);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                            size_t Height, CUstream hStream) noexcept {
  return fill<std::uint32_t>(dstDevice, ui, {Width, Height, dstPitch}, hStream, false);
}

}  // namespace halfwarp::emulator::api
