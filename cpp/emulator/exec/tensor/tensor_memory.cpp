// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/tensor/tensor_memory.hpp"

#include <algorithm>
#include <bitset>

namespace halfwarp::emulator::exec {
namespace {

constexpr int unit = 32;  // columns, of allocations
using unit_set = std::bitset<tensor_columns / unit>;

const char* rule_of(tensor_use use) {
  switch (use) {
    case tensor_use::load:
      return "are read by a tcgen05.ld of a warp that has not executed tcgen05.wait::ld";
    case tensor_use::store:
      return "are written by a tcgen05.st of a warp that has not executed tcgen05.wait::st";
    case tensor_use::work:
      break;
  }
  return "are accessed by a tcgen05.mma, cp or shift, and no thread has waited for an mbarrier of "
         "a later tcgen05.commit of its thread";
}

std::string columns_text(int first, int count) {
  return "columns " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

}  // namespace

std::optional<int> tensor_memory::allocate(int columns, const report::fault& place) {
  for (int first = 0; first + columns <= tensor_columns; first += unit) {
    const bool is_free = std::ranges::none_of(allocations_, [&](const allocation& each) {
      return each.first < first + columns && first < each.first + each.columns;
    });
    if (!is_free) continue;
    allocations_.push_back({first, columns, place});
    return first;
  }
  return std::nullopt;
}

bool tensor_memory::release(int first, int columns) {
  return std::erase_if(allocations_, [&](const allocation& each) {
    return each.first == first && each.columns == columns;
  });
}

int tensor_memory::free_columns() const {
  int count = tensor_columns;
  for (const allocation& each : allocations_) count -= each.columns;
  return count;
}

const report::fault* tensor_memory::unreleased() const {
  return allocations_.empty() ? nullptr : &allocations_.front().place;
}

bool tensor_memory::is_allocated(int first, int columns) const {
  unit_set units;
  for (const allocation& each : allocations_) {
    for (int n = each.first; n < each.first + each.columns; n += unit) {
      units.set(static_cast<std::size_t>(n / unit));
    }
  }
  for (int n = first / unit; n <= (first + columns - 1) / unit; ++n) {
    if (!units[static_cast<std::size_t>(n)]) return false;
  }
  return true;
}

std::string tensor_memory::problem_of(const tensor_range& range,
                                      std::initializer_list<tensor_use> meets,
                                      std::uint32_t warp) const {
  const std::string columns = columns_text(range.column, range.columns);
  if (range.lane + range.lanes > tensor_lanes || range.column + range.columns > tensor_columns) {
    return "lanes " + std::to_string(range.lane) + " to " +
           std::to_string(range.lane + range.lanes - 1) + " and " + columns +
           " exceed the 128 lanes and 512 columns of tensor memory";
  }
  if (!is_allocated(range.column, range.columns)) return columns + " are not allocated";
  for (const unfinished& each : unfinished_) {
    const bool is_met = std::ranges::find(meets, each.use) != meets.end();
    const bool is_own = each.use != tensor_use::work && each.warp == warp;
    if (!is_met || is_own || !each.range.overlaps(range)) continue;
    return columns + " " + rule_of(each.use);
  }
  return {};
}

void tensor_memory::start(const tensor_range& range, tensor_use use, std::uint32_t warp) {
  unfinished_.push_back({range, use, warp, {}, 0});
}

void tensor_memory::start_work(const tensor_range& range, tensor_issuer issuer,
                               std::uint64_t serial) {
  for (unfinished& each : unfinished_) {
    const bool is_same = each.use == tensor_use::work && each.issuer == issuer &&
                         each.range.lane == range.lane && each.range.lanes == range.lanes &&
                         each.range.column == range.column && each.range.columns == range.columns;
    if (!is_same) continue;
    each.serial = serial;
    return;
  }
  unfinished_.push_back({range, tensor_use::work, 0, issuer, serial});
}

void tensor_memory::finish(tensor_use use, std::uint32_t warp) {
  std::erase_if(unfinished_,
                [&](const unfinished& each) { return each.use == use && each.warp == warp; });
}

void tensor_memory::finish_work(tensor_issuer issuer, std::uint64_t serial) {
  std::erase_if(unfinished_, [&](const unfinished& each) {
    return each.use == tensor_use::work && each.issuer == issuer && each.serial <= serial;
  });
}

}  // namespace halfwarp::emulator::exec
