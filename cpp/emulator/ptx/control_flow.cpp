// SPDX-License-Identifier: Apache-2.0
// Basic blocks and the call graph.
#include <algorithm>

#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::ptx {
namespace {

bool leaves_straight_line(opcode op) noexcept {
  return op == opcode::bra || op == opcode::brx || op == opcode::ret || op == opcode::exit ||
         op == opcode::trap;
}

std::vector<bool> find_leaders(const function& f) {
  const std::size_t count = f.instructions.size();
  std::vector<bool> leads(count + 1, false);
  leads[0] = true;
  for (const label& l : f.labels) {
    if (l.is_referenced) leads[l.instruction] = true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (leaves_straight_line(f.instructions[i].opcode)) leads[i + 1] = true;
  }
  return leads;
}

class successor_finder {
 public:
  successor_finder(const function& f, const control_flow& flow) : f_{f}, flow_{flow} {}

  std::vector<std::uint32_t> of(std::uint32_t block) {
    found_.clear();
    const instruction& last = f_.instructions[flow_.blocks[block].end - 1];
    const bool falls_through = last.guard != no_index || !leaves_straight_line(last.opcode);
    if (falls_through && block + 1 < flow_.blocks.size()) found_.push_back(block + 1);
    if (last.opcode == opcode::bra || last.opcode == opcode::brx) {
      for (const operand& o : f_.operands_of(last)) add(o);
    }
    std::ranges::sort(found_);
    found_.erase(std::ranges::unique(found_).begin(), found_.end());
    return found_;
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
    if (target < flow_.block_of.size()) found_.push_back(flow_.block_of[target]);
  }

  const function& f_;
  const control_flow& flow_;
  std::vector<std::uint32_t> found_;
};

}  // namespace

control_flow find_blocks(const function& f) {
  control_flow flow;
  const auto count = static_cast<std::uint32_t>(f.instructions.size());
  const std::vector<bool> leads = find_leaders(f);
  flow.block_of.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leads[i]) flow.blocks.push_back({i, i, {}});
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
  std::vector<std::uint32_t> found;
  for (const operand& o : f.operands) {
    if (o.kind == operand_kind::symbol && o.symbol == symbol_kind::function) {
      found.push_back(o.index);
    }
  }
  for (const target_list& list : f.target_lists) {
    if (!list.is_call) continue;
    std::ranges::copy_if(list.indices, std::back_inserter(found),
                         [](std::uint32_t index) { return index != no_index; });
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace halfwarp::emulator::ptx
