// SPDX-License-Identifier: Apache-2.0
// Finds the registers that an instruction reads and writes.
#include <algorithm>
#include <array>

#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::ptx {
namespace {

// Instructions whose first operand is not a result.
constexpr std::array without_result = {
    opcode::applypriority, opcode::bra,        opcode::brkpt,
    opcode::brx,           opcode::cp,         opcode::discard,
    opcode::exit,          opcode::fence,      opcode::griddepcontrol,
    opcode::membar,        opcode::nanosleep,  opcode::pmevent,
    opcode::prefetch,      opcode::prefetchu,  opcode::red,
    opcode::ret,           opcode::setmaxnreg, opcode::st,
    opcode::stackrestore,  opcode::stmatrix,   opcode::sured,
    opcode::sust,          opcode::tensormap,  opcode::trap,
};
static_assert(std::ranges::is_sorted(without_result));

// An instruction that has a result only with a certain qualifier.
struct qualified_opcode {
  opcode op;
  qualifier with;
};
constexpr std::array results_with = {
    qualified_opcode{opcode::bar, qualifier::red},
    qualified_opcode{opcode::barrier, qualifier::red},
    qualified_opcode{opcode::clusterlaunchcontrol, qualifier::query_cancel},
    qualified_opcode{opcode::multimem, qualifier::ld_reduce},
    qualified_opcode{opcode::tcgen05, qualifier::ld},
};

bool has_result(const mnemonic& word, const operand& first) noexcept {
  if (first.kind == operand_kind::address || first.kind == operand_kind::address_group) {
    return false;  // stores, and mbarrier forms without a state
  }
  for (const qualified_opcode& s : results_with) {
    if (s.op == word.opcode) return word.has(s.with);
  }
  if (word.opcode == opcode::call) return first.kind == operand_kind::list;
  return !std::ranges::binary_search(without_result, word.opcode);
}

class collector {
 public:
  collector(const function& f, register_access& out) : f_{f}, out_{out} {}

  void read(const operand& o) {
    if (has_register(o)) return out_.reads.push_back(o.index);
    if (has_elements(o)) {
      for (const operand& e : f_.elements_of(o)) read(e);
    }
  }

  void write(const operand& o) {
    if (o.kind == operand_kind::register_) return out_.writes.push_back(o.index);
    if (has_elements(o)) {
      for (const operand& e : f_.elements_of(o)) write(e);
    }
  }

 private:
  static bool has_register(const operand& o) noexcept {
    return o.kind == operand_kind::register_ ||
           (o.kind == operand_kind::address && o.base == address_base::register_);
  }
  static bool has_elements(const operand& o) noexcept {
    return o.kind == operand_kind::vector || o.kind == operand_kind::pair ||
           o.kind == operand_kind::list || o.kind == operand_kind::address_group;
  }

  const function& f_;
  register_access& out_;
};

}  // namespace

void find_register_access(const module& owner, const function& f, const instruction& i,
                          register_access& access) {
  access.reads.clear();
  access.writes.clear();
  if (i.guard != no_index) access.reads.push_back(i.guard);
  const auto operands = f.operands_of(i);
  if (operands.empty()) return;
  collector c{f, access};
  const mnemonic& word = owner.mnemonic_of(i);
  const bool first_is_written = has_result(word, operands.front());
  if (first_is_written) c.write(operands.front());
  // The accumulator matrix of wgmma is also an input.
  if (!first_is_written || word.opcode == opcode::wgmma) c.read(operands.front());
  const bool has_two_results = word.opcode == opcode::tcgen05 && word.has(qualifier::red);
  if (has_two_results) c.write(operands[1]);
  for (const operand& o : operands.subspan(has_two_results ? 2 : 1)) c.read(o);
}

}  // namespace halfwarp::emulator::ptx
