// SPDX-License-Identifier: Apache-2.0
// Operands of a bulk or tensor copy, which exceed the operands of an instruction.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/exec/async/bulk.hpp"
#include "emulator/exec/instruction.hpp"
#include "emulator/ptx/vocabulary/qualifier.hpp"

namespace halfwarp::emulator::exec {

enum class bulk_direction : std::uint8_t {
  global_to_shared,
  shared_to_cluster,  // of the own block, to shared::cluster
  shared_to_global,
  prefetch,  // the source is checked
};
enum class tensor_mode : std::uint8_t { none, tile, gather, scatter, im2col };

struct bulk_site {
  bulk_direction direction = bulk_direction::global_to_shared;
  tensor_mode mode = tensor_mode::none;                // none: a copy of a range
  element_operation reduce = nullptr;                  // of a range
  ptx::qualifier operation = ptx::qualifier::unknown;  // of a reduction into a tensor
  bool has_mask = false;                               // of blocks, or of the bytes in each 16
  bool is_for_cluster = false;                         // to all blocks of the cluster
  std::uint8_t rank = 0;                               // of a tensor
  std::uint8_t coordinate_count = 0, offset_count = 0;
  operand_slot from = 0, to = 0;  // offset in the shared window, or an address
  operand_slot bytes = 0;         // of a range
  operand_slot barrier = 0;       // offset in the shared window
  operand_slot mask = 0, map = 0;
  std::array<operand_slot, 5> coordinates{};
  std::array<operand_slot, 3> offsets{};
};

// The `target` of the instruction is the index of its site.
void run_bulk_copy(warp& w, const instruction& instr);
void run_tensor_copy(warp& w, const instruction& instr);
void run_commit_bulk(warp& w, const instruction& instr);
// The immediate is the number of groups that may be pending.
void run_wait_bulk(warp& w, const instruction& instr);

// st.bulk: stores zeros. Operands: -, bytes, -, -, offset in shared memory.
void run_clear_range(warp& w, const instruction& instr);

// Stores or reduces registers of 4 or 8 bytes in shared::cluster, and signals an mbarrier there.
// Operands: first three values, barrier, address; `target` the fourth. The flags are the count and
// the bytes of a value; the immediate is the reduction, or 0.
void run_async_store(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
