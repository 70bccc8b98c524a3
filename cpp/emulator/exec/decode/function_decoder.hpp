// SPDX-License-Identifier: Apache-2.0
// Decodes the syntax tree of one function to instructions of the interpreter.
#pragma once

#include <array>
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

// Thrown for an instruction, or an instruction form, that the emulator does not support.
struct unsupported {
  std::string reason;
};

// Decodes a function, instruction by instruction. The decode_* functions in other files read
// operands and emit instructions through this class. One PTX instruction may become several, all
// with its guard.
class function_decoder {
 public:
  function_decoder(const program& owner, const ptx::function& source, const kernel_layout& layout,
                   std::uint32_t& range_caches);
  function_code run();
  // An instruction that cannot be decoded, with the reason. Listed in the order of the text.
  struct refused {
    std::uint32_t instruction;
    std::string reason;
  };
  const std::vector<refused>& refused_instructions() const noexcept { return refused_; }

  // ---- the instruction being decoded
  const ptx::mnemonic& spelling() const { return *mnemonic_; }
  std::span<const ptx::operand> operands() const { return source_.operands_of(*current_); }
  const ptx::operand& operand(std::size_t n) const;  // throws unsupported if it is missing
  std::span<const ptx::operand> elements(const ptx::operand& o) const {
    return source_.elements_of(o);
  }
  const ptx::function& source() const { return source_; }
  std::uint32_t source_index() const { return current_index_; }  // in function::instructions
  // Returns a mask of the bytes of a load that the function uses.
  std::uint32_t used_bytes() const noexcept;
  const program& owner() const { return owner_; }
  const kernel_layout& layout() const { return layout_; }
  bool is_entry() const { return source_.is_entry; }

  // ---- operands
  // Returns the slot of a value of `bits` bits: a register, a constant, or a temporary with the low
  // part of a wider register. Converts literal floats to `type`.
  operand_slot value(const ptx::operand& o, int bits,
                     ptx::scalar_type type = ptx::scalar_type::none);
  // Returns the slot for a result of `bits` bits. A wider register is extended after the
  // instruction.
  operand_slot result(const ptx::operand& o, int bits, bool is_signed = false);
  // Returns the slot of the low (0) or high (1) half of a register of 128 bits, 256 bytes apart.
  operand_slot half(const ptx::operand& o, int n);
  int register_bits(const ptx::operand& o) const;  // 0: not a register
  bool is_predicate(const ptx::operand& o) const;
  bool is_predicate_register(std::uint32_t index) const;
  operand_slot predicate(const ptx::operand& o);  // a predicate register; a temporary for a sink
  operand_slot predicate_value(const ptx::operand& o);  // also accepts a literal; resolves negation
  operand_slot constant(std::uint64_t bits, int width);
  operand_slot lane_constants(const std::array<std::uint64_t, 32>& values);  // 64 bits each
  operand_slot temporary(int bits);
  operand_slot temporary_predicate();

  // ---- output
  // Throws unsupported if no handler has that name.
  instruction& emit(std::string_view handler_name);
  instruction& emit(std::string_view handler_name, std::initializer_list<operand_slot> operands);
  instruction& emit(handler run, flow kind);
  instruction& last() { return out_.code.back(); }  // last emitted instruction
  void extend_afterwards(operand_slot to, operand_slot from, int to_bits, int from_bits,
                         bool is_signed);
  void branch_to(std::uint32_t label);  // with the guard of the PTX instruction
  void branch_to(std::uint32_t label, operand_slot guard, bool is_negated);
  void use_dynamic_stack() { out_.allocates_stack = true; }
  void use_reserved_shared() { out_.reads_reserved_shared = true; }
  std::uint32_t new_range_cache() { return range_caches_++; }

  // ---- addresses
  struct address {
    ptx::state_space space = ptx::state_space::generic;
    operand_slot base = 0;   // 64 bits wide; 32 when is_narrow
    bool is_narrow = false;  // shared memory, 32-bit register
    bool is_frame_relative = false;
    std::uint64_t displacement = 0;  // modulo 2^64, like the addresses of a device
    // Bounds of displacements within a named parameter.
    std::uint64_t first = 0, last = std::numeric_limits<std::uint64_t>::max();
    bool is_bounded() const { return last != std::numeric_limits<std::uint64_t>::max(); }
    bool contains(std::uint64_t bytes) const {
      return displacement >= first && displacement <= last && last - displacement >= bytes;
    }
  };
  address address_of(const ptx::operand& o, ptx::state_space space);
  // Return a .local or .param variable, a parameter or a result, and its offset in the frame.
  // Throw unsupported for other symbols.
  const ptx::variable& frame_variable(ptx::symbol_kind kind, std::uint32_t index) const;
  std::uint32_t frame_offset(ptx::symbol_kind kind, std::uint32_t index) const;
  bool parameters_in_frame() const noexcept { return parameters_in_frame_; }
  std::uint32_t add_texture(const texture_site& site) {
    out_.textures.push_back(site);
    return static_cast<std::uint32_t>(out_.textures.size() - 1);
  }
  std::uint32_t add_matrix(const matrix_site& site) {
    out_.matrices.push_back(site);
    return static_cast<std::uint32_t>(out_.matrices.size() - 1);
  }
  std::uint32_t add_bulk(const bulk_site& site) {
    out_.bulks.push_back(site);
    return static_cast<std::uint32_t>(out_.bulks.size() - 1);
  }
  std::uint32_t add_tensor(const tensor_site& site) {
    out_.tensors.push_back(site);
    return static_cast<std::uint32_t>(out_.tensors.size() - 1);
  }
  call_site& new_call() { return out_.calls.emplace_back(); }
  std::uint32_t call_count() const { return static_cast<std::uint32_t>(out_.calls.size()); }

 private:
  void find_byte_masks();
  void compute_frame_layout();
  template <class Layout>
  std::uint32_t place_parameter(Layout& frame, const ptx::variable& v);
  void decode_one(std::uint32_t index);
  void resolve_branches();
  operand_slot register_slot(std::uint32_t index, ptx::component component);
  std::uint32_t predicate_index(std::uint32_t register_index);
  operand_slot symbol_value(const ptx::operand& o, int bits);
  address register_address(const ptx::operand& o, address at);
  address parameter_address(const ptx::operand& o, address at) const;
  address variable_address(const ptx::operand& o, address at) const;
  operand_slot special_value(const ptx::operand& o, int bits);
  operand_slot convert_width(operand_slot from, int from_bits, int bits);
  std::uint64_t literal(const ptx::operand& o, ptx::scalar_type type) const;

  const program& owner_;
  const ptx::function& source_;
  const kernel_layout& layout_;
  std::uint32_t& range_caches_;
  function_code out_;
  std::vector<refused> refused_;
  struct byte_mask {
    std::uint32_t instruction, bytes;
  };
  std::vector<byte_mask> byte_masks_;  // in the order of the instructions

  const ptx::instruction* current_ = nullptr;
  const ptx::mnemonic* mnemonic_ = nullptr;
  std::uint32_t current_index_ = 0;
  std::vector<std::int64_t> register_slots_;  // of function::registers; -1: unassigned
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
