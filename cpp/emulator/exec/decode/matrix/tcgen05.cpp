// SPDX-License-Identifier: Apache-2.0
// Decodes tcgen05: tensor memory, and the products in it.
#include <algorithm>
#include <iterator>

#include "emulator/exec/decode/matrix/matrix.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/tensor/tensor_instructions.hpp"
#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::scalar_type;
using ptx::state_space;
using q = ptx::qualifier;

// Returns the slot of an address in tensor memory, 32 bits wide.
operand_slot tensor_address_of(function_decoder& d, const ptx::operand& o) {
  const function_decoder::address at = d.address_of(o, state_space::shared);
  if (!at.is_narrow) throw unsupported{"an address of tensor memory that has not 32 bits"};
  return emit_whole_address(d, at);
}

bool is_for_pair(const ptx::mnemonic& m) {
  if (m.has(q::cta_group_1) == m.has(q::cta_group_2)) throw unsupported{"no .cta_group"};
  return m.has(q::cta_group_2);
}

instruction& emit_site(function_decoder& d, handler run, const tensor_site& site) {
  const std::uint32_t index = d.add_tensor(site);
  instruction& instr = d.emit(run, flow::next);
  instr.target = index;
  return instr;
}

// tcgen05.{alloc,dealloc,relinquish_alloc_permit}.cta_group.sync.aligned{.b32 address, columns}
void decode_allocation(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  is_for_pair(m);
  if (m.has(q::relinquish_alloc_permit)) return emit_together(d, &run_relinquish_tensor);
  const bool is_new = m.has(q::alloc);
  const operand_slot at = is_new ? emit_shared_offset(d, d.operand(0), m.space(0))
                                 : d.value(d.operand(0), 32, scalar_type::u32);
  const operand_slot columns = d.value(d.operand(1), 32, scalar_type::u32);
  emit_together(d, is_new ? &run_allocate_tensor : &run_release_tensor);
  d.last().operand[0] = at;
  d.last().operand[1] = columns;
}

// A shape of a load or store: the registers of .x1, and the largest number of them.
struct shape_entry {
  q word;
  tensor_shape shape;
  std::size_t registers, most;
};
constexpr shape_entry shapes[] = {
    {q::x32x32b, tensor_shape::x32x32b, 1, 128},     {q::x16x64b, tensor_shape::x16x64b, 1, 128},
    {q::x16x128b, tensor_shape::x16x128b, 2, 64},    {q::x16x256b, tensor_shape::x16x256b, 4, 32},
    {q::x16x32bx2, tensor_shape::x16x32bx2, 1, 128},
};

std::size_t count_of(const ptx::mnemonic& m) {
  constexpr std::pair<q, std::size_t> counts[] = {{q::x1, 1},   {q::x2, 2},    {q::x4, 4},
                                                  {q::x8, 8},   {q::x16, 16},  {q::x32, 32},
                                                  {q::x64, 64}, {q::x128, 128}};
  for (auto [word, count] : counts) {
    if (m.has(word)) return count;
  }
  throw unsupported{"no number of repetitions"};
}

// Sets the shape; returns the number of registers.
std::size_t set_shape(const ptx::mnemonic& m, tensor_site& site) {
  const auto* const entry = std::find_if(std::begin(shapes), std::end(shapes),
                                         [&](const shape_entry& each) { return m.has(each.word); });
  if (entry == std::end(shapes)) throw unsupported{"no shape"};
  const std::size_t count = count_of(m);
  if (count > entry->most) throw unsupported{"this number of repetitions with this shape"};
  site.shape = entry->shape;
  site.is_packed = m.has(q::pack_16b) || m.has(q::unpack_16b);
  return count * entry->registers;
}

bool ends_path(ptx::opcode name) {
  using enum ptx::opcode;
  return name == bra || name == brx || name == ret || name == ptx::opcode::exit || name == call;
}

// Returns the first instruction of the path that reads a result before the wait. A copy by mov is
// no use, since compilers move it.
std::uint32_t early_reader(const function_decoder& d) {
  const ptx::module& owner = *d.owner().source;
  const ptx::function& f = d.source();
  ptx::register_access access;
  ptx::find_register_access(owner, f, f.instructions[d.source_index()], access);
  std::vector<std::uint32_t> results = access.writes;
  for (std::uint32_t n = d.source_index() + 1; n < f.instructions.size(); ++n) {
    const ptx::instruction& each = f.instructions[n];
    const ptx::mnemonic& m = owner.mnemonic_of(each);
    if (m.has(q::wait_ld) || ends_path(m.opcode)) break;
    ptx::find_register_access(owner, f, each, access);
    const bool reads = std::ranges::any_of(access.reads, [&](std::uint32_t index) {
      return std::ranges::find(results, index) != results.end();
    });
    if (reads && m.opcode != ptx::opcode::mov) return n;
    if (reads) results.insert(results.end(), access.writes.begin(), access.writes.end());
    if (reads || each.guard != ptx::no_index) continue;
    for (std::uint32_t index : access.writes) std::erase(results, index);
  }
  return ptx::no_index;
}

// .OPERATION{.abs}{.NaN}.TYPE
void set_reduction(function_decoder& d, tensor_site& site) {
  const ptx::mnemonic& m = d.spelling();
  site.reduced = m.type(0);
  site.is_highest = m.has(q::max);
  site.is_absolute = m.has(q::abs);
  site.keeps_nan = m.has(q::NaN);
  site.reduction = d.result(d.operand(1), 32);
}

// tcgen05.ld{.red}.sync.aligned.SHAPE.xN{.pack::16b}.b32, tcgen05.st...
// Operands of ld: registers{, reduction}, [address]{, distance}; of st: [address]{, distance},
// registers.
void decode_access(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  tensor_site site;
  const std::size_t count = set_shape(m, site);
  const bool is_load = m.has(q::ld), has_distance = site.shape == tensor_shape::x16x32bx2;
  const bool is_reduced = m.has(q::red);
  const std::size_t address = is_reduced ? 2 : is_load ? 1 : 0;
  if (d.operands().size() != 2u + has_distance + is_reduced) {
    throw unsupported{"number of operands"};
  }
  if (has_distance) {
    const ptx::operand& distance = d.operand(address + 1);
    if (distance.kind != operand_kind::integer) throw unsupported{"a distance that varies"};
    site.distance = static_cast<std::int32_t>(distance.value);
  }
  const ptx::operand& registers = d.operand(is_load ? 0 : d.operands().size() - 1);
  site.address = tensor_address_of(d, d.operand(address));
  for (const ptx::operand& o : require_registers(d, registers, count)) {
    site.registers.push_back(is_load ? d.result(o, 32) : d.value(o, 32));
  }
  if (is_reduced) set_reduction(d, site);
  if (is_load) site.early_reader = early_reader(d);
  emit_together(d, is_load ? &run_load_tensor : &run_store_tensor, d.add_tensor(site));
}

// tcgen05.cp.cta_group.SHAPE{.MULTICAST}{.b8x16.FORMAT} [address], descriptor
void decode_copy(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  tensor_site site;
  site.is_pair = is_for_pair(m);
  if (m.has(q::x64x128b)) {
    if (m.has(q::warpx2_01_23) == m.has(q::warpx2_02_13)) throw unsupported{"no .warpx2"};
    site.rows = m.has(q::warpx2_01_23) ? tensor_rows::pairs_01_23 : tensor_rows::pairs_02_13;
  } else if (m.has(q::x32x128b)) {
    if (!m.has(q::warpx4)) throw unsupported{"no .warpx4"};
    site.rows = tensor_rows::each_32;
  } else if (!m.has(q::x128x128b) && !m.has(q::x128x256b)) {
    throw unsupported{"a copy of this shape"};
  }
  site.units = m.has(q::x128x256b) ? 2 : 1;
  if (m.type_count) {
    site.element_bits = m.type(1) == scalar_type::b6x16_p32 ? 6 : 4;
    const bool is_known = m.type(0) == scalar_type::b8x16 &&
                          (site.element_bits == 6 || m.type(1) == scalar_type::b4x16_p64);
    if (!is_known) throw unsupported{"a copy of these formats"};
  }
  site.address = tensor_address_of(d, d.operand(0));
  site.b = d.value(d.operand(1), 64);
  emit_site(d, &run_copy_to_tensor, site);
}

// tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64
void decode_commit(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  tensor_site site;
  is_for_pair(m);
  site.has_mask = m.has(q::multicast_cluster);
  if (d.operands().size() != (site.has_mask ? 2u : 1u) || !m.has(q::mbarrier_arrive_one)) {
    throw unsupported{"this form of tcgen05.commit"};
  }
  site.barrier = emit_shared_offset(d, d.operand(0), m.space(0));
  if (site.has_mask) site.mask = d.value(d.operand(1), 16, scalar_type::u16);
  emit_site(d, &run_commit_tensor, site);
}

struct kind_entry {
  q word;
  tensor_kind kind;
  q scale;     // a word of its scales, or unknown
  int vector;  // scales of a row; 0: none
};
constexpr kind_entry kinds[] = {
    {q::kind_f16, tensor_kind::f16, q::unknown, 0},
    {q::kind_tf32, tensor_kind::tf32, q::unknown, 0},
    {q::kind_f8f6f4, tensor_kind::f8f6f4, q::unknown, 0},
    {q::kind_i8, tensor_kind::i8, q::unknown, 0},
    {q::kind_mxf8f6f4, tensor_kind::mxf8f6f4, q::unknown, 1},
    {q::kind_mxf4, tensor_kind::mxf4, q::unknown, 2},
    {q::kind_mxf4nvf4, tensor_kind::mxf4nvf4, q::scale_vec_2X, 2},
    {q::kind_mxf4nvf4, tensor_kind::mxf4nvf4, q::block32, 2},
    {q::kind_mxf4nvf4, tensor_kind::mxf4nvf4, q::scale_vec_4X, 4},
    {q::kind_mxf4nvf4, tensor_kind::mxf4nvf4, q::block16, 4},
};

void set_kind(const ptx::mnemonic& m, tensor_site& site) {
  for (const kind_entry& each : kinds) {
    if (!m.has(each.word) || (each.scale != q::unknown && !m.has(each.scale))) continue;
    if (m.has(q::block_scale) != (each.vector != 0)) throw unsupported{".block_scale"};
    site.kind = each.kind;
    site.vector = each.vector;
    return;
  }
  throw unsupported{"a product of this kind"};
}

// Sets the operands after the instruction descriptor.
void set_remaining(function_decoder& d, tensor_site& site) {
  std::size_t next = site.is_sparse ? 5 : 4;
  if (site.vector) {
    site.scale_a = tensor_address_of(d, d.operand(next++));
    site.scale_b = tensor_address_of(d, d.operand(next++));
  } else if (!site.is_stationary && d.operand(next).kind == operand_kind::vector) {
    const std::size_t masks = site.is_pair ? 8 : 4;
    for (const ptx::operand& o : require_registers(d, d.operand(next++), masks)) {
      site.disabled.push_back(d.value(o, 32));
    }
  }
  site.adds_d = d.predicate_value(d.operand(next++));
  if (site.is_stationary && next < d.operands().size()) {
    site.zero_columns = d.value(d.operand(next++), 64);
    site.has_zero_columns = true;
  } else if (!site.vector && next < d.operands().size()) {
    const ptx::operand& shift = d.operand(next++);
    if (shift.kind != operand_kind::integer || shift.value < 0 || shift.value > 15) {
      throw unsupported{"a scale of D that is not a constant from 0 to 15"};
    }
    site.d_shift = static_cast<int>(shift.value);
  }
  if (next != d.operands().size()) throw unsupported{"number of operands"};
}

// tcgen05.mma{.ws}{.sp}.cta_group.kind [d], a, b, {[metadata],} descriptor, ...
void decode_product(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  tensor_site site;
  site.is_pair = is_for_pair(m);
  site.is_sparse = m.has(q::sp);
  site.is_stationary = m.has(q::ws);
  set_kind(m, site);
  site.address = tensor_address_of(d, d.operand(0));
  site.has_tensor_a = d.operand(1).kind == operand_kind::address;
  site.a = site.has_tensor_a ? tensor_address_of(d, d.operand(1)) : d.value(d.operand(1), 64);
  site.b = d.value(d.operand(2), 64);
  if (site.is_sparse) site.metadata = tensor_address_of(d, d.operand(3));
  site.descriptor = d.value(d.operand(site.is_sparse ? 4 : 3), 32);
  set_remaining(d, site);
  const bool is_integer = site.kind == tensor_kind::i8;
  emit_site(d, find_handler(is_integer ? "tcgen05.integer" : "tcgen05.float"), site);
}

}  // namespace

// A fence orders what the emulator keeps in the order of the text.
void decode_tcgen05(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(q::mma)) return decode_product(d);
  if (m.has(q::ld) || m.has(q::st)) return decode_access(d);
  if (m.has(q::cp)) return decode_copy(d);
  if (m.has(q::commit)) return decode_commit(d);
  if (m.has(q::wait_ld) || m.has(q::wait_st)) {
    require_aligned(m);
    emit_together(d, &run_wait_tensor);
    const tensor_use use = m.has(q::wait_ld) ? tensor_use::load : tensor_use::store;
    d.last().flags = static_cast<std::uint16_t>(use);
    return;
  }
  if (m.has(q::shift)) {
    tensor_site site;
    site.is_pair = is_for_pair(m);
    site.address = tensor_address_of(d, d.operand(0));
    emit_site(d, &run_shift_tensor, site);
    return;
  }
  if (m.has(q::alloc) || m.has(q::dealloc) || m.has(q::relinquish_alloc_permit)) {
    return decode_allocation(d);
  }
  d.emit("fence");
}

}  // namespace halfwarp::emulator::exec
