// SPDX-License-Identifier: Apache-2.0
// The abstract syntax tree of a PTX module: plain data for its variables and functions.
//
// References are indices. Registers, labels, variables and operands of a function are in its
// vectors, symbols of the module in the vectors of the module. Every string_view points into
// module::text or module::joined_text, so a module may be moved, but its parts must not outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/ptx/mnemonic.hpp"
#include "emulator/ptx/vocabulary/special_register.hpp"
#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::ptx {

inline constexpr std::uint32_t no_index = 0xffff'ffffu;

enum class linkage : std::uint8_t { internal, visible, weak, extern_, common };

// The kind of entity that a name in an operand or an initializer refers to.
enum class symbol_kind : std::uint8_t {
  unresolved,        // undeclared name; the verifier reports it
  module_variable,   // module::variables[index]
  function,          // module::functions[index]; the definition, if the module contains it
  local_variable,    // function::variables[index] (.local .shared .param .const .global)
  parameter,         // function::parameters[index]
  return_parameter,  // function::return_parameters[index]
  label,             // function::labels[index]
  target_list,       // function::target_lists[index] (.branchtargets, .calltargets)
  prototype,         // function::prototypes[index] (.callprototype)
};

// ---- variables -------------------------------------------------------------------------------

// An address to write into the bytes of an initializer: address(symbol) + addend.
struct relocation {
  std::uint64_t offset = 0;  // in bytes, from the start of the variable
  std::uint8_t size = 8;     // bytes to write; 1 if mask selects a byte
  bool is_generic = false;   // generic(symbol): the address in the generic space
  std::uint64_t mask = 0;    // 0xff00(symbol): only these bits, shifted down; 0: no mask
  symbol_kind kind = symbol_kind::unresolved;
  std::uint32_t index = no_index;
  std::int64_t addend = 0;
  std::string_view name;
  std::uint32_t line = 0;
};

struct initializer {
  std::vector<std::uint8_t> bytes;  // little endian; zeros follow up to the size of the variable
  std::vector<relocation> relocations;
};

struct variable {
  std::string_view name;  // "_" when anonymous
  ptx::linkage linkage = linkage::internal;
  state_space space = state_space::generic;  // reg for a parameter in a register
  scalar_type type = scalar_type::none;
  std::uint8_t vector_width = 1;
  bool is_array = false;
  bool is_unsized = false;  // "name[]": extern .shared, variadic parameter
  bool is_managed = false;  // .attribute(.managed)
  bool has_initializer = false;
  std::uint32_t alignment = 1;  // bytes: .align, or the type's alignment
  std::uint64_t element_bytes = 0;
  std::uint64_t size = 0;                 // bytes; 0 when unsized
  std::uint64_t offset = 0;               // of a parameter: offset in the parameter block
  std::vector<std::uint64_t> dimensions;  // 0: []
  ptx::initializer initializer;
  std::string_view attributes;  // text of other .attribute(...), and of a texref's { ... }
  state_space pointer_space = state_space::generic;  // .ptr .global of a kernel parameter
  bool is_pointer = false;                           // .ptr
  std::uint32_t pointer_alignment = 0;               // .ptr .align n; 0: absent
  std::uint32_t register_index = no_index;           // of a parameter in a register
  std::uint32_t line = 0;
};

// Returns the alignment in bytes of a variable of this type without .align.
std::uint32_t natural_alignment(scalar_type type, std::uint32_t vector_width) noexcept;

// ---- function bodies -------------------------------------------------------------------------

// ".reg .b32 %r<10>;" or one name of ".reg .b32 a, b;"
struct register_declaration {
  std::string_view name;  // "%r" for a range, else the full name
  scalar_type type = scalar_type::none;
  std::uint8_t vector_width = 1;
  bool is_range = false;
  std::uint32_t count = 1;
  std::uint32_t line = 0;
};

// A register that an operand uses. Unused registers of a range have no entry.
struct register_info {
  std::string_view name;          // "%r7"
  std::uint32_t declaration = 0;  // function::register_declarations
  std::uint32_t number = 0;       // within the range
  scalar_type type = scalar_type::none;
  std::uint8_t vector_width = 1;
};

struct label {
  std::string_view name;
  std::uint32_t instruction = 0;  // next instruction; may be instructions.size()
  bool is_referenced = false;
  std::uint32_t line = 0;
};

// ".branchtargets a, b" (labels) or ".calltargets f, g" (functions)
struct target_list {
  std::string_view name;
  bool is_call = false;
  std::vector<std::uint32_t> indices;  // no_index: unresolved
  std::vector<std::string_view> names;
  std::uint32_t line = 0;
};

struct call_prototype {
  std::string_view name;
  std::vector<variable> return_parameters, parameters;
  std::string_view directives;  // text after the parameters, such as .noreturn
  std::uint32_t line = 0;
};

// ".loc file line column [, function_name label, inlined_at file line column]"
struct source_location {
  std::uint32_t file = 0, line = 0, column = 0;
  std::string_view function_name;  // label of the inlined function's name; empty: not inlined
  std::uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
};

enum class operand_kind : std::uint8_t {
  sink,              // _
  register_,         // index: function::registers; component for %v.x
  special_register,  // special; component for .x .y .z; value: number of envreg, pm
  integer,           // value, as 64 bits; is_negative distinguishes -1 from 0xffff...
  float_bits,        // 0f3F800000: value holds 32 bits
  double_bits,       // 0d3FF0000000000000 and 1.5: value holds 64 bits
  symbol,            // symbol + value: an address, a label, a function, a list
  address,           // [base + value]; `base` is the kind of base
  address_group,  // [a, b, {c, d}]: elements, each an address or a vector (tex, bulk tensor copy)
  vector,         // {a, b}: elements
  pair,           // p|q: two elements
  list,           // (a, b): elements; arguments or results of a call
};

enum class address_base : std::uint8_t { none, register_, special_register, symbol };

enum class component : std::uint8_t { none, x, y, z, w, b0, b1, b2, b3, h0, h1, lanes };

// A selector of several lanes, such as .h32 or .b7531: the value of an operand with component
// lanes. The digit of the lowest lane, which is written last, is in the lowest 4 bits.
class lane_selector {
 public:
  explicit constexpr lane_selector(std::int64_t value) : bits_{static_cast<std::uint32_t>(value)} {}
  constexpr lane_selector(bool is_bytes, int count, std::uint16_t digits)
      : bits_{digits | static_cast<std::uint32_t>(count) << 16 | std::uint32_t{is_bytes} << 20} {}
  constexpr std::int64_t value() const { return bits_; }
  constexpr std::uint16_t digits() const { return static_cast<std::uint16_t>(bits_); }
  constexpr int count() const { return static_cast<int>(bits_ >> 16 & 15); }
  constexpr bool is_bytes() const { return bits_ >> 20 & 1; }

 private:
  std::uint32_t bits_;
};

struct operand {
  operand_kind kind = operand_kind::sink;
  bool is_negated = false;   // !p; -a of a video instruction
  bool is_negative = false;  // integer written with a minus sign
  ptx::component component = component::none;
  address_base base = address_base::none;        // of an address
  symbol_kind symbol = symbol_kind::unresolved;  // of a symbol, and of an address with one
  ptx::special_register special = special_register::unknown;
  std::uint32_t index = no_index;  // register, symbol, or first element in function::operands
  std::uint32_t count = 0;         // elements
  std::int64_t value = 0;          // immediate, or byte offset
  std::string_view name;           // of the register or symbol, as written
};

struct instruction {
  std::uint32_t mnemonic = 0;  // module::mnemonics
  ptx::opcode opcode = opcode::unknown;
  bool is_guard_negated = false;       // @!p
  std::uint32_t guard = no_index;      // function::registers; no_index: unconditional
  std::uint32_t first_operand = 0;     // in function::operands, consecutive
  std::uint32_t operand_count = 0;     // 0 for an unknown instruction: see text
  std::uint32_t location = no_index;   // function::locations; no_index: none
  std::uint32_t line = 0, column = 0;  // in the PTX text, from 1
  std::string_view text;               // guard to semicolon, semicolon excluded
};

// A statement of a body, in text order. `index` refers to the vector for its kind.
enum class statement_kind : std::uint8_t {
  scope_begin,
  scope_end,
  registers,
  variable,
  label,
  target_list,
  prototype,
  instruction,
  location,
  pragma
};
struct statement {
  statement_kind kind = statement_kind::instruction;
  std::uint32_t index = 0;
};

struct dimensions3 {
  std::array<std::uint32_t, 3> value{};  // zeros: absent
  bool is_present() const noexcept { return value[0] != 0; }
};

struct function_directives {
  dimensions3 maxntid, reqntid, reqnctapercluster;
  std::uint32_t minnctapersm = 0, maxnctapersm = 0, maxnreg = 0, maxclusterrank = 0;  // 0: absent
  bool explicitcluster = false, blocksareclusters = false, noreturn = false;
  std::vector<std::string_view> pragmas;
  std::vector<std::string_view> unknown;  // directives that the parser does not know, as text
};

struct function {
  std::string_view name;
  ptx::linkage linkage = linkage::internal;
  bool is_entry = false;
  bool is_definition = false;  // has a body
  std::uint32_t line = 0;
  std::string_view attributes;  // text of .attribute(...)
  std::vector<variable> return_parameters, parameters;
  std::uint64_t parameter_bytes = 0, return_bytes = 0;  // size of the blocks, C struct layout
  std::uint32_t parameter_alignment = 1, return_alignment = 1;
  function_directives directives;
  std::uint32_t machine_registers = 0;  // of its machine code; 0: unknown

  std::vector<register_declaration> register_declarations;
  std::vector<register_info> registers;
  std::vector<variable> variables;
  std::vector<ptx::label> labels;
  std::vector<ptx::target_list> target_lists;
  std::vector<call_prototype> prototypes;
  std::vector<source_location> locations;
  std::vector<std::string_view> pragmas;
  std::vector<instruction> instructions;
  std::vector<operand> operands;  // consecutive per instruction
  std::vector<statement> statements;

  std::span<const operand> operands_of(const instruction& i) const noexcept {
    return {operands.data() + i.first_operand, i.operand_count};
  }
  // Returns the elements of a vector, pair, list or address group.
  std::span<const operand> elements_of(const operand& o) const noexcept {
    return {operands.data() + o.index, o.count};
  }
};

// ---- modules ---------------------------------------------------------------------------------

struct source_file {
  std::uint32_t number = 0;
  std::string_view path;
};

struct alias {
  std::string_view name, target;
  std::uint32_t line = 0;
};

// A directive that the parser does not know, stored as text.
struct unknown_directive {
  std::string_view text;
  std::uint32_t line = 0;
};

// An item of the outermost level, in text order. `index` refers to the vector for its kind.
enum class item_kind : std::uint8_t { variable, function, alias, file, pragma, unknown };
struct module_item {
  item_kind kind = item_kind::variable;
  std::uint32_t index = 0;
};

struct module {
  std::uint32_t version_major = 0, version_minor = 0;
  std::string_view target;                     // "sm_90a"
  std::vector<std::string_view> target_flags;  // "debug", "texmode_independent"
  std::uint32_t address_size = 64;             // bits

  std::vector<source_file> files;
  std::vector<std::string_view> pragmas;
  std::vector<variable> variables;
  std::vector<function> functions;  // including declarations, in text order
  std::vector<alias> aliases;
  std::vector<unknown_directive> unknown_directives;
  std::vector<module_item> items;
  std::vector<mnemonic> mnemonics;  // unique
  // Names of variables and functions. A function maps to its definition, if the module contains it.
  struct symbol {
    symbol_kind kind = symbol_kind::unresolved;
    std::uint32_t index = no_index;
  };
  std::unordered_map<std::string_view, symbol> symbols;

  std::shared_ptr<const std::string> text;
  std::deque<std::string> joined_text;  // mnemonics that the text contains in pieces

  const mnemonic& mnemonic_of(const instruction& i) const noexcept { return mnemonics[i.mnemonic]; }
  // Return nullptr if no function or variable has that name.
  const function* find_function(std::string_view name) const noexcept;
  const variable* find_variable(std::string_view name) const noexcept;
  // Returns 90 for "sm_90a", and 0 for a target of another form.
  std::uint32_t target_architecture() const noexcept;
  // Returns the path of a .file number; empty if unknown.
  std::string_view file_path(std::uint32_t number) const noexcept;
};

}  // namespace halfwarp::emulator::ptx
