// SPDX-License-Identifier: Apache-2.0
// Copies, fills and frees; their areas are checked when they execute.
#include "emulator/work/memory_operations.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/driver/driver.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {
namespace {

std::byte* bytes_at(const memory_area& area) {
  return area.is_pageable ? reinterpret_cast<std::byte*>(area.first)
                          : the_driver().memory.view(area.first);
}

template <class Row>
void for_each_row(const memory_area& area, Row&& row) {
  for (std::uint64_t slice = 0; slice < area.slices; ++slice) {
    for (std::uint64_t y = 0; y < area.rows; ++y) row(slice * area.slice_pitch + y * area.pitch);
  }
}

report::fault_kind kind_of(memory::range_problem problem) {
  using enum memory::range_problem;
  switch (problem) {
    case out_of_bounds:
      return report::fault_kind::out_of_bounds;
    case use_after_free:
      return report::fault_kind::use_after_free;
    case wrong_device:
      return report::fault_kind::wrong_device;
    case host_memory:
      return report::fault_kind::host_memory;
    case read_only:
      return report::fault_kind::read_only;
    case unmapped:
      break;
  }
  return report::fault_kind::unmapped;
}

bool is_device_memory(const memory_area& area) { return !area.is_pageable && !area.array; }

CUmemorytype type_of(const memory_area& area) {
  return area.array         ? CU_MEMORYTYPE_ARRAY
         : area.is_pageable ? CU_MEMORYTYPE_HOST
                            : CU_MEMORYTYPE_DEVICE;
}

template <class Element>
void fill_row(std::byte* row, std::uint32_t value, std::uint64_t bytes) {
  std::fill_n(reinterpret_cast<Element*>(row), bytes / sizeof(Element),
              static_cast<Element>(value));
}

}  // namespace

std::optional<memory::range_fault> check_area(const memory_area& area) {
  if (area.is_pageable) return std::nullopt;
  // Checked as a read: copies and memsets may write constant variables, which kernels may not.
  return the_driver().memory.check(area.first, area.span(), area.device, false);
}

failure area_failure(std::string_view operation_name, const memory_area& area,
                     const memory::range_fault& problem, const stream& target, bool is_write) {
  report::fault f;
  f.kind = kind_of(problem.problem);
  f.access = is_write ? report::access_kind::store : report::access_kind::load;
  f.space = report::memory_space::global;
  f.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(area.span(), UINT32_MAX));
  f.address = problem.first_bad;
  f.device = area.device;
  f.stream = target.number();
  f.nearest = problem.nearest;
  f.detail = std::string{operation_name} + " of " + std::to_string(area.bytes()) + " bytes at " +
             report::hexadecimal(area.first);
  constexpr std::string_view freed =
      "the memory was valid at the call and was freed before the operation ran";
  f.hint = f.nearest && f.nearest->is_reserved ? report::hint_for_graph_memory : freed;
  f.seed = the_driver().settings.seed;
  return {report::code(f.kind), true, std::move(f)};
}

void copy_area(const memory_area& to, const memory_area& from) {
  std::byte* const destination = bytes_at(to);
  const std::byte* const source = bytes_at(from);
  const bool is_dense = to.rows * to.slices == 1;
  if (is_dense) {
    std::memmove(destination, source, to.row_bytes);
    return;
  }
  for (std::uint64_t slice = 0; slice < to.slices; ++slice) {
    for (std::uint64_t y = 0; y < to.rows; ++y) {
      std::memmove(destination + slice * to.slice_pitch + y * to.pitch,
                   source + slice * from.slice_pitch + y * from.pitch, to.row_bytes);
    }
  }
}

failure copy_memory::execute(stream& target) {
  if (const auto problem = check_area(to_)) {
    return area_failure("copy", to_, *problem, target, true);
  }
  if (const auto problem = check_area(from_)) {
    return area_failure("copy", from_, *problem, target, false);
  }
  copy_area(to_, from_);
  return {};
}

void copy_memory::describe(CUgraphNodeParams& params) const {
  params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  auto& p = params.memcpy.copyParams;
  const auto pitch = [](const memory_area& a) { return a.pitch ? a.pitch : a.row_bytes; };
  const auto height = [&](const memory_area& a) {
    return a.slice_pitch ? a.slice_pitch / pitch(a) : a.rows;
  };
  p.srcMemoryType = type_of(from_);
  p.srcHost = from_.is_pageable ? reinterpret_cast<const void*>(from_.first) : nullptr;
  p.srcDevice = is_device_memory(from_) ? from_.first : 0;
  p.srcArray = from_.array;
  p.srcXInBytes = from_.array_x, p.srcY = from_.array_y, p.srcZ = from_.array_z;
  p.srcPitch = from_.array ? 0 : pitch(from_);
  p.srcHeight = from_.array ? 0 : height(from_);
  p.dstMemoryType = type_of(to_);
  p.dstHost = to_.is_pageable ? reinterpret_cast<void*>(to_.first) : nullptr;
  p.dstDevice = is_device_memory(to_) ? to_.first : 0;
  p.dstArray = to_.array;
  p.dstXInBytes = to_.array_x, p.dstY = to_.array_y, p.dstZ = to_.array_z;
  p.dstPitch = to_.array ? 0 : pitch(to_);
  p.dstHeight = to_.array ? 0 : height(to_);
  p.WidthInBytes = to_.row_bytes;
  p.Height = to_.rows;
  p.Depth = to_.slices;
}

void fill_memory::describe(CUgraphNodeParams& params) const {
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  auto& p = params.memset;
  p.dst = target_.first;
  p.pitch = target_.pitch;
  p.value = value_;
  p.elementSize = width_;
  p.width = target_.row_bytes / width_;
  p.height = target_.rows;
}

failure fill_memory::execute(stream& target) {
  if (const auto problem = check_area(target_)) {
    return area_failure("memset", target_, *problem, target, true);
  }
  std::byte* const base = bytes_at(target_);
  for_each_row(target_, [&](std::uint64_t offset) {
    if (width_ == 1) fill_row<std::uint8_t>(base + offset, value_, target_.row_bytes);
    if (width_ == 2) fill_row<std::uint16_t>(base + offset, value_, target_.row_bytes);
    if (width_ == 4) fill_row<std::uint32_t>(base + offset, value_, target_.row_bytes);
  });
  return {};
}

failure free_memory::execute(stream&) {
  the_driver().memory.release(base_, {stream_number_, site_});
  return {};
}

void free_memory::drop() noexcept { the_driver().memory.release(base_, {stream_number_, site_}); }

void free_memory::finish() noexcept {
  // The addresses may already belong to another allocation: other threads run between execute()
  // and finish().
  the_driver().being_freed.erase(sequence_);
  if (from_) from_->deallocate(bytes_);
}

}  // namespace halfwarp::emulator
