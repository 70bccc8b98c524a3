// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/register_plan.hpp"

#include <algorithm>
#include <map>

#include "emulator/exec/marks.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;
using ptx::operand_kind;

// Opcodes without a side effect whose result depends on their operands only.
constexpr opcode pure_opcodes[] = {
    opcode::abs,  opcode::add,  opcode::and_, opcode::bfe,  opcode::bfi,   opcode::bfind,
    opcode::bmsk, opcode::brev, opcode::clz,  opcode::cnot, opcode::cvt,   opcode::cvta,
    opcode::div,  opcode::lop3, opcode::mad,  opcode::max,  opcode::min,   opcode::mov,
    opcode::mul,  opcode::neg,  opcode::not_, opcode::or_,  opcode::popc,  opcode::prmt,
    opcode::rem,  opcode::sad,  opcode::selp, opcode::set,  opcode::setp,  opcode::shf,
    opcode::shl,  opcode::shr,  opcode::slct, opcode::sub,  opcode::szext, opcode::xor_,
};

// Special registers with one value per thread index in all blocks of a launch.
constexpr ptx::special_register fixed_registers[] = {
    ptx::special_register::laneid, ptx::special_register::nctaid, ptx::special_register::ntid,
    ptx::special_register::tid};

// Finds instructions whose results are the same in all blocks: each register that they read or
// write is written once in the function.
class fixed_finder {
 public:
  fixed_finder(const ptx::module& owner, const ptx::function& f, const register_uses& uses,
               bool parameters_in_frame)
      : owner_{owner},
        f_{f},
        uses_{uses},
        parameters_in_frame_{parameters_in_frame},
        is_fixed_register_(f.registers.size()) {}

  std::vector<bool> find() {
    std::vector<bool> result;
    if (!f_.is_entry) return std::vector<bool>(f_.instructions.size());
    for (const ptx::instruction& i : f_.instructions) {
      result.push_back(is_fixed(i));
      if (!result.back()) continue;
      for (std::uint32_t r : access_.writes) is_fixed_register_[r] = true;
    }
    return result;
  }

 private:
  bool is_fixed(const ptx::instruction& i) {
    const ptx::mnemonic& m = owner_.mnemonic_of(i);
    const bool is_parameter = loads_parameter(f_, i) && !parameters_in_frame_;
    if (!(is_parameter || is_pure(i.opcode)) || i.guard != ptx::no_index ||
        m.has(ptx::qualifier::cc))
      return false;
    if (mark_number(f_.operands_of(i).front().name)) return false;  // it counts executions
    ptx::find_register_access(owner_, f_, i, access_);
    return std::ranges::all_of(access_.writes, [&](auto r) { return uses_.writes[r] == 1; }) &&
           std::ranges::all_of(access_.reads, [&](auto r) { return is_fixed_register_[r]; }) &&
           std::ranges::all_of(f_.operands_of(i), [&](const auto& o) { return is_fixed(o); });
  }

  bool is_fixed(const ptx::operand& o) const {
    if (o.kind == operand_kind::special_register) {
      return is_fixed_register(o.special);
    }
    const bool has_elements = o.kind == operand_kind::vector || o.kind == operand_kind::pair;
    return !has_elements ||
           std::ranges::all_of(f_.elements_of(o), [&](const auto& e) { return is_fixed(e); });
  }

  const ptx::module& owner_;
  const ptx::function& f_;
  const register_uses& uses_;
  const bool parameters_in_frame_;
  ptx::register_access access_;
  std::vector<bool> is_fixed_register_;
};

// Assigns places to registers, one basic block after another.
class slot_sharer {
 public:
  slot_sharer(const ptx::module& owner, const ptx::function& f, const register_uses& uses,
              const std::vector<bool>& fixed, std::uint32_t& bytes)
      : owner_{owner},
        f_{f},
        uses_{uses},
        fixed_{fixed},
        bytes_{bytes},
        blocks_{ptx::find_blocks(f)},
        writers_(f.registers.size(), ptx::no_index),
        last_reads_(f.registers.size()),
        is_local_(f.registers.size(), true),
        slots_(f.registers.size(), -1) {}

  std::vector<std::int64_t> run() {
    for (std::uint32_t i = 0; i < f_.instructions.size(); ++i) note(i);
    for (std::uint32_t i = 0; i < f_.instructions.size(); ++i) assign(i);
    return slots_;
  }

 private:
  // Notes the writer of each register, and whether all reads follow it in its block.
  void note(std::uint32_t i) {
    ptx::find_register_access(owner_, f_, f_.instructions[i], access_);
    for (std::uint32_t r : access_.reads) {
      const std::uint32_t writer = writers_[r];
      const bool is_local =
          writer != ptx::no_index && blocks_.block_of[writer] == blocks_.block_of[i];
      if (!is_local) is_local_[r] = false;
      last_reads_[r] = i;
    }
    for (std::uint32_t r : access_.writes) {
      writers_[r] = i;
      last_reads_[r] = i;
      if (fixed_[i] || uses_.writes[r] != 1 || f_.instructions[i].guard != ptx::no_index) {
        is_local_[r] = false;
      }
    }
  }

  void assign(std::uint32_t i) {
    ptx::find_register_access(owner_, f_, f_.instructions[i], access_);
    for (std::uint32_t r : access_.writes) {
      const std::uint32_t bytes = bytes_of(r);
      if (!bytes || !is_local_[r]) continue;
      std::vector<std::int64_t>& free = free_[bytes];
      if (free.empty()) {
        free.push_back(bytes_);
        bytes_ += bytes;
      }
      slots_[r] = free.back();
      free.pop_back();
    }
    // A result never takes the place of an operand of its instruction.
    for (const auto* list : {&access_.reads, &access_.writes}) {
      for (std::uint32_t r : *list) {
        if (slots_[r] < 0 || last_reads_[r] != i || !is_local_[r]) continue;
        free_[bytes_of(r)].push_back(slots_[r]);
        is_local_[r] = false;  // its place is free from here on
      }
    }
  }

  // Returns 0 for a register that shares no place.
  std::uint32_t bytes_of(std::uint32_t r) const {
    const int bits = ptx::info(f_.registers[r].type).bits;
    const bool is_common = (bits == 32 || bits == 64) && f_.registers[r].vector_width == 1;
    return is_common ? static_cast<std::uint32_t>(bits) / 8 * warp_size : 0;
  }

  const ptx::module& owner_;
  const ptx::function& f_;
  const register_uses& uses_;
  const std::vector<bool>& fixed_;
  std::uint32_t& bytes_;
  const ptx::control_flow blocks_;
  ptx::register_access access_;
  std::vector<std::uint32_t> writers_, last_reads_;
  std::vector<bool> is_local_;  // written once, and read in the same block only
  std::vector<std::int64_t> slots_;
  std::map<std::uint32_t, std::vector<std::int64_t>> free_;  // by size
};

}  // namespace

register_uses::register_uses(const ptx::module& owner, const ptx::function& f)
    : writes(f.registers.size()),
      reads(f.registers.size()),
      writer(f.registers.size(), ptx::no_index) {
  ptx::register_access access;
  for (std::uint32_t i = 0; i < f.instructions.size(); ++i) {
    ptx::find_register_access(owner, f, f.instructions[i], access);
    for (std::uint32_t r : access.writes) {
      ++writes[r];
      writer[r] = i;
    }
    for (std::uint32_t r : access.reads) ++reads[r];
  }
}

bool is_pure(opcode name) { return std::ranges::count(pure_opcodes, name) != 0; }

bool is_fixed_register(ptx::special_register name) {
  return std::ranges::count(fixed_registers, name) != 0;
}

bool loads_parameter(const ptx::function& f, const ptx::instruction& i) {
  return i.opcode == opcode::ld && std::ranges::any_of(f.operands_of(i), [](const auto& o) {
           return o.kind == operand_kind::address && o.base == ptx::address_base::symbol &&
                  o.symbol == ptx::symbol_kind::parameter;
         });
}

std::vector<bool> find_fixed(const ptx::module& owner, const ptx::function& f,
                             const register_uses& uses, bool parameters_in_frame) {
  return fixed_finder{owner, f, uses, parameters_in_frame}.find();
}

std::vector<std::int64_t> share_slots(const ptx::module& owner, const ptx::function& f,
                                      const register_uses& uses, const std::vector<bool>& fixed,
                                      std::uint32_t& bytes) {
  // Asynchronous matrix instructions may use registers after the instruction.
  const bool is_late = std::ranges::any_of(f.instructions, [](const auto& i) {
    return i.opcode == opcode::wgmma || i.opcode == opcode::tcgen05;
  });
  if (!f.is_entry || is_late) return std::vector<std::int64_t>(f.registers.size(), -1);
  return slot_sharer{owner, f, uses, fixed, bytes}.run();
}

}  // namespace halfwarp::emulator::exec
