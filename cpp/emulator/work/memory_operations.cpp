// SPDX-License-Identifier: Apache-2.0
// Copies, fills and frees; their areas are checked when they execute.
#include "emulator/work/memory_operations.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/driver/driver.hpp"
#include "emulator/memory/written_bytes.hpp"
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

namespace {

// Holes at equal distances are padding of records, and so is a small hole in one record.
bool is_padding(const std::vector<memory::written_bytes::run>& runs, std::uint64_t bytes) {
  if (runs.empty()) return true;
  if (runs.size() == 1) return runs[0].bytes < std::min<std::uint64_t>(bytes, 8);
  const std::uint64_t distance = runs[1].offset - runs[0].offset;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_equal = runs[i].bytes == runs[0].bytes &&
                          (i == 0 || runs[i].offset - runs[i - 1].offset == distance);
    if (!is_equal) return false;
  }
  return true;
}

// Reports a copy to the host of bytes that nobody wrote. Returns whether this fails the copy.
bool report_unwritten(const memory_area& from, std::uint64_t offset,
                      const std::vector<memory::written_bytes::run>& runs, const stream& target) {
  report::fault f;
  std::uint64_t unwritten = 0;
  for (const auto& run : runs) unwritten += run.bytes;
  f.kind = report::fault_kind::uninitialized;
  f.space = report::memory_space::global;
  f.address = from.first + offset + runs[0].offset;
  f.nearest = the_driver().memory.nearest(f.address);
  f.stream = target.number();
  f.device = from.device;
  f.detail = "copy to the host of " + std::to_string(from.bytes()) +
             " bytes, of which nobody wrote " + std::to_string(unwritten) + ", from byte " +
             std::to_string(offset + runs[0].offset) + " on";
  f.history = the_driver().writes.history(the_driver().memory, f.address);
  f.hint = "copy the bytes that were written, or fill the memory first";
  f.seed = the_driver().settings.seed;
  return the_driver().faults.record(f);
}

constexpr std::size_t max_runs = 4096;

// Returns whether a finding fails the copy.
bool copy_states(const memory_area& to, const memory_area& from, const stream& target) {
  const memory::written_bytes* const states = the_driver().memory.states();
  if (!states) return false;
  const auto is_tracked = [&](const memory_area& area) {
    return !area.is_pageable && !area.array && states->contains(area.first);
  };
  const bool is_to_host =
      !to.array && (to.is_pageable || the_driver().memory.device_of(to.first) < 0);
  bool is_reported = false, is_failed = false;
  for (std::uint64_t slice = 0; slice < to.slices; ++slice) {
    for (std::uint64_t y = 0; y < to.rows; ++y) {
      const std::uint64_t source = slice * from.slice_pitch + y * from.pitch;
      const memory::address target_row = to.first + slice * to.slice_pitch + y * to.pitch;
      if (is_tracked(to)) {
        if (is_tracked(from)) {
          states->copy(target_row, from.first + source, to.row_bytes);
        } else {
          states->mark(target_row, to.row_bytes, memory::written);
        }
      } else if (is_to_host && is_tracked(from) && !is_reported) {
        const auto runs = states->unwritten_runs(from.first + source, to.row_bytes, max_runs);
        is_reported = !is_padding(runs, to.row_bytes);
        if (is_reported) is_failed = report_unwritten(from, source, runs, target);
      }
    }
  }
  return is_failed;
}

}  // namespace

namespace {

// Records a write that no kernel made, for questions about the writer of bytes.
void note_write(const memory_area& to, const operation& by, const std::string& site,
                const memory_area* from = nullptr) {
  driver& d = the_driver();
  if (!d.settings.checks_for(check::race | check::init) || to.array || to.is_pageable) return;
  const std::uint64_t bytes =
      (to.slices - 1) * to.slice_pitch + (to.rows - 1) * to.pitch + to.row_bytes;
  const bool has_source = from && is_device_memory(*from) &&
                          (to.rows * to.slices == 1 ||
                           (to.pitch == from->pitch && to.slice_pitch == from->slice_pitch));
  const memory::address source = has_source ? from->first : 0;
  d.writes.add({by.title(), site, nullptr, d.memory.next_sequence(), to.first, bytes, source});
}

}  // namespace

failure copy_memory::execute(stream& target) {
  if (const auto problem = check_area(to_)) {
    return area_failure("copy", to_, *problem, target, true);
  }
  if (const auto problem = check_area(from_)) {
    return area_failure("copy", from_, *problem, target, false);
  }
  copy_area(to_, from_);
  const bool is_failed = copy_states(to_, from_, target);
  note_write(to_, *this, site_, &from_);
  if (is_failed) return {CUDA_ERROR_LAUNCH_FAILED, true, {}};
  return {};
}

namespace {

// The rows of an area. Pageable memory is read at the call, or the call waits.
void add_ranges(const memory_area& area, byte_use use, std::vector<byte_range>& all) {
  constexpr std::uint64_t max_rows = 1 << 16;
  if (area.is_pageable || area.rows * area.slices > max_rows) return;
  for_each_row(area, [&](std::uint64_t offset) {
    all.push_back({area.first + offset, area.row_bytes, use});
  });
}

}  // namespace

std::vector<byte_range> copy_memory::ranges() const {
  std::vector<byte_range> all;
  add_ranges(from_, byte_use::read, all);
  add_ranges(to_, byte_use::write, all);
  return all;
}

std::vector<byte_range> fill_memory::ranges() const {
  std::vector<byte_range> all;
  add_ranges(target_, byte_use::write, all);
  return all;
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
  note_write(target_, *this, site_);
  std::byte* const base = bytes_at(target_);
  const memory::written_bytes* const states = the_driver().memory.states();
  for_each_row(target_, [&](std::uint64_t offset) {
    if (states) states->mark(target_.first + offset, target_.row_bytes, memory::written);
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
