// SPDX-License-Identifier: Apache-2.0
// Assigns slots to operands: registers, constants and addresses.
#include <bit>
#include <cstring>

#include "emulator/exec/decode/function_decoder.hpp"
#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::scalar_type;
using ptx::state_space;
using ptx::symbol_kind;

constexpr std::uint32_t line = 64;

std::uint32_t lane_bytes(int bits) {
  std::uint32_t bytes = static_cast<std::uint32_t>(bits) / 8 * warp_size;
  return (bytes + line - 1) / line * line;
}

std::uint64_t low_bits(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

int component_index(ptx::component c, int width) {
  int index =
      c == ptx::component::none ? 0 : static_cast<int>(c) - static_cast<int>(ptx::component::x);
  if (index < 0 || index >= width) throw unsupported{"component of a register"};
  return index;
}

}  // namespace

const ptx::operand& function_decoder::operand(std::size_t n) const {
  if (n >= operands().size()) throw unsupported{"operand missing"};
  return operands()[n];
}

int function_decoder::register_bits(const ptx::operand& o) const {
  if (o.kind != operand_kind::register_) return 0;
  return ptx::info(source_.registers[o.index].type).bits;
}

bool function_decoder::is_predicate_register(std::uint32_t index) const {
  return source_.registers[index].type == scalar_type::pred;
}

bool function_decoder::is_predicate(const ptx::operand& o) const {
  return o.kind == operand_kind::register_ && is_predicate_register(o.index);
}

operand_slot function_decoder::register_slot(std::uint32_t index, ptx::component component) {
  const ptx::register_info& r = source_.registers[index];
  int bits = ptx::info(r.type).bits;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    throw unsupported{"register of " + std::to_string(bits) + " bits"};
  }
  if (register_slots_[index] < 0) {
    register_slots_[index] = out_.register_bytes;
    out_.register_bytes += lane_bytes(bits) * r.vector_width;
  }
  return static_cast<operand_slot>(register_slots_[index]) +
         static_cast<operand_slot>(lane_bytes(bits)) * component_index(component, r.vector_width);
}

operand_slot function_decoder::half(const ptx::operand& o, int n) {
  if (register_bits(o) != 128) throw unsupported{"a register of 128 bits is needed"};
  std::int64_t& slot = register_slots_[o.index];
  if (slot < 0) {
    slot = out_.register_bytes;
    out_.register_bytes += 2 * lane_bytes(64);
  }
  return static_cast<operand_slot>(slot) + n * static_cast<operand_slot>(lane_bytes(64));
}

std::uint32_t function_decoder::predicate_index(std::uint32_t register_index) {
  std::int64_t& slot = register_slots_[register_index];
  if (slot < 0) slot = out_.predicates++;
  return static_cast<std::uint32_t>(slot);
}

operand_slot function_decoder::predicate(const ptx::operand& o) {
  if (o.kind == operand_kind::sink) return temporary_predicate();
  if (!is_predicate(o)) throw unsupported{"a predicate is needed"};
  return static_cast<operand_slot>(predicate_index(o.index));
}

operand_slot function_decoder::predicate_value(const ptx::operand& o) {
  if (o.kind == operand_kind::integer) {
    operand_slot slot = temporary_predicate();
    emit("set.pred", {slot}).immediate = o.value != 0;
    return slot;
  }
  operand_slot from = predicate(o);
  if (!o.is_negated) return from;
  operand_slot slot = temporary_predicate();
  emit("mov.pred", {slot, from}).immediate = 1;
  return slot;
}

operand_slot function_decoder::temporary_predicate() {
  if (used_predicates_ == temporary_predicates_.size()) {
    temporary_predicates_.push_back(static_cast<operand_slot>(out_.predicates++));
  }
  return temporary_predicates_[used_predicates_++];
}

operand_slot function_decoder::temporary(int) {
  if (used_temporaries_ == temporaries_.size()) {
    temporaries_.push_back(static_cast<operand_slot>(out_.register_bytes));
    out_.register_bytes += lane_bytes(64);
  }
  return temporaries_[used_temporaries_++];
}

operand_slot function_decoder::constant(std::uint64_t bits, int width) {
  if (width != 8 && width != 16 && width != 32 && width != 64) {
    throw unsupported{"value of " + std::to_string(width) + " bits"};
  }
  bits = low_bits(bits, width);
  auto [entry, is_new] = constants_.try_emplace({bits, width}, 0);
  if (!is_new) return entry->second;
  std::size_t at = out_.constants.size();
  out_.constants.resize(at + lane_bytes(width));
  std::byte* to = out_.constants.data() + at;
  int bytes = width / 8;
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int i = 0; i < bytes; ++i) to[lane * bytes + i] = static_cast<std::byte>(bits >> 8 * i);
  }
  return entry->second = ~static_cast<operand_slot>(at);
}

operand_slot function_decoder::lane_constants(const std::array<std::uint64_t, 32>& values) {
  const std::size_t at = out_.constants.size();
  out_.constants.resize(at + lane_bytes(64));
  std::memcpy(out_.constants.data() + at, values.data(), sizeof values);
  return ~static_cast<operand_slot>(at);
}

std::uint64_t function_decoder::literal(const ptx::operand& o, scalar_type type) const {
  std::uint64_t value = static_cast<std::uint64_t>(o.value);
  if (o.kind == operand_kind::double_bits && type == scalar_type::f32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
  }
  if (o.kind == operand_kind::float_bits && type == scalar_type::f64) {
    float narrow = std::bit_cast<float>(static_cast<std::uint32_t>(value));
    return std::bit_cast<std::uint64_t>(static_cast<double>(narrow));
  }
  return value;
}

operand_slot function_decoder::convert_width(operand_slot from, int from_bits, int bits) {
  if (from_bits == bits) return from;
  operand_slot slot = temporary(bits);
  std::string widths = ".b" + std::to_string(from_bits) + ".b" + std::to_string(bits);
  if (from_bits > bits) {
    emit("truncate" + widths, {slot, from});
  } else {
    emit("extend.u" + std::to_string(from_bits) + ".b" + std::to_string(bits), {slot, from});
  }
  return slot;
}

operand_slot function_decoder::value(const ptx::operand& o, int bits, scalar_type type) {
  if (o.is_negated) throw unsupported{"a negated operand"};
  switch (o.kind) {
    case operand_kind::register_:
      if (is_predicate(o)) throw unsupported{"a predicate where a value is needed"};
      return convert_width(register_slot(o.index, o.component), register_bits(o), bits);
    case operand_kind::integer:
    case operand_kind::float_bits:
    case operand_kind::double_bits:
      return constant(literal(o, type), bits);
    case operand_kind::special_register:
      return special_value(o, bits);
    case operand_kind::symbol:
      return symbol_value(o, bits);
    case operand_kind::sink:
      return temporary(bits);
    default:
      throw unsupported{"operand of this form"};
  }
}

operand_slot function_decoder::result(const ptx::operand& o, int bits, bool is_signed) {
  if (o.kind == operand_kind::sink) return temporary(bits);
  if (o.kind != operand_kind::register_ || is_predicate(o)) {
    throw unsupported{"a register is needed for the result"};
  }
  operand_slot to = register_slot(o.index, o.component);
  int width = register_bits(o);
  if (width == bits) return to;
  if (width < bits) throw unsupported{"the register is narrower than the result"};
  operand_slot slot = temporary(bits);
  extend_afterwards(to, slot, width, bits, is_signed);
  return slot;
}

operand_slot function_decoder::special_value(const ptx::operand& o, int bits) {
  operand_slot slot = temporary(bits);
  emit_special_register(*this, o, slot, bits);
  return slot;
}

operand_slot function_decoder::symbol_value(const ptx::operand& o, int bits) {
  std::uint64_t addend = static_cast<std::uint64_t>(o.value);
  if (o.symbol == symbol_kind::function) {
    return constant(owner_.function_address(o.index) + addend, bits);
  }
  address at = address_of(o, state_space::generic);
  if (at.is_frame_relative && !is_entry()) {
    operand_slot slot = temporary(64);
    emit("local_address.b64", {slot}).immediate = static_cast<std::int64_t>(at.displacement);
    return convert_width(slot, 64, bits);
  }
  return constant(at.displacement, bits);
}

// The displacement is the full address of a symbol, whose base is a constant zero.
function_decoder::address function_decoder::address_of(const ptx::operand& o, state_space space) {
  if (o.kind != operand_kind::address && o.kind != operand_kind::symbol) {
    throw unsupported{"an address is needed"};
  }
  address at;
  at.space = ptx::without_sub_space(space);
  at.displacement = static_cast<std::uint64_t>(o.value);
  bool is_symbol = o.kind == operand_kind::symbol || o.base == ptx::address_base::symbol;
  if (!is_symbol) return register_address(o, at);
  at.base = constant(0, 64);
  bool is_parameter =
      o.symbol == symbol_kind::parameter || o.symbol == symbol_kind::return_parameter;
  return is_parameter ? parameter_address(o, at) : variable_address(o, at);
}

function_decoder::address function_decoder::register_address(const ptx::operand& o, address at) {
  switch (o.base) {
    case ptx::address_base::register_: {
      if (is_predicate_register(o.index)) throw unsupported{"a predicate as an address"};
      at.base = register_slot(o.index, o.component);
      int bits = ptx::info(source_.registers[o.index].type).bits;
      at.is_narrow = bits == 32 && at.space == state_space::shared;
      if (!at.is_narrow) at.base = convert_width(at.base, bits, 64);
      return at;
    }
    case ptx::address_base::none:
      if (at.space == state_space::param) throw unsupported{"an absolute address of a parameter"};
      at.base = constant(0, 64);
      return at;
    default:
      throw unsupported{"this base of an address"};
  }
}

// Kernel parameters share one block. Each parameter of a called function is a separate variable.
function_decoder::address function_decoder::parameter_address(const ptx::operand& o,
                                                              address at) const {
  const ptx::variable& v = frame_variable(o.symbol, o.index);
  at.space = state_space::param;
  std::uint64_t block = 0;
  if (parameters_in_frame_) {
    at.is_frame_relative = true;
    at.first = frame_offset(o.symbol, o.index);
    block = out_.parameter_block;
  } else {
    at.first = v.offset;
  }
  at.displacement += at.first;
  at.last = at.first + v.size;
  if (is_entry()) {
    at.first = block;
    at.last = block + source_.parameter_bytes;
  }
  return at;
}

function_decoder::address function_decoder::variable_address(const ptx::operand& o,
                                                             address at) const {
  const ptx::variable* v = nullptr;
  if (o.symbol == symbol_kind::module_variable) v = &owner_.source->variables[o.index];
  if (o.symbol == symbol_kind::local_variable) v = &source_.variables[o.index];
  if (!v) throw unsupported{"the symbol '" + std::string(o.name) + "' has no address here"};
  at.space = ptx::without_sub_space(v->space);
  switch (at.space) {
    case state_space::shared:
      at.displacement += layout_.shared_offsets.at(v);
      break;
    case state_space::local:
    case state_space::param: {
      std::uint64_t offset = frame_offset(o.symbol, o.index);
      at.is_frame_relative = true;
      at.displacement += offset;
      if (at.space == state_space::local) break;
      at.first = offset;
      at.last = offset + v->size;
      break;
    }
    case state_space::global:
    case state_space::const_:
      at.displacement += owner_.address_of(*v);
      break;
    default:
      throw unsupported{"a variable of this state space"};
  }
  return at;
}

}  // namespace halfwarp::emulator::exec
