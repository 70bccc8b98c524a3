// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/block_roles.hpp"

#include <algorithm>

#include "emulator/exec/decode/register_plan.hpp"
#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/marks.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;
using ptx::operand_kind;

// Opcodes whose result depends on their operands only, besides `is_pure`.
constexpr opcode more_computing[] = {
    opcode::copysign, opcode::cos, opcode::dp2a,  opcode::dp4a,  opcode::ex2,
    opcode::fma,      opcode::lg2, opcode::mad24, opcode::mul24, opcode::rcp,
    opcode::rsqrt,    opcode::sin, opcode::sqrt,  opcode::tanh,  opcode::testp,
};
// Other opcodes that a transcript may contain.
constexpr opcode more_recorded[] = {
    opcode::atom, opcode::bar,  opcode::barrier, opcode::bra,    opcode::exit, opcode::fence,
    opcode::ld,   opcode::ldu,  opcode::match,   opcode::membar, opcode::red,  opcode::redux,
    opcode::ret,  opcode::shfl, opcode::st,      opcode::tex,    opcode::vote,
};

// On what a value depends, besides the launch and the index of the thread in its block.
enum class dependence : std::uint8_t { thread, block, memory };

class role_finder {
 public:
  role_finder(const ptx::module& owner, const ptx::function& f, bool parameters_in_frame)
      : owner_{owner},
        f_{f},
        parameters_in_frame_{parameters_in_frame},
        of_register_(f.registers.size()) {}

  std::vector<std::uint8_t> find() {
    std::vector<std::uint8_t> roles;
    if (!f_.is_entry || !std::ranges::all_of(f_.instructions, [&](auto& i) { return fits(i); })) {
      return roles;
    }
    while (spread()) {
    }
    for (const ptx::instruction& i : f_.instructions) {
      const dependence guard =
          i.guard == ptx::no_index ? dependence::thread : of_register_[i.guard];
      if (guard == dependence::memory) return {};
      roles.push_back(role_of(i, guard));
    }
    return roles;
  }

 private:
  bool computes(const ptx::instruction& i) const {
    const bool is_parameter = !parameters_in_frame_ && loads_parameter(f_, i);
    return is_parameter || is_pure(i.opcode) || std::ranges::count(more_computing, i.opcode);
  }

  bool fits(const ptx::instruction& i) const {
    const auto operands = f_.operands_of(i);
    const bool is_known = computes(i) || std::ranges::count(more_recorded, i.opcode);
    if (!is_known || owner_.mnemonic_of(i).has(ptx::qualifier::cc)) return false;
    if (!operands.empty() && mark_number(operands.front().name)) return false;
    return std::ranges::all_of(operands, [&](const auto& o) { return fits(o); });
  }

  bool fits(const ptx::operand& o) const {
    using special = ptx::special_register;
    if (o.base == ptx::address_base::special_register) return false;
    if (o.kind == operand_kind::special_register) {
      return o.special == special::ctaid || is_fixed_register(o.special);
    }
    return std::ranges::all_of(elements(o), [&](const auto& e) { return fits(e); });
  }

  std::span<const ptx::operand> elements(const ptx::operand& o) const {
    const bool has_elements = o.kind == operand_kind::vector || o.kind == operand_kind::pair ||
                              o.kind == operand_kind::address_group;
    return has_elements ? f_.elements_of(o) : std::span<const ptx::operand>{};
  }

  bool reads_block(const ptx::operand& o) const {
    return (o.kind == operand_kind::special_register && !is_fixed_register(o.special)) ||
           std::ranges::any_of(elements(o), [&](const auto& e) { return reads_block(e); });
  }

  // Derives what results depend on once. Returns whether a register changed.
  bool spread() {
    bool has_changed = false;
    for (const ptx::instruction& i : f_.instructions) {
      ptx::find_register_access(owner_, f_, i, access_);
      dependence result = computes(i) ? dependence::thread : dependence::memory;
      for (const ptx::operand& o : f_.operands_of(i)) {
        if (reads_block(o)) result = std::max(result, dependence::block);
      }
      for (const std::uint32_t r : access_.reads) result = std::max(result, of_register_[r]);
      for (const std::uint32_t r : access_.writes) {
        if (of_register_[r] >= result) continue;
        of_register_[r] = result;
        has_changed = true;
      }
    }
    return has_changed;
  }

  std::uint8_t role_of(const ptx::instruction& i, dependence guard) const {
    unsigned role = computes(i) ? block_role::computes : 0u;
    const bool is_access = i.opcode == opcode::ld || i.opcode == opcode::st;
    const bool is_steady =
        is_access && std::ranges::all_of(f_.operands_of(i), [&](const ptx::operand& o) {
          const bool has_register =
              o.kind == operand_kind::address && o.base == ptx::address_base::register_;
          return !has_register || of_register_[o.index] == dependence::thread;
        });
    if (is_steady) role |= block_role::is_steady;
    if (guard == dependence::block) role |= block_role::is_checked;
    return static_cast<std::uint8_t>(role);
  }

  const ptx::module& owner_;
  const ptx::function& f_;
  const bool parameters_in_frame_;
  std::vector<dependence> of_register_;
  ptx::register_access access_;
};

}  // namespace

std::vector<std::uint8_t> find_block_roles(const ptx::module& owner, const ptx::function& f,
                                           bool parameters_in_frame) {
  return role_finder{owner, f, parameters_in_frame}.find();
}

code_effects::code_effects()
    : handlers{find_handler("ld.shared32.u32.b32"),
               find_handler("st.shared32.u32.b32"),
               find_handler("known.ld"),
               find_handler("known.ld.equal"),
               find_handler("known.st"),
               find_handler("fma.f32"),
               find_handler("known.fma"),
               find_handler("add.b32"),
               find_handler("known.add")} {}

void code_effects::find(const ptx::module& owner, const function_code& function) {
  std::call_once(is_complete_, [&] {
    const ptx::function& source = *function.source;
    std::vector<bool> is_next;
    shaped_ = unfused(function, is_next);
    effects_.resize(source.instructions.size());
    for (std::size_t n = 0; n < effects_.size(); ++n) {
      const ptx::instruction& i = source.instructions[n];
      effect& each = effects_[n];
      ptx::find_register_access(owner, source, i, each.registers);
      if (i.guard != ptx::no_index) each.registers.reads.erase(each.registers.reads.begin());
      const auto space = ptx::without_sub_space(owner.mnemonic_of(i).space());
      each.is_shared = space == ptx::state_space::shared;
      for (const ptx::operand& o : source.operands_of(i)) {
        each.writes_all &= o.component == ptx::component::none;
      }
      for (const std::uint32_t r : each.registers.writes) {
        each.writes_all &= source.registers[r].vector_width == 1;
      }
    }
  });
}

}  // namespace halfwarp::emulator::exec
