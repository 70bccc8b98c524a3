// SPDX-License-Identifier: Apache-2.0
// Allocation of tensor memory, loads and stores of a warp, and their waits.
#include <bit>
#include <cstring>
#include <initializer_list>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/scalar/float_reduction.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/tensor/tensor_instructions.hpp"
#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr int least_columns = 32;

void require_count(warp& w, const instruction& instr, std::uint32_t columns) {
  if (std::has_single_bit(columns) && columns >= least_columns && columns <= tensor_columns) return;
  raise_tensor_fault(w, instr, 0, "the number of columns is " + std::to_string(columns),
                     "allocate 32, 64, 128, 256 or 512 columns");
}

tensor_memory& created_tensors(block_state& block) {
  if (!block.tensors) {
    const std::uint64_t seed = block.launch->options.seed;
    block.tensors =
        std::make_unique<tensor_memory>(memory::fresh_pattern(seed, 2 * block.number + 1));
  }
  return *block.tensors;
}

// The word of tensor memory that a register of a lane holds, relative to the address.
tensor_address place_of(const tensor_site& site, int lane, int n) {
  const int group = lane >> 2, t = lane & 3;
  switch (site.shape) {
    case tensor_shape::x32x32b:
      return {lane, n};
    case tensor_shape::x16x64b:
      return {group + 8 * (t & 1), 2 * n + (t >> 1)};
    case tensor_shape::x16x128b:
      return {group + 8 * (n & 1), 4 * (n >> 1) + t};
    case tensor_shape::x16x256b:
      return {group + 8 * (n >> 1 & 1), 8 * (n >> 2) + 2 * t + (n & 1)};
    case tensor_shape::x16x32bx2:
      return {lane & 15, n};
  }
  return {};
}

int lanes_of(const tensor_site& site) { return site.shape == tensor_shape::x32x32b ? 32 : 16; }

// Returns the columns of an access. The second half of a shape has as many.
int columns_of(const tensor_site& site) {
  const auto count = static_cast<int>(site.registers.size());
  const bool is_wide = site.shape != tensor_shape::x32x32b && site.shape != tensor_shape::x16x32bx2;
  return count * (is_wide ? 2 : 1) * (site.is_packed ? 2 : 1);
}

// Returns the address that all lanes give.
std::uint32_t uniform_address(warp& w, const instruction& instr, operand_slot slot) {
  const auto* words = w.at<std::uint32_t>(slot);
  const std::uint32_t first = words[std::countr_zero(w.active)];
  for_each_lane(w.active, [&](int lane) {
    if (words[lane] == first) return;
    raise_tensor_fault(w, instr, lane, "the lanes of the warp give different addresses",
                       "pass one address to all lanes of a warp");
  });
  return first;
}

tensor_address checked_address(warp& w, const instruction& instr, tensor_use use) {
  const tensor_site& site = tensor_of(w, instr);
  const auto at = tensor_address::from(uniform_address(w, instr, site.address));
  const int first = lanes_of_warp * static_cast<int>(w.index % 4);
  if (at.lane < first || at.lane + lanes_of(site) > first + lanes_of_warp) {
    raise_tensor_fault(
        w, instr, std::countr_zero(w.active),
        "lanes " + std::to_string(at.lane) + " to " + std::to_string(at.lane + lanes_of(site) - 1) +
            " by warp " + std::to_string(w.index) + ", which accesses lanes " +
            std::to_string(first) + " to " + std::to_string(first + 31),
        "add 32 times the rank of the warp modulo 4 to bits 16 to 31 of the address");
  }
  tensor_range range{at.lane, lanes_of(site), at.column, columns_of(site)};
  for (int half = 0; half < (site.shape == tensor_shape::x16x32bx2 ? 2 : 1); ++half) {
    const tensor_use other = use == tensor_use::load ? tensor_use::store : tensor_use::load;
    require_range(w, instr, std::countr_zero(w.active), *w.block, range, {other, tensor_use::work},
                  w.index);
    w.block->tensors->start(range, use, w.index);
    range.column += site.distance;
  }
  return at;
}

// Visits each register of the active lanes, and the first word that it holds.
template <class Visit>
void for_each_register(warp& w, const tensor_site& site, tensor_address at, Visit&& visit) {
  for (std::size_t n = 0; n < site.registers.size(); ++n) {
    auto* const values = w.at<std::uint32_t>(site.registers[n]);
    for_each_lane(w.active, [&](int lane) {
      const tensor_address place = place_of(site, lane, static_cast<int>(n));
      const int first = lane < 16 ? at.column : at.column + site.distance;
      visit(values[lane], {at.lane + place.lane, first + place.column * (site.is_packed ? 2 : 1)});
    });
  }
}

// Writes the minimum or maximum of the registers of each lane.
void reduce_registers(warp& w, const tensor_site& site) {
  const bool is_float = site.reduced == ptx::scalar_type::f32;
  const std::uint32_t flip = site.reduced == ptx::scalar_type::s32 ? 0x8000'0000 : 0;
  auto* const to = w.at<std::uint32_t>(site.reduction);
  for_each_lane(w.active, [&](int lane) {
    float_reduction floats{site.is_highest, site.is_absolute, site.keeps_nan};
    std::uint32_t extreme = site.is_highest ? 0 : ~0u;
    for (operand_slot slot : site.registers) {
      const std::uint32_t value = w.at<std::uint32_t>(slot)[lane];
      if (is_float) floats.add(value);
      const std::uint32_t key = value ^ flip;
      extreme = (key > extreme) == site.is_highest ? key : extreme;
    }
    to[lane] = is_float ? floats.result() : extreme ^ flip;
  });
}

[[noreturn]] void raise_early_reader(warp& w, const instruction& instr, std::uint32_t reader) {
  const ptx::function& source = *w.function->source;
  raise_tensor_fault(w, instr, std::countr_zero(w.active),
                     "PTX line " + std::to_string(source.instructions[reader].line) +
                         " reads a result before tcgen05.wait::ld",
                     "execute tcgen05.wait::ld.sync.aligned before the registers are used");
}

}  // namespace

const tensor_site& tensor_of(const warp& w, const instruction& instr) noexcept {
  return w.function->tensors[instr.target];
}

void raise_tensor_fault(warp& w, const instruction& instr, int lane, std::string detail,
                        std::string hint) {
  report::fault f = describe_fault(w, instr, lane);
  f.kind = report::fault_kind::tensor_memory;
  f.detail = std::move(detail);
  f.hint = std::move(hint);
  throw kernel_fault{f};
}

tensor_memory& tensors_of(warp& w, const instruction& instr, int lane, block_state& block) {
  if (block.tensors) return *block.tensors;
  raise_tensor_fault(w, instr, lane, "the block has allocated no tensor memory",
                     "execute tcgen05.alloc first, by one warp");
}

void require_range(warp& w, const instruction& instr, int lane, block_state& block,
                   const tensor_range& range, std::initializer_list<tensor_use> meets,
                   std::uint32_t own) {
  std::string problem = tensors_of(w, instr, lane, block).problem_of(range, meets, own);
  if (problem.empty()) return;
  raise_tensor_fault(w, instr, lane, std::move(problem),
                     "allocate with tcgen05.alloc; wait with tcgen05.wait, or with tcgen05.commit "
                     "and its mbarrier");
}

void require_released_tensors(const block_state& block) {
  const report::fault* const place = block.tensors ? block.tensors->unreleased() : nullptr;
  if (!place) return;
  report::fault f = *place;
  f.kind = report::fault_kind::tensor_memory;
  f.detail = "the block ended without tcgen05.dealloc of these columns";
  f.hint = "release all columns before the block ends";
  throw kernel_fault{f};
}

void run_allocate_tensor(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  if (!(w.active & 1)) return;
  const std::uint32_t columns = w.at<std::uint32_t>(instr.operand[1])[0];
  require_count(w, instr, columns);
  tensor_memory& memory = created_tensors(*w.block);
  if (!memory.may_allocate()) {
    raise_tensor_fault(w, instr, 0, "an allocation after tcgen05.relinquish_alloc_permit",
                       "allocate before the block gives up its permission");
  }
  const std::uint64_t offset = w.at<std::uint64_t>(instr.operand[0])[0];
  std::byte* const cell = offset % 4 ? nullptr : shared_bytes_at(w, offset, 4);
  if (!cell) {
    raise_tensor_fault(w, instr, 0, "the address is not stored in aligned shared memory",
                       "pass the address of a 32-bit word in shared memory");
  }
  const auto first = memory.allocate(static_cast<int>(columns), describe_fault(w, instr, 0));
  if (!first) {
    raise_tensor_fault(w, instr, 0,
                       std::to_string(columns) + " columns do not fit: " +
                           std::to_string(memory.free_columns()) + " of 512 are free",
                       "release columns first: the emulator does not wait for another warp");
  }
  const auto address = static_cast<std::uint32_t>(*first);
  std::memcpy(cell, &address, sizeof address);
}

void run_release_tensor(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  if (!(w.active & 1)) return;
  const auto at = tensor_address::from(w.at<std::uint32_t>(instr.operand[0])[0]);
  const std::uint32_t columns = w.at<std::uint32_t>(instr.operand[1])[0];
  require_count(w, instr, columns);
  const auto count = static_cast<int>(columns);
  require_range(w, instr, 0, *w.block, {0, tensor_lanes, at.column, count},
                {tensor_use::load, tensor_use::store, tensor_use::work});
  if (at.lane == 0 && w.block->tensors->release(at.column, count)) return;
  raise_tensor_fault(w, instr, 0,
                     "no allocation of " + std::to_string(columns) + " columns begins at " +
                         report::hexadecimal(w.at<std::uint32_t>(instr.operand[0])[0]),
                     "pass the address and the number of columns of one tcgen05.alloc");
}

void run_relinquish_tensor(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  created_tensors(*w.block).relinquish();
}

void run_load_tensor(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  const tensor_site& site = tensor_of(w, instr);
  if (site.early_reader != ptx::no_index) raise_early_reader(w, instr, site.early_reader);
  const tensor_address at = checked_address(w, instr, tensor_use::load);
  tensor_memory& memory = *w.block->tensors;
  for_each_register(w, site, at, [&](std::uint32_t& value, tensor_address place) {
    value = memory.at(place.lane, place.column);
    if (site.is_packed) value = (value & 0xffff) | memory.at(place.lane, place.column + 1) << 16;
  });
  if (site.reduced != ptx::scalar_type::none) reduce_registers(w, site);
}

void run_store_tensor(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  const tensor_site& site = tensor_of(w, instr);
  const tensor_address at = checked_address(w, instr, tensor_use::store);
  tensor_memory& memory = *w.block->tensors;
  for_each_register(w, site, at, [&](std::uint32_t value, tensor_address place) {
    memory.at(place.lane, place.column) = site.is_packed ? value & 0xffff : value;
    if (site.is_packed) memory.at(place.lane, place.column + 1) = value >> 16;
  });
}

void run_wait_tensor(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  if (w.block->tensors) w.block->tensors->finish(static_cast<tensor_use>(instr.flags), w.index);
}

}  // namespace halfwarp::emulator::exec
