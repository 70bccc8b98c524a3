// SPDX-License-Identifier: Apache-2.0
// Stream operations that copy, fill or free memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "emulator/device/memory_pool.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// A box of bytes; a linear range has one row.
struct memory_area {
  memory::address first = 0;
  std::uint64_t row_bytes = 0, rows = 1, pitch = 0;  // pitch: bytes from row to row
  std::uint64_t slices = 1, slice_pitch = 0;
  int device = 0;            // the device that accesses the area
  bool is_pageable = false;  // pageable host memory, which is not checked
  CUarray array = nullptr;   // the array with the bytes, and the origin
  std::uint64_t array_x = 0, array_y = 0, array_z = 0;

  // Both functions saturate at UINT64_MAX, which fits no memory.
  std::uint64_t span() const noexcept {
    if (row_bytes == 0 || rows == 0 || slices == 0) return 0;
    std::uint64_t last_slice, last_row, sum;
    const bool overflows = __builtin_mul_overflow(slices - 1, slice_pitch, &last_slice) ||
                           __builtin_mul_overflow(rows - 1, pitch, &last_row) ||
                           __builtin_add_overflow(last_slice, last_row, &sum) ||
                           __builtin_add_overflow(sum, row_bytes, &sum);
    return overflows ? UINT64_MAX : sum;
  }
  std::uint64_t bytes() const noexcept {
    std::uint64_t product;
    const bool overflows = __builtin_mul_overflow(row_bytes, rows, &product) ||
                           __builtin_mul_overflow(product, slices, &product);
    return overflows ? UINT64_MAX : product;
  }
};

// Returns the fault of an access to the whole area, if any.
std::optional<memory::range_fault> check_area(const memory_area& area);
// Returns the failure of an operation whose area became invalid before it executed.
failure area_failure(std::string_view operation_name, const memory_area& area,
                     const memory::range_fault& problem, const stream& target, bool is_write);

class copy_memory final : public operation {
 public:
  // `snapshot` holds the bytes of a pageable source that was read at the call.
  copy_memory(const memory_area& to, const memory_area& from,
              std::unique_ptr<std::byte[]> snapshot = nullptr)
      : to_{to}, from_{from}, snapshot_{std::move(snapshot)} {}
  failure execute(stream& target) override;
  void describe(CUgraphNodeParams& params) const override;
  std::string title() const override { return "a copy"; }
  std::vector<byte_range> ranges() const override;

 private:
  memory_area to_, from_;
  std::string site_{call_site()};
  std::unique_ptr<std::byte[]> snapshot_;
};

class fill_memory final : public operation {
 public:
  fill_memory(const memory_area& target, std::uint32_t value, unsigned width)
      : target_{target}, value_{value}, width_{width} {}
  failure execute(stream& target) override;
  void describe(CUgraphNodeParams& params) const override;
  std::string title() const override { return "a memset"; }
  std::vector<byte_range> ranges() const override;

 private:
  memory_area target_;
  std::string site_{call_site()};
  std::uint32_t value_;
  unsigned width_;  // bytes of one element: 1, 2 or 4
};

// Frees memory in stream order.
class free_memory final : public operation {
 public:
  free_memory(const memory::allocation& allocation, std::shared_ptr<memory_pool> from,
              std::uint64_t stream_number, std::string site)
      : base_{allocation.base},
        sequence_{allocation.sequence},
        bytes_{allocation.size},
        from_{std::move(from)},
        stream_number_{stream_number},
        site_{std::move(site)} {}
  failure execute(stream& target) override;
  void drop() noexcept override;
  void finish() noexcept override;
  bool releases_memory() const noexcept override { return true; }
  std::string title() const override { return "cuMemFreeAsync"; }
  std::vector<byte_range> ranges() const override { return {{base_, bytes_, byte_use::release}}; }

 private:
  memory::address base_;
  std::uint64_t sequence_, bytes_;
  std::shared_ptr<memory_pool> from_;  // null: memory of cuMemAlloc
  std::uint64_t stream_number_;
  std::string site_;
};

// Copies between areas of equal shape; the caller has checked both.
void copy_area(const memory_area& to, const memory_area& from);

}  // namespace halfwarp::emulator
