// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/tuning.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

// A load or store whose addresses can be checked for several instructions at once.
struct shaped_access {
  handler plain, first, next;
  std::uint32_t bytes, count = 1;  // of each lane, and elements
};

constexpr std::size_t shaped_count = 12, first_shared = 8;

std::array<shaped_access, shaped_count> shaped_accesses() {
  std::array<shaped_access, shaped_count> list;
  auto* at = list.data();
  for (const char* space : {"global", "shared32"}) {
    for (const char* operation : {"ld", "st"}) {
      for (const std::uint32_t bytes : {4u, 8u}) {
        const std::string bits = std::to_string(8 * bytes);
        const std::string name = std::string{operation} + "." + space + ".u" + bits + ".b" + bits;
        *at++ = {find_handler(name), find_handler(name + ".first"), find_handler(name + ".next"),
                 bytes};
      }
      for (const std::uint32_t count : {2u, 4u}) {
        if (at >= list.data() + first_shared) continue;
        const std::string plain = std::string{operation} + ".global.u32.b32";
        const std::string name = plain + ".v" + std::to_string(count);
        *at++ = {find_handler(plain), find_handler(name + ".first"), find_handler(name + ".next"),
                 4 * count, count};
      }
    }
  }
  return list;
}

// Instructions of a basic block that access memory at the same registers.
struct address_group {
  operand_slot address;
  bool is_global;
  std::uint16_t flags;
  std::uint32_t bytes;
  std::uint8_t shape;
  std::vector<std::uint32_t> members;  // decoded instructions
};

// The bytes of a register in a frame.
struct place {
  std::int64_t slot;
  std::uint32_t r;
};

bool has_guard(const instruction& instr) { return instr.guard != no_predicate; }

// Groups with equal keys share a lasting shape.
using lasting_key = std::array<std::int64_t, 6>;

class tuner {
 public:
  tuner(const ptx::module& owner, const register_uses& uses, const std::vector<bool>& fixed,
        std::span<const std::uint32_t> first_of, std::span<const std::int64_t> register_slots,
        function_code& function)
      : owner_{owner},
        first_of_{first_of},
        register_slots_{register_slots},
        function_{function},
        code_{function.tuned},
        uses_{uses},
        is_fixed_(function.code.size()) {
    code_ = function.code;
    const auto& registers = function.source->registers;
    for (std::uint32_t r = 0; r < registers.size(); ++r) {
      const bool is_predicate = registers[r].type == ptx::scalar_type::pred;
      if (!is_predicate) places_.push_back({register_slots[r], r});  // the others are numbers
    }
    std::ranges::sort(places_, {}, &place::slot);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      for (std::uint32_t at = first_of[i]; fixed[i] && at < first_of[i + 1]; ++at) {
        is_fixed_[at] = true;
      }
    }
  }

  void run() {
    find_repeated_blocks();
    group_accesses();
    move_fixed();
    for (instruction& instr : code_) instr.is_plain = !instr.needs_attention && !has_guard(instr);
    for (std::size_t i = code_.size(); i-- > 0;) set_width(i);
    for (std::size_t i = 0; i + 2 < code_.size(); ++i) fuse(i);
    if (!function_.fixed.empty()) mark_passages();
  }

 private:
  void move_fixed() {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (!is_fixed_[i]) continue;
      function_.fixed.push_back(code_[i]);
      code_[i].run = nothing_;
      code_[i].shape = fixed_shape;
    }
  }

  // A jump back from a block or from a later one repeats all blocks from its target on.
  void find_repeated_blocks() {
    const std::vector<ptx::basic_block>& blocks = blocks_.blocks;
    std::vector<std::uint32_t> lowest(blocks.size() + 1, ptx::no_index);
    for (std::size_t b = blocks.size(); b-- > 0;) {
      lowest[b] = lowest[b + 1];
      for (const std::uint32_t next : blocks[b].successors) lowest[b] = std::min(lowest[b], next);
    }
    first_behind_.resize(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      is_repeated_.push_back(lowest[b] <= b);
      first_behind_[b] = lowest[b] < b ? first_behind_[b - 1] : b;
    }
  }

  void group_accesses() {
    ptx::register_access written;
    const ptx::function& source = *function_.source;
    for (std::size_t i = 0; i < source.instructions.size(); ++i) {
      for (std::uint32_t at = first_of_[i]; at < first_of_[i + 1]; ++at) {
        if (code_[at].needs_attention || shape_ == shape_count) end_groups();
        if (const shaped_access* access = access_of(code_[at])) add(*access, at);
      }
      ptx::find_register_access(owner_, source, source.instructions[i], written);
      for (std::uint32_t r : written.writes) end_groups_at(r);
    }
    end_groups();
  }

  const shaped_access* access_of(const instruction& instr) const {
    const std::uint32_t count = instr.flags & access_flag::count;
    const auto access = std::ranges::find_if(accesses_, [&](const shaped_access& each) {
      return each.plain == instr.run && each.count == count;
    });
    const bool is_next = instr.kind == flow::next && access != accesses_.end() && !has_guard(instr);
    return is_next && is_stable(instr.operand[4]) ? &*access : nullptr;
  }

  // Temporaries change without a write to a register of the source.
  bool is_stable(operand_slot slot) const {
    return slot < 0 || std::ranges::binary_search(places_, slot, {}, &place::slot);
  }

  void add(const shaped_access& access, std::uint32_t at) {
    const bool is_global = &access < &accesses_[first_shared];
    const instruction& instr = code_[at];
    for (address_group& group : groups_) {
      const std::int64_t distance = instr.immediate - code_[group.members[0]].immediate;
      constexpr std::int64_t most = 1 << 15;  // the least and the most are less than 2^16 apart
      const bool is_member = group.address == instr.operand[4] && group.is_global == is_global &&
                             group.flags == instr.flags && group.bytes == access.bytes &&
                             distance % access.bytes == 0 && distance < most && distance > -most;
      if (is_member) return group.members.push_back(at);
    }
    const auto shape = static_cast<std::uint8_t>((first_shape_ + shape_++) % shape_count);
    groups_.push_back({instr.operand[4], is_global, instr.flags, access.bytes, shape, {at}});
  }

  void end_groups_at(std::uint32_t written) {
    for (std::size_t i = 0; i < groups_.size();) {
      if (groups_[i].address != register_slots_[written]) {
        ++i;
        continue;
      }
      end(groups_[i]);
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void end_groups() {
    for (const address_group& group : groups_) end(group);
    groups_.clear();
    // Another block uses other shapes, so that each has the addresses of its last iteration.
    first_shape_ = (first_shape_ + shape_) % shape_count;
    shape_ = 0;
  }

  void end(const address_group& group) {
    const auto displacement = [&](std::uint32_t at) { return code_[at].immediate; };
    const auto [least, most] = std::ranges::minmax(group.members, {}, displacement);
    const std::int64_t first = code_[least].immediate;
    const std::int64_t extent = code_[most].immediate - first;
    const std::uint8_t shape = lasting_shape(group, first, extent);
    for (const std::uint32_t at : group.members) {
      instruction& instr = code_[at];
      const shaped_access& access = *access_of(instr);
      instr.run = at == group.members[0] ? access.first : access.next;
      instr.target = static_cast<std::uint32_t>(instr.immediate - first);
      if (access.count == 1) {
        instr.operand[3] = static_cast<operand_slot>(extent);
      } else {
        instr.target |= static_cast<std::uint32_t>(extent) << 16;
      }
      instr.shape = shape;
    }
  }

  // Returns the shape of a group. One that other blocks or iterations find again lasts for a round
  // of the block: nothing writes the address behind the access, and no call frees memory.
  std::uint8_t lasting_shape(const address_group& group, std::int64_t first, std::int64_t extent) {
    // `flags` has the state space, which decides whether an address is right.
    const lasting_key key{group.address, group.is_global, group.flags, group.bytes, first, extent};
    const auto number =
        static_cast<std::size_t>(std::ranges::find(lasting_, key) - lasting_.begin());
    const bool is_new = number == lasting_.size();
    const bool may_last = function_.source->is_entry && function_.calls.empty();
    if (!may_last || (is_new && lasting_.size() == lasting_shapes)) return group.shape;
    const std::uint32_t block = blocks_.block_of[code_[group.members[0]].source];
    if (is_new && !is_repeated_[block]) return group.shape;
    if (group.address >= 0 && !is_constant_behind(group.address, block)) return group.shape;
    if (is_new) lasting_.push_back(key);
    return static_cast<std::uint8_t>(shape_count + number);
  }

  // Checks that a place has one register, which one instruction writes before each block that may
  // run after this one.
  bool is_constant_behind(operand_slot slot, std::uint32_t block) const {
    const auto sharing = std::ranges::equal_range(places_, slot, {}, &place::slot);
    if (sharing.size() != 1 || uses_.writes[sharing.front().r] != 1) return false;
    return blocks_.block_of[uses_.writer[sharing.front().r]] < first_behind_[block];
  }

  // Skips the fixed instructions that follow, up to the next basic block.
  void set_width(std::size_t i) {
    constexpr std::uint8_t most = 255;
    const std::size_t next = i + 1;
    if (next == code_.size() || !is_fixed_[next] || code_[next].needs_attention) return;
    if (code_[next].width < most) code_[i].width = static_cast<std::uint8_t>(code_[next].width + 1);
  }

  // Checks that one instruction reads what the load writes.
  bool is_read_once(const instruction& load) const {
    ptx::register_access access;
    const ptx::function& source = *function_.source;
    ptx::find_register_access(owner_, source, source.instructions[load.source], access);
    if (access.writes.size() != 1) return false;
    const std::uint32_t r = access.writes[0];
    return register_slots_[r] == load.operand[0] && uses_.writes[r] == 1 && uses_.reads[r] == 1;
  }

  // Marks branches that fixed values decide, and numbers the barriers before them.
  void mark_passages() {
    std::vector<bool> is_fixed_slot(function_.predicates);
    ptx::register_access access;
    const ptx::function& source = *function_.source;
    for (std::size_t i = 0; i < source.instructions.size(); ++i) {
      if (!is_fixed_[first_of_[i]]) continue;
      ptx::find_register_access(owner_, source, source.instructions[i], access);
      for (std::uint32_t r : access.writes) {
        const bool is_predicate = source.registers[r].type == ptx::scalar_type::pred;
        if (is_predicate) is_fixed_slot[static_cast<std::size_t>(register_slots_[r])] = true;
      }
    }
    bool is_before_branch = false;
    for (std::size_t i = code_.size(); i-- > 0;) {
      instruction& instr = code_[i];
      if (is_fixed_[i]) continue;
      if (instr.kind == flow::barrier && is_before_branch) instr.cache = ++function_.passages;
      is_before_branch =
          instr.kind == flow::branch &&
          (!has_guard(instr) || is_fixed_slot[static_cast<std::size_t>(instr.guard)]);
      if (is_before_branch) instr.cache = decided_branch;
    }
  }

  // Two loads and the fma that is alone in reading them.
  void fuse(std::size_t i) {
    instruction &a = code_[i], &b = code_[i + 1];
    const instruction& product = code_[i + 2];
    const bool is_run =
        a.is_plain && b.is_plain && product.is_plain && a.width == 1 && b.width == 1;
    constexpr std::uint8_t most = 253;  // the sum of the widths is a byte
    if (!is_run || a.run != b.run || product.run != fma_ || product.width > most) return;
    const bool loads_words = a.run == accesses_[0].next || a.run == accesses_[first_shared].next;
    const operand_slot x = a.operand[0], y = b.operand[0];
    const auto& read = product.operand;
    const bool is_product = (read[1] == x && read[2] == y) || (read[1] == y && read[2] == x);
    if (!loads_words || !is_product || !is_read_once(a) || !is_read_once(b)) return;
    a.run = fused_;
    a.width = static_cast<std::uint8_t>(2 + product.width);
  }

  const ptx::module& owner_;
  std::span<const std::uint32_t> first_of_;
  std::span<const std::int64_t> register_slots_;
  function_code& function_;
  std::vector<instruction>& code_;
  const register_uses& uses_;
  std::vector<bool> is_fixed_;  // by decoded instruction
  std::vector<place> places_;   // of registers that are no predicates, ascending
  const std::array<shaped_access, shaped_count> accesses_ = shaped_accesses();
  const handler fma_ = find_handler("fma.f32"), fused_ = find_handler("fused.ld.ld.fma.f32"),
                nothing_ = find_handler("nothing");
  const ptx::control_flow blocks_ = ptx::find_blocks(*function_.source);
  std::vector<bool> is_repeated_;            // by block
  std::vector<std::uint32_t> first_behind_;  // the first block that may run after each one, or it
  std::vector<lasting_key> lasting_;         // groups with lasting shapes
  std::vector<address_group> groups_;
  std::uint8_t shape_ = 0;  // shapes in use in this basic block
  std::size_t first_shape_ = 0;
};

}  // namespace

void tune(const ptx::module& owner, const register_uses& uses, const std::vector<bool>& fixed,
          std::span<const std::uint32_t> first_of, std::span<const std::int64_t> register_slots,
          function_code& function) {
  tuner{owner, uses, fixed, first_of, register_slots, function}.run();
}

std::vector<instruction> unfused(const function_code& function, std::vector<bool>& is_next) {
  std::vector<instruction> code = function.tuned;
  const auto accesses = shaped_accesses();
  const handler fused = find_handler("fused.ld.ld.fma.f32");
  for (std::size_t i = code.size(); i-- > 0;) {
    if (code[i].run == fused) {
      code[i].run = code[i + 1].run;
      code[i].width = 1;
    }
  }
  // Checks know the shapes of single elements.
  for (const instruction& instr : code) {
    is_next.push_back(std::ranges::any_of(accesses, [&](const shaped_access& each) {
      return each.next == instr.run && each.count == 1;
    }));
  }
  return code;
}

}  // namespace halfwarp::emulator::exec
