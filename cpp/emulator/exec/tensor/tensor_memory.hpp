// SPDX-License-Identifier: Apache-2.0
// Tensor memory of a block: 128 lanes of 512 columns of 32 bits.
//
// A kernel allocates columns, and waits before others use what asynchronous instructions access.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

inline constexpr int tensor_lanes = 128, tensor_columns = 512;
inline constexpr int lanes_of_warp = 32;  // a warp accesses the lanes of its rank modulo 4

struct tensor_address {
  int lane = 0, column = 0;
  static tensor_address from(std::uint32_t word) {
    return {static_cast<int>(word >> 16), static_cast<int>(word & 0xffff)};
  }
};

// Lanes and columns that an instruction accesses.
struct tensor_range {
  int lane = 0, lanes = 0, column = 0, columns = 0;
  bool overlaps(const tensor_range& other) const {
    return lane < other.lane + other.lanes && other.lane < lane + lanes &&
           column < other.column + other.columns && other.column < column + columns;
  }
};

// A thread of a cluster: work of the tensor cores completes in its order.
struct tensor_issuer {
  std::uint32_t rank = 0, thread = 0;  // of the block, and within it
  bool operator==(const tensor_issuer&) const = default;
};

// The kinds of unfinished accesses, whose columns other instructions must not access.
enum class tensor_use : std::uint8_t { load = 1, store = 2, work = 4 };

class tensor_memory {
 public:
  explicit tensor_memory(std::uint32_t pattern) : words_(tensor_lanes * tensor_columns, pattern) {}

  std::uint32_t& at(int lane, int column) {
    return words_[static_cast<std::size_t>(lane * tensor_columns + column)];
  }

  // Returns the first column; none if no room is left.
  std::optional<int> allocate(int columns, const report::fault& place);
  bool release(int first, int columns);  // false: no such allocation
  int free_columns() const;
  // Returns the place of an instruction whose columns were not released; null: none.
  const report::fault* unreleased() const;
  bool may_allocate() const { return !is_relinquished_; }
  void relinquish() { is_relinquished_ = true; }

  // Returns the rule that an access would break; empty: none.
  std::string problem_of(const tensor_range& range, std::initializer_list<tensor_use> meets,
                         std::uint32_t warp) const;

  void start(const tensor_range& range, tensor_use use, std::uint32_t warp);
  void start_work(const tensor_range& range, tensor_issuer issuer, std::uint64_t serial);
  void finish(tensor_use use, std::uint32_t warp);
  void finish_work(tensor_issuer issuer, std::uint64_t serial);  // and earlier work

 private:
  struct allocation {
    int first, columns;
    report::fault place;
  };
  struct unfinished {
    tensor_range range;
    tensor_use use;
    std::uint32_t warp = 0;
    tensor_issuer issuer;
    std::uint64_t serial = 0;
  };
  bool is_allocated(int first, int columns) const;

  std::vector<std::uint32_t> words_;
  std::vector<allocation> allocations_;
  std::vector<unfinished> unfinished_;
  bool is_relinquished_ = false;
};

}  // namespace halfwarp::emulator::exec
