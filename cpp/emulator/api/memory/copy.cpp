// SPDX-License-Identifier: Apache-2.0
// Copies of one range. Pageable host memory is read or written before the call returns.
#include <string>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/driver/findings/misuse.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator::api {
namespace {

// Copies the bytes of a pageable source for an asynchronous copy, and redirects the source.
std::unique_ptr<std::byte[]> take_snapshot(memory_area& from) {
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(from.bytes());
  memory_area dense = from;
  dense.first = reinterpret_cast<memory::address>(bytes.get());
  dense.pitch = from.row_bytes;
  dense.slice_pitch = from.row_bytes * from.rows;
  dense.is_pageable = true;
  copy_area(dense, from);
  from = dense;
  return bytes;
}

constexpr device_sides neither{}, target{true, false}, source{false, true}, both{true, true};

CUresult copy_range(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream_handle,
                    wait_mode mode, device_sides required = neither) {
  return run_locked([&](call& c) {
    const auto stream = c.stream_of(stream_handle);
    const int device = copying_device(*stream);
    return copy_area_in(c, *stream, range(to, bytes, device), range(from, bytes, device), mode,
                        required);
  });
}

CUdeviceptr address_of(const void* host) { return reinterpret_cast<CUdeviceptr>(host); }

// Copies without peer access: each side is accessed from its own device. A captured copy needs peer
// access like any other copy.
CUresult copy_between_peers(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                            CUcontext from_context, std::size_t bytes, CUstream stream_handle) {
  return run_locked([&](call& c) {
    const auto stream = c.stream_of(stream_handle);
    const bool is_captured = capture_of(*stream) != nullptr;
    const auto device_of = [&](CUcontext side) {
      const int side_device = c.context_of(side)->device().ordinal();
      return is_captured ? copying_device(*stream) : side_device;
    };
    return copy_area_in(c, *stream, range(to, bytes, device_of(to_context)),
                        range(from, bytes, device_of(from_context)), wait_mode::if_needed);
  });
}

}  // namespace

bool has_sync_memops(const call& c, CUdeviceptr address) {
  if (c.d.synchronous.empty()) return false;
  const auto match = c.d.memory.find_live(address);
  return match && c.d.synchronous.contains(match->sequence);
}

memory_area range(CUdeviceptr first, std::size_t bytes, int device) {
  memory_area area;
  area.first = first;
  area.row_bytes = bytes;
  area.device = device;
  return area;
}

int copying_device(const stream& target) {
  const auto& contexts = this_thread().contexts;
  const context& current = contexts.empty() ? target.owner() : *contexts.back();
  return current.device().ordinal();
}

int home_of(const call& c, CUdeviceptr address, int fallback) {
  using enum memory::allocation_kind;
  const auto match = c.d.memory.find_live(address);
  return match && (match->kind == device || match->kind == variable) ? match->device : fallback;
}

void admit_side(const call& c, memory_area& area, bool is_write) {
  area.device = home_of(c, area.first, area.device);
  admit_area(c, area, is_write);
}

void require_device_memory(const call& c, const memory_area& area) {
  const auto match = c.d.memory.find_live(area.first);
  using enum memory::allocation_kind;
  const bool is_of_pool = match && match->kind == pinned && match->pool != 0;
  const bool is_plain = area.is_pageable && !(match && match->kind == mapped_host);
  if (!is_plain && !is_of_pool) return;
  refuse(CUDA_ERROR_INVALID_VALUE,
         report::hexadecimal(area.first) + " is passed as device memory, but is " +
             (is_of_pool ? "memory of a host pool" : "pageable host memory") +
             ": are source and target swapped? cuMemcpy accepts both");
}

bool is_on_host(const call& c, const memory_area& area) {
  return area.is_pageable || c.d.memory.device_of(area.first) < 0;
}

CUresult copy_area_in(call& c, stream& queue_stream, memory_area to, memory_area from,
                      wait_mode mode, device_sides required) {
  admit_side(c, to, true);
  if (required.to) require_device_memory(c, to);
  admit_side(c, from, false);
  if (required.from) require_device_memory(c, from);
  if (to.bytes() == 0) return CUDA_SUCCESS;
  const bool touches_host = is_on_host(c, to) || is_on_host(c, from) ||
                            has_sync_memops(c, to.first) || has_sync_memops(c, from.first);
  if (const auto* const state = capture_of(queue_stream)) {
    if (mode != wait_mode::if_needed) {
      refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                            "a synchronous copy cannot be captured");
    }
    c.submit(queue_stream, std::make_shared<copy_memory>(to, from));
    return CUDA_SUCCESS;
  }
  require_no_implicit_wait(c.d, queue_stream);
  const bool waits = mode == wait_mode::always || to.is_pageable ||
                     (mode == wait_mode::for_host_only && touches_host);
  auto snapshot = from.is_pageable && !waits ? take_snapshot(from) : nullptr;
  const auto end =
      c.submit(queue_stream, std::make_shared<copy_memory>(to, from, std::move(snapshot)));
  return waits ? c.wait(end, queue_stream.owner()) : CUDA_SUCCESS;
}

void admit_area(const call& c, memory_area& area, bool is_write) {
  const auto problem = check_area(area);
  if (!problem) return;
  const bool is_other = problem->problem == memory::range_problem::wrong_device;
  const int owner = is_other ? c.d.memory.device_of(area.first) : 0;
  // Copies accept memory of a host pool to which the device has no access, as other host memory.
  if (problem->problem == memory::range_problem::host_memory || owner < 0) {
    area.is_pageable = true;
    return;
  }
  // Memory of a graph is allocated later, so the operation checks it when it executes.
  const auto match = c.d.memory.find_reserved_or_live(area.first);
  if (match && match->is_reserved && match->contains(area.first, area.span())) return;
  std::string text = std::to_string(area.span()) + " bytes at " + report::hexadecimal(area.first) +
                     " may not be " + (is_write ? "written" : "read");
  if (is_other) {
    text += " from device " + std::to_string(area.device) + ": the memory is on device " +
            std::to_string(owner) +
            ", to which it has no access. Call cuCtxEnablePeerAccess, or cuMemPoolSetAccess for "
            "pool memory; cuMemcpyPeerAsync needs no access";
  } else if (problem->nearest) {
    text += std::string{": the nearest allocation is the "} +
            (problem->nearest->is_live ? "live " : "freed ") +
            std::to_string(problem->nearest->size) + " bytes at " +
            report::hexadecimal(problem->nearest->base);
  }
  // Report only addresses inside freed memory; a nearby address is a wrong extent.
  if (problem->problem == memory::range_problem::use_after_free &&
      problem->nearest->contains(problem->first_bad, 1)) {
    report_freed(c.d, report::fault_kind::freed_memory, text);
  }
  refuse(CUDA_ERROR_INVALID_VALUE, text);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) noexcept {
  return copy_range(dst, src, ByteCount, nullptr, wait_mode::for_host_only);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
                       CUstream hStream) noexcept {
  return copy_range(dst, src, ByteCount, hStream, wait_mode::if_needed);
}

CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) noexcept {
  return copy_range(dstDevice, address_of(srcHost), ByteCount, nullptr, wait_mode::always, target);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount,
                           CUstream hStream) noexcept {
  return copy_range(dstDevice, address_of(srcHost), ByteCount, hStream, wait_mode::if_needed,
                    target);
}

CUresult cuMemcpyDtoH(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) noexcept {
  return copy_range(address_of(dstHost), srcDevice, ByteCount, nullptr, wait_mode::always, source);
}

CUresult cuMemcpyDtoHAsync(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                           CUstream hStream) noexcept {
  return copy_range(address_of(dstHost), srcDevice, ByteCount, hStream, wait_mode::if_needed,
                    source);
}

CUresult cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) noexcept {
  return copy_range(dstDevice, srcDevice, ByteCount, nullptr, wait_mode::for_host_only, both);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                           CUstream hStream) noexcept {
  return copy_range(dstDevice, srcDevice, ByteCount, hStream, wait_mode::if_needed, both);
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                      CUcontext srcContext, size_t ByteCount) noexcept {
  return copy_between_peers(dstDevice, dstContext, srcDevice, srcContext, ByteCount, nullptr);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream) noexcept {
  return copy_between_peers(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream);
}

}  // namespace halfwarp::emulator::api
