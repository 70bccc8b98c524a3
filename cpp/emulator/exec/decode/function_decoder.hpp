// SPDX-License-Identifier: Apache-2.0
// From the syntax tree of one function to the instructions that the interpreter runs.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/exec/code.hpp"
#include "emulator/exec/decode/kernel_layout.hpp"
#include "emulator/exec/program.hpp"

namespace halfwarp::emulator::exec {

// Of local memory: what a thread of a device can have.
inline constexpr std::uint64_t most_frame_bytes = 512 << 10;

// Thrown for an instruction, or a form of one, that the emulator does not run.
struct unsupported {
  std::string why;
};

// Decodes instruction by instruction; decode_* functions of the other files use it to read
// operands and to emit. One PTX instruction may become several; they share its guard.
class function_decoder {
 public:
  function_decoder(const program& owner, const ptx::function& source, const kernel_layout& layout,
                   std::uint32_t& range_caches);
  function_code run();
  // In the order of the text: instruction and reason.
  struct refused {
    std::uint32_t instruction;
    std::string why;
  };
  const std::vector<refused>& refused_instructions() const noexcept { return refused_; }

  // ---- the instruction being decoded
  const ptx::mnemonic& spelling() const { return *spelling_; }
  std::span<const ptx::operand> operands() const { return source_.operands_of(*current_); }
  const ptx::operand& operand(std::size_t n) const;  // throws unsupported when absent
  std::span<const ptx::operand> elements(const ptx::operand& o) const {
    return source_.elements_of(o);
  }
  const ptx::function& source() const { return source_; }
  const program& owner() const { return owner_; }
  const kernel_layout& layout() const { return layout_; }
  bool is_entry() const { return source_.is_entry; }

  // ---- operands
  // Where a value of so many bits is: a register, a constant, or a temporary that holds the low
  // part of a wider register. Floats written as literals are converted to `type`.
  operand_slot value(const ptx::operand& o, int bits,
                     ptx::scalar_type type = ptx::scalar_type::none);
  // Where to put a result of so many bits; a wider register gets it extended afterwards.
  operand_slot result(const ptx::operand& o, int bits, bool is_signed = false);
  int register_bits(const ptx::operand& o) const;  // 0: not a register
  bool is_predicate(const ptx::operand& o) const;
  bool is_predicate_register(std::uint32_t index) const;
  operand_slot predicate(const ptx::operand& o);        // a predicate register; a sink: a temporary
  operand_slot predicate_value(const ptx::operand& o);  // also of a literal; negation resolved
  operand_slot constant(std::uint64_t bits, int width);
  operand_slot temporary(int bits);
  operand_slot temporary_predicate();

  // ---- output
  // Throws unsupported when there is no handler of that name.
  instruction& emit(std::string_view handler_name);
  instruction& emit(std::string_view handler_name, std::initializer_list<operand_slot> operands);
  instruction& emit(handler run, flow kind);
  instruction& last() { return out_.code.back(); }  // emitted
  void extend_afterwards(operand_slot to, operand_slot from, int to_bits, int from_bits,
                         bool is_signed);
  void branch_to(std::uint32_t label);  // guard as given
  void branch_to(std::uint32_t label, operand_slot guard, bool is_negated);
  void use_reserved_shared() { out_.reads_reserved_shared = true; }
  std::uint32_t new_range_cache() { return range_caches_++; }

  // ---- addresses
  struct address {
    ptx::state_space space = ptx::state_space::generic;
    operand_slot base = 0;   // 64 bits wide; 32 when is_narrow
    bool is_narrow = false;  // shared memory, 32-bit register
    bool is_frame_relative = false;
    std::int64_t displacement = 0;
    // Of a parameter that is named: an access must lie between these displacements.
    std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
    bool is_bounded() const { return last != std::numeric_limits<std::int64_t>::max(); }
  };
  address address_of(const ptx::operand& o, ptx::state_space space);
  // A .local or .param variable, a parameter or a result, and its offset in the frame. Throw
  // unsupported for all else.
  const ptx::variable& frame_variable(ptx::symbol_kind kind, std::uint32_t index) const;
  std::uint32_t frame_offset(ptx::symbol_kind kind, std::uint32_t index) const;
  bool parameters_in_frame() const noexcept { return parameters_in_frame_; }
  std::uint32_t add_texture(const texture_site& site) {
    out_.textures.push_back(site);
    return static_cast<std::uint32_t>(out_.textures.size() - 1);
  }
  call_site& new_call() { return out_.calls.emplace_back(); }
  std::uint32_t call_count() const { return static_cast<std::uint32_t>(out_.calls.size()); }

 private:
  void lay_out_frame();
  void decode_one(std::uint32_t index);
  void resolve_branches();
  operand_slot register_slot(std::uint32_t index, ptx::component component);
  std::uint32_t predicate_index(std::uint32_t register_index);
  operand_slot symbol_value(const ptx::operand& o, int bits);
  address register_address(const ptx::operand& o, address at);
  address parameter_address(const ptx::operand& o, address at) const;
  address variable_address(const ptx::operand& o, address at) const;
  operand_slot special_value(const ptx::operand& o, int bits);
  operand_slot fitted(operand_slot from, int from_bits, int bits);
  std::uint64_t literal(const ptx::operand& o, ptx::scalar_type type) const;

  const program& owner_;
  const ptx::function& source_;
  const kernel_layout& layout_;
  std::uint32_t& range_caches_;
  function_code out_;
  std::vector<refused> refused_;

  const ptx::instruction* current_ = nullptr;
  const ptx::mnemonic* spelling_ = nullptr;
  std::uint32_t current_index_ = 0;
  std::vector<std::int64_t> register_slots_;  // of function::registers; -1: not yet
  std::map<std::pair<std::uint64_t, int>, operand_slot> constants_;
  std::vector<operand_slot> temporaries_, temporary_predicates_;
  std::size_t used_temporaries_ = 0, used_predicates_ = 0;
  struct extension {
    operand_slot to, from;
    int to_bits, from_bits;
    bool is_signed;
  };
  std::vector<extension> extensions_;
  std::vector<std::uint32_t> first_of_;  // first decoded instruction of each source instruction
  struct branch {
    std::uint32_t at, label;
  };
  std::vector<branch> branches_;
  std::vector<std::uint32_t> variable_offsets_;  // of function::variables in the frame
  bool parameters_in_frame_ = false;
};

}  // namespace halfwarp::emulator::exec
