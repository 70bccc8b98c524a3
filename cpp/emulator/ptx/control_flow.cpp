// SPDX-License-Identifier: Apache-2.0
// Finds basic blocks and called functions.
#include <algorithm>

#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::ptx {
namespace {

bool ends_block(opcode op) noexcept {
  return op == opcode::bra || op == opcode::brx || op == opcode::ret || op == opcode::exit ||
         op == opcode::trap;
}

std::vector<bool> find_leaders(const function& f) {
  const std::size_t count = f.instructions.size();
  std::vector<bool> is_leader(count + 1, false);
  is_leader[0] = true;
  for (const label& l : f.labels) {
    if (l.is_referenced) is_leader[l.instruction] = true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (ends_block(f.instructions[i].opcode)) is_leader[i + 1] = true;
  }
  return is_leader;
}

class successor_finder {
 public:
  successor_finder(const function& f, const control_flow& flow) : f_{f}, flow_{flow} {}

  std::vector<std::uint32_t> of(std::uint32_t block) {
    successors_.clear();
    const instruction& last = f_.instructions[flow_.blocks[block].end - 1];
    const bool falls_through = last.guard != no_index || !ends_block(last.opcode);
    if (falls_through && block + 1 < flow_.blocks.size()) successors_.push_back(block + 1);
    if (last.opcode == opcode::bra || last.opcode == opcode::brx) {
      for (const operand& o : f_.operands_of(last)) add(o);
    }
    std::ranges::sort(successors_);
    successors_.erase(std::ranges::unique(successors_).begin(), successors_.end());
    return successors_;
  }

 private:
  void add(const operand& o) {
    if (o.kind != operand_kind::symbol) return;
    if (o.symbol == symbol_kind::label) return add_label(o.index);
    if (o.symbol != symbol_kind::target_list || f_.target_lists[o.index].is_call) return;
    for (const std::uint32_t l : f_.target_lists[o.index].indices) {
      if (l != no_index) add_label(l);
    }
  }

  void add_label(std::uint32_t l) {
    const std::uint32_t target = f_.labels[l].instruction;
    if (target < flow_.block_of.size()) successors_.push_back(flow_.block_of[target]);
  }

  const function& f_;
  const control_flow& flow_;
  std::vector<std::uint32_t> successors_;
};

}  // namespace

control_flow find_blocks(const function& f) {
  control_flow flow;
  const auto count = static_cast<std::uint32_t>(f.instructions.size());
  const std::vector<bool> is_leader = find_leaders(f);
  flow.block_of.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (is_leader[i]) flow.blocks.push_back({i, i, {}});
    flow.blocks.back().end = i + 1;
    flow.block_of[i] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
  }
  successor_finder successors{f, flow};
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    flow.blocks[b].successors = successors.of(b);
  }
  return flow;
}

std::vector<std::uint32_t> called_functions(const function& f) {
  std::vector<std::uint32_t> result;
  for (const operand& o : f.operands) {
    if (o.kind == operand_kind::symbol && o.symbol == symbol_kind::function) {
      result.push_back(o.index);
    }
  }
  for (const target_list& list : f.target_lists) {
    if (!list.is_call) continue;
    std::ranges::copy_if(list.indices, std::back_inserter(result),
                         [](std::uint32_t index) { return index != no_index; });
  }
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

}  // namespace halfwarp::emulator::ptx
