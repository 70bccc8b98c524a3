// SPDX-License-Identifier: Apache-2.0
// Lays out the frame, decodes each instruction and resolves branches.
#include "emulator/exec/decode/function_decoder.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/exec/decode/block_roles.hpp"
#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Checks whether a kernel accesses its parameters other than by ld.param at a constant offset.
bool uses_parameter_address(const ptx::module& owner, const ptx::function& f) {
  for (const ptx::instruction& i : f.instructions) {
    bool is_parameter_access =
        ptx::without_sub_space(owner.mnemonic_of(i).space()) == ptx::state_space::param;
    for (const ptx::operand& o : f.operands_of(i)) {
      bool is_value =
          o.kind == ptx::operand_kind::symbol && o.symbol == ptx::symbol_kind::parameter;
      bool is_computed = is_parameter_access && o.kind == ptx::operand_kind::address &&
                         o.base == ptx::address_base::register_;
      if (is_value || is_computed) return true;
    }
  }
  return false;
}

// Assigns frame offsets to variables. Returns offset 0 once the frame is full.
class frame_layout {
 public:
  std::uint32_t place(std::uint64_t size, std::uint64_t alignment) {
    std::uint64_t at = round_up(end_, std::max<std::uint64_t>(alignment, 1));
    if (at + size > max_frame_bytes) {
      is_full_ = true;
      return 0;
    }
    end_ = at + size;
    return static_cast<std::uint32_t>(at);
  }
  std::uint32_t place(const ptx::variable& v) { return place(v.size, v.alignment); }
  std::uint32_t end() const { return static_cast<std::uint32_t>(end_); }
  bool is_full() const { return is_full_; }

 private:
  std::uint64_t end_ = 0;
  bool is_full_ = false;
};

}  // namespace

function_decoder::function_decoder(const program& owner, const ptx::function& source,
                                   const kernel_layout& layout, std::uint32_t& range_caches)
    : owner_{owner},
      source_{source},
      layout_{layout},
      range_caches_{range_caches},
      register_slots_(source.registers.size(), -1) {
  out_.source = &source;
  parameters_in_frame_ = !source.is_entry || uses_parameter_address(*owner.source, source);
  find_byte_masks();
}

// libNVVM widens a load over bytes that may be outside the object, and names the others in a pragma
// before the load.
void function_decoder::find_byte_masks() {
  constexpr std::string_view name = "used_bytes_mask ";
  const auto is_mask = [](std::string_view text) { return text.starts_with(name); };
  if (std::ranges::none_of(source_.pragmas, is_mask)) return;
  std::optional<std::uint32_t> mask;
  for (const ptx::statement& s : source_.statements) {
    if (s.kind == ptx::statement_kind::pragma && is_mask(source_.pragmas[s.index])) {
      const std::string number{source_.pragmas[s.index].substr(name.size())};
      mask = static_cast<std::uint32_t>(std::strtoul(number.c_str(), nullptr, 0));
    } else if (s.kind == ptx::statement_kind::instruction) {
      if (mask) byte_masks_.push_back({s.index, *mask});
      mask.reset();
    }
  }
}

std::uint32_t function_decoder::used_bytes() const noexcept {
  const auto mask =
      std::ranges::lower_bound(byte_masks_, current_index_, {}, &byte_mask::instruction);
  const bool has_mask = mask != byte_masks_.end() && mask->instruction == current_index_;
  return has_mask ? mask->bytes : ~std::uint32_t{};
}

void function_decoder::compute_frame_layout() {
  frame_layout frame;
  variable_offsets_.resize(source_.variables.size());
  for (bool is_parameter : {false, true}) {
    for (std::size_t i = 0; i < source_.variables.size(); ++i) {
      ptx::state_space space = ptx::without_sub_space(source_.variables[i].space);
      ptx::state_space expected = is_parameter ? ptx::state_space::param : ptx::state_space::local;
      if (space == expected) variable_offsets_[i] = frame.place(source_.variables[i]);
    }
    if (!is_parameter) out_.local_bytes = frame.end();
  }
  if (source_.is_entry && parameters_in_frame_) {
    // Copies the parameter block of the kernel unchanged.
    out_.parameter_block = frame.place(source_.parameter_bytes, 16);
    out_.parameter_block_bytes = static_cast<std::uint32_t>(source_.parameter_bytes);
    for (const ptx::variable& v : source_.parameters) {
      out_.parameter_offsets.push_back(static_cast<std::uint32_t>(out_.parameter_block + v.offset));
    }
  } else if (!source_.is_entry) {
    for (const ptx::variable& v : source_.parameters) {
      out_.parameter_offsets.push_back(place_parameter(frame, v));
    }
    for (const ptx::variable& v : source_.return_parameters) {
      out_.result_offsets.push_back(place_parameter(frame, v));
    }
  }
  out_.frame_bytes = static_cast<std::uint32_t>(round_up(frame.end(), 16));
  if (frame.is_full()) {
    refused_.push_back({0, "the variables of '" + std::string(source_.name) + "' need more than " +
                               std::to_string(max_frame_bytes) + " bytes of local memory"});
  }
}

// Returns the place of a parameter of a function: an offset in the frame, or the slot of a
// register.
template <class Layout>
std::uint32_t function_decoder::place_parameter(Layout& frame, const ptx::variable& v) {
  if (v.register_index == ptx::no_index) return frame.place(v);
  const int bits = ptx::info(v.type).bits;
  if (bits >= 8 && bits <= 64) {
    return static_cast<std::uint32_t>(register_slot(v.register_index, ptx::component::none));
  }
  refused_.push_back({0, "a parameter in a register of " + std::to_string(bits) + " bits"});
  return 0;
}

function_code function_decoder::run() {
  const register_uses uses{*owner_.source, source_};
  const std::vector<bool> fixed = find_fixed(*owner_.source, source_, uses, parameters_in_frame_);
  register_slots_ = share_slots(*owner_.source, source_, uses, fixed, out_.register_bytes);
  compute_frame_layout();
  std::uint32_t count = static_cast<std::uint32_t>(source_.instructions.size());
  first_of_.reserve(count + 1);
  out_.code.reserve(count + 8);
  for (std::uint32_t i = 0; i < count; ++i) {
    first_of_.push_back(static_cast<std::uint32_t>(out_.code.size()));
    decode_one(i);
  }
  first_of_.push_back(static_cast<std::uint32_t>(out_.code.size()));
  current_ = nullptr;
  emit(nullptr, flow::ret);
  resolve_branches();
  if (refused_.empty()) {
    tune(*owner_.source, uses, fixed, first_of_, register_slots_, out_);
    const auto roles = find_block_roles(*owner_.source, source_, parameters_in_frame_);
    if (!roles.empty()) {
      for (const instruction& instr : out_.code) out_.roles.push_back(roles[instr.source]);
      out_.effects = std::make_shared<code_effects>();
    }
  }
  return std::move(out_);
}

void function_decoder::decode_one(std::uint32_t index) {
  current_index_ = index;
  current_ = &source_.instructions[index];
  mnemonic_ = &owner_.source->mnemonic_of(*current_);
  used_temporaries_ = used_predicates_ = 0;
  try {
    decode_instruction(*this, current_->opcode);
    for (const extension& e : std::exchange(extensions_, {})) {
      std::string name = std::string("extend.") + (e.is_signed ? "s" : "u") +
                         std::to_string(e.from_bits) + ".b" + std::to_string(e.to_bits);
      emit(name, {e.to, e.from});
    }
  } catch (const unsupported& error) {
    extensions_.clear();
    refused_.push_back({index, error.reason});
  }
}

void function_decoder::resolve_branches() {
  for (auto [at, label] : branches_) {
    out_.code[at].target = first_of_[source_.labels[label].instruction];
  }
  ptx::control_flow blocks = ptx::find_blocks(source_);
  for (const ptx::basic_block& b : blocks.blocks) {
    out_.code[first_of_[b.first]].needs_attention = true;
  }
  for (instruction& i : out_.code) i.needs_attention |= i.kind != flow::next;
}

instruction& function_decoder::emit(handler run, flow kind) {
  instruction& instr = out_.code.emplace_back();
  instr.run = run;
  instr.kind = kind;
  instr.source = current_index_;
  if (current_ && current_->guard != ptx::no_index) {
    instr.guard = static_cast<std::int32_t>(predicate_index(current_->guard));
    instr.guard_flip = current_->is_guard_negated ? ~0u : 0u;
  }
  return instr;
}

instruction& function_decoder::emit(std::string_view handler_name) {
  handler run = find_handler(handler_name);
  if (!run) throw unsupported{"no handler '" + std::string(handler_name) + "'"};
  return emit(run, flow::next);
}

instruction& function_decoder::emit(std::string_view handler_name,
                                    std::initializer_list<operand_slot> operands) {
  instruction& instr = emit(handler_name);
  std::copy(operands.begin(), operands.end(), instr.operand.begin());
  return instr;
}

void function_decoder::extend_afterwards(operand_slot to, operand_slot from, int to_bits,
                                         int from_bits, bool is_signed) {
  extensions_.push_back({to, from, to_bits, from_bits, is_signed});
}

void function_decoder::branch_to(std::uint32_t label) {
  emit(nullptr, flow::branch);
  branches_.push_back({static_cast<std::uint32_t>(out_.code.size() - 1), label});
}

void function_decoder::branch_to(std::uint32_t label, operand_slot guard, bool is_negated) {
  branch_to(label);
  out_.code.back().guard = guard;
  out_.code.back().guard_flip = is_negated ? ~0u : 0u;
}

const ptx::variable& function_decoder::frame_variable(ptx::symbol_kind kind,
                                                      std::uint32_t index) const {
  switch (kind) {
    case ptx::symbol_kind::parameter:
      return source_.parameters[index];
    case ptx::symbol_kind::return_parameter:
      return source_.return_parameters[index];
    case ptx::symbol_kind::local_variable: {
      const ptx::variable& v = source_.variables[index];
      ptx::state_space space = ptx::without_sub_space(v.space);
      if (space == ptx::state_space::local || space == ptx::state_space::param) return v;
      break;
    }
    default:
      break;
  }
  throw unsupported{"a variable that is not in the frame"};
}

std::uint32_t function_decoder::frame_offset(ptx::symbol_kind kind, std::uint32_t index) const {
  frame_variable(kind, index);  // throws if the symbol has no offset
  const auto& offsets = kind == ptx::symbol_kind::parameter          ? out_.parameter_offsets
                        : kind == ptx::symbol_kind::return_parameter ? out_.result_offsets
                                                                     : variable_offsets_;
  if (index >= offsets.size()) throw unsupported{"a parameter of the kernel as that of a call"};
  return offsets[index];
}

}  // namespace halfwarp::emulator::exec
