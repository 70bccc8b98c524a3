// SPDX-License-Identifier: Apache-2.0
// Decodes bulk copies, tensor copies and asynchronous stores.
#include <algorithm>

#include "emulator/exec/async/bulk_reduce.hpp"
#include "emulator/exec/async/bulk_site.hpp"
#include "emulator/exec/async/bulk_start.hpp"
#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;
using ptx::state_space;

bool is_shared(state_space space) { return ptx::without_sub_space(space) == state_space::shared; }

bulk_direction direction_of(const ptx::mnemonic& m) {
  const bool ends_at_barrier = m.has(qualifier::mbarrier_complete_tx_bytes);
  const bool ends_in_group = m.has(qualifier::bulk_group);
  if (m.has(qualifier::prefetch)) {
    if (m.space(0) != state_space::global || !m.has(qualifier::L2)) {
      throw unsupported{"a prefetch from this space"};
    }
    return bulk_direction::prefetch;
  }
  if (ends_at_barrier && !ends_in_group && is_shared(m.space(0))) {
    if (m.space(1) == state_space::global) return bulk_direction::global_to_shared;
    const bool is_to_cluster = m.space(0) == state_space::shared_cluster;
    if (is_to_cluster && is_shared(m.space(1))) return bulk_direction::shared_to_cluster;
  }
  if (ends_in_group && !ends_at_barrier && m.space(0) == state_space::global &&
      is_shared(m.space(1))) {
    return bulk_direction::shared_to_global;
  }
  throw unsupported{"a bulk copy between these spaces"};
}

qualifier reduction_of(const ptx::mnemonic& m) {
  constexpr qualifier operations[] = {qualifier::add, qualifier::min, qualifier::max,
                                      qualifier::inc, qualifier::dec, qualifier::and_,
                                      qualifier::or_, qualifier::xor_};
  const auto* const match = std::ranges::find_if(operations, [&](qualifier q) { return m.has(q); });
  if (match == std::end(operations)) throw unsupported{"this reduction"};
  return *match;
}

operand_slot global_address(function_decoder& d, const ptx::operand& o, state_space space) {
  const auto at = d.address_of(o, space);
  if (at.space != space && at.space != state_space::global && at.space != state_space::const_) {
    throw unsupported{"an address in this space"};
  }
  return emit_whole_address(d, at);
}

void emit_site(function_decoder& d, handler run, const bulk_site& site) {
  const std::uint32_t index = d.add_bulk(site);
  instruction& instr = d.emit(run, flow::next);
  instr.target = index;
  instr.flags = access_flag::global_only;
}

// Operands: [to], [from], bytes, then [barrier]{, block mask}, or {byte mask}; {, policy}
void decode_range(function_decoder& d, bulk_site& site) {
  const ptx::mnemonic& m = d.spelling();
  std::size_t next = 0;
  const bool is_prefetch = site.direction == bulk_direction::prefetch;
  const bool is_to_global = site.direction == bulk_direction::shared_to_global;
  const bool is_from_global = is_prefetch || site.direction == bulk_direction::global_to_shared;
  if (!is_prefetch) {
    const ptx::operand& to = d.operand(next++);
    site.to = is_to_global ? global_address(d, to, state_space::global)
                           : emit_shared_offset(d, to, m.space(0));
  }
  const ptx::operand& from = d.operand(next++);
  site.from = is_from_global ? global_address(d, from, state_space::global)
                             : emit_shared_offset(d, from, m.space(1));
  site.bytes = d.value(d.operand(next++), 32, scalar_type::u32);
  if (!is_prefetch && !is_to_global) {
    site.barrier = emit_shared_offset(d, d.operand(next++), m.space(0));
    if (m.has(qualifier::multicast_cluster)) site.mask = d.value(d.operand(next++), 32);
    site.has_mask = m.has(qualifier::multicast_cluster);
  }
  if (m.has(qualifier::L2_cache_hint)) d.value(d.operand(next++), 64);
  if (m.has(qualifier::cp_mask)) {
    site.mask = d.value(d.operand(next++), 32);
    site.has_mask = true;
  }
  if (next != d.operands().size()) throw unsupported{"number of operands"};
  emit_site(d, &run_bulk_copy, site);
}

std::uint8_t rank_of(const ptx::mnemonic& m) {
  constexpr qualifier ranks[] = {qualifier::x1d, qualifier::x2d, qualifier::x3d, qualifier::x4d,
                                 qualifier::x5d};
  for (std::uint8_t i = 0; i < 5; ++i) {
    if (m.has(ranks[i])) return static_cast<std::uint8_t>(i + 1);
  }
  throw unsupported{"a tensor copy without a number of dimensions"};
}

tensor_mode mode_of(const ptx::mnemonic& m) {
  if (m.has(qualifier::tile_gather4)) return tensor_mode::gather;
  if (m.has(qualifier::tile_scatter4)) return tensor_mode::scatter;
  if (m.has(qualifier::im2col) || m.has(qualifier::im2col_no_offs)) return tensor_mode::im2col;
  return tensor_mode::tile;
}

// [map, {coordinates}]
void set_map(function_decoder& d, const ptx::operand& o, bulk_site& site) {
  const auto parts = d.elements(o);
  if (o.kind != operand_kind::address_group || parts.size() != 2 ||
      parts[1].kind != operand_kind::vector) {
    throw unsupported{"a tensor copy without map and coordinates"};
  }
  site.map = global_address(d, parts[0], state_space::generic);
  const auto each = d.elements(parts[1]);
  const bool is_rows = site.mode == tensor_mode::gather || site.mode == tensor_mode::scatter;
  if (each.size() != (is_rows ? 5u : site.rank)) throw unsupported{"number of coordinates"};
  for (const ptx::operand& c : each) {
    site.coordinates[site.coordinate_count++] = d.value(c, 32, scalar_type::s32);
  }
}

void set_offsets(function_decoder& d, const ptx::operand& o, bulk_site& site) {
  const auto each = d.elements(o);
  if (o.kind != operand_kind::vector || each.size() + 2 != site.rank) {
    throw unsupported{"number of im2col offsets"};
  }
  for (const ptx::operand& offset : each) {
    site.offsets[site.offset_count++] = d.value(offset, 16, scalar_type::u16);
  }
}

// Loads: [to], [map, {c}], [barrier]{, {offsets}}{, mask}; stores: [map, {c}], [from]; prefetches:
// [map, {c}]{, {offsets}}. All: {, policy}
void decode_tensor(function_decoder& d, bulk_site& site) {
  const ptx::mnemonic& m = d.spelling();
  site.rank = rank_of(m);
  site.mode = mode_of(m);
  std::size_t next = 0;
  const bool is_load = site.direction == bulk_direction::global_to_shared;
  if (site.direction == bulk_direction::shared_to_cluster) {
    throw unsupported{"a tensor copy between these spaces"};
  }
  if (is_load) site.to = emit_shared_offset(d, d.operand(next++), m.space(0));
  set_map(d, d.operand(next++), site);
  if (is_load) site.barrier = emit_shared_offset(d, d.operand(next++), m.space(0));
  if (site.direction == bulk_direction::shared_to_global) {
    site.from = emit_shared_offset(d, d.operand(next++), m.space(1));
  } else if (site.mode == tensor_mode::im2col) {
    set_offsets(d, d.operand(next++), site);
  }
  if (m.has(qualifier::multicast_cluster)) {
    site.mask = d.value(d.operand(next++), 32);
    site.has_mask = true;
  }
  if (m.has(qualifier::L2_cache_hint)) d.value(d.operand(next++), 64);
  if (next != d.operands().size()) throw unsupported{"number of operands"};
  emit_site(d, &run_tensor_copy, site);
}

}  // namespace

void decode_bulk(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::commit_group)) {
    d.emit(&run_commit_bulk, flow::next);
    return;
  }
  if (m.has(qualifier::wait_group)) {
    const ptx::operand& count = d.operand(0);
    if (count.kind != operand_kind::integer || count.value < 0) {
      throw unsupported{"a number of groups that is no constant"};
    }
    d.emit(&run_wait_bulk, flow::next).immediate = count.value;
    return;
  }
  bulk_site site;
  site.direction = direction_of(m);
  if (m.has(qualifier::reduce)) {
    if (site.direction == bulk_direction::global_to_shared) {
      throw unsupported{"a reduction of global memory"};
    }
    site.operation = reduction_of(m);
    if (!m.has(qualifier::tensor)) {
      site.reduce = find_reduction(site.operation, m.type(0));
      if (!site.reduce) throw unsupported{"this reduction of this type"};
    }
  }
  if (m.has(qualifier::tensor)) return decode_tensor(d, site);
  decode_range(d, site);
}

namespace {

// Returns the generic address of an operand in global, shared or generic space.
operand_slot generic_address(function_decoder& d, const ptx::operand& o, state_space space) {
  if (!is_shared(space)) return global_address(d, o, space);
  const operand_slot sum = d.temporary(64);
  d.emit("add.b64",
         {sum, emit_shared_offset(d, o, space), d.constant(d.owner().space->shared_window(), 64)});
  return sum;
}

map_field field_of(const ptx::mnemonic& m) {
  constexpr qualifier names[] = {qualifier::global_address, qualifier::rank,
                                 qualifier::elemtype,       qualifier::interleave_layout,
                                 qualifier::swizzle_mode,   qualifier::fill_mode,
                                 qualifier::box_dim,        qualifier::global_dim,
                                 qualifier::global_stride,  qualifier::element_stride};
  const auto* const match = std::ranges::find_if(names, [&](qualifier q) { return m.has(q); });
  if (match == std::end(names)) throw unsupported{"this field of a tensor map"};
  return static_cast<map_field>(match - std::begin(names));
}

}  // namespace

// tensormap.replace.tile.FIELD{.space}.b1024.TYPE [map], {dimension,} value
// tensormap.cp_fenceproxy.global.shared::cta....sync.aligned [to], [from], 128
void decode_tensormap(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::cp_fenceproxy)) {
    const operand_slot to = generic_address(d, d.operand(0), m.space(0));
    const operand_slot from = generic_address(d, d.operand(1), m.space(1));
    d.emit(&run_publish_map, flow::next).operand = {0, from, 0, 0, to};
    return;
  }
  const map_field field = field_of(m);
  const bool has_dimension = field >= map_field::box_dim;
  if (d.operands().size() != (has_dimension ? 3u : 2u)) throw unsupported{"number of operands"};
  const operand_slot at = generic_address(d, d.operand(0), m.space(0));
  const operand_slot dimension = has_dimension ? d.value(d.operand(1), 32) : d.constant(0, 32);
  const int bits = bits_of(m.type(0));
  operand_slot value = d.value(d.operand(has_dimension ? 2 : 1), bits);
  if (bits == 32) {
    const operand_slot wide = d.temporary(64);
    d.emit("extend.u32.b64", {wide, value});
    value = wide;
  }
  instruction& instr = d.emit(&run_replace_map, flow::next);
  instr.operand = {0, value, dimension, 0, at};
  instr.target = static_cast<std::uint32_t>(field);
}

// clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes
//     {.multicast::cluster::all}.b128 [to], [barrier]
// clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response
// clusterlaunchcontrol.query_cancel.get_first_ctaid{.v4, ::x, ::y, ::z}.b32.b128 d, response
void decode_launch_control(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::try_cancel)) {
    bulk_site site;
    site.is_for_cluster = m.has(qualifier::multicast_cluster_all);
    site.to = emit_shared_offset(d, d.operand(0), state_space::shared);
    site.barrier = emit_shared_offset(d, d.operand(1), state_space::shared);
    d.emit(&run_try_cancel, flow::next).target = d.add_bulk(site);
    return;
  }
  operand_slot words[] = {d.temporary(32), d.temporary(32), d.temporary(32), d.temporary(32)};
  for (int n = 0; n < 2; ++n) {
    d.emit("unpack.b64.b32", {d.half(d.operand(1), n), words[2 * n], words[2 * n + 1]});
  }
  if (m.has(qualifier::is_canceled)) {
    instruction& instr = d.emit(&run_is_canceled, flow::next);
    instr.operand = {static_cast<operand_slot>(d.predicate(d.operand(0))), words[3]};
    return;
  }
  constexpr qualifier axes[] = {qualifier::get_first_ctaid_x, qualifier::get_first_ctaid_y,
                                qualifier::get_first_ctaid_z};
  for (std::size_t n = 0; n < std::size(axes); ++n) {
    if (m.has(axes[n])) d.emit("mov.b32", {d.result(d.operand(0), 32), words[n]});
  }
  if (!m.has(qualifier::get_first_ctaid)) return;
  const auto parts = d.elements(d.operand(0));
  if (parts.size() != 4) throw unsupported{"vector of another length"};
  for (std::size_t n = 0; n < 3; ++n) d.emit("mov.b32", {d.result(parts[n], 32), words[n]});
}

// st.bulk{.weak}{.shared::cta} [to], bytes, 0
void decode_bulk_store(function_decoder& d) {
  const ptx::operand& value = d.operand(2);
  if (value.kind != operand_kind::integer || value.value != 0) throw unsupported{"a value but 0"};
  const operand_slot to = emit_shared_offset(d, d.operand(0), d.spelling().space(0));
  const operand_slot bytes = d.value(d.operand(1), 64, scalar_type::u64);
  d.emit(&run_clear_range, flow::next).operand = {0, bytes, 0, 0, to};
}

// {st,red}.async{.weak}.mbarrier::complete_tx::bytes.shared::cluster{.op}{.vec}.type [a], v, [bar]
void decode_async_store(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const bool is_known = is_shared(m.space(0)) || m.space(0) == state_space::generic;
  if (!m.has(qualifier::mbarrier_complete_tx_bytes) || !is_known) {
    throw unsupported{"an asynchronous store without an mbarrier"};
  }
  const scalar_type type = m.type(0);
  const int bits = bits_of(type);
  if (bits != 32 && bits != 64) throw unsupported{"an asynchronous store of this type"};
  element_operation reduce = nullptr;
  if (m.opcode == ptx::opcode::red) {
    reduce = find_reduction(reduction_of(m), type);
    if (!reduce) throw unsupported{"this reduction of this type"};
  }
  const ptx::operand& from = d.operand(1);
  const auto values = from.kind == operand_kind::vector ? d.elements(from) : std::span{&from, 1};
  if (values.size() != m.vector_width || values.size() > 4) {
    throw unsupported{"vector of another length"};
  }
  std::array<operand_slot, 4> slots{};
  for (std::size_t i = 0; i < values.size(); ++i) slots[i] = d.value(values[i], bits, type);
  const operand_slot to = emit_shared_offset(d, d.operand(0), m.space(0));
  const operand_slot barrier = emit_shared_offset(d, d.operand(2), m.space(0));
  instruction& instr = d.emit(&run_async_store, flow::next);
  instr.operand = {slots[0], slots[1], slots[2], barrier, to};
  instr.target = static_cast<std::uint32_t>(slots[3]);
  instr.flags = static_cast<std::uint16_t>(values.size() | static_cast<unsigned>(bits / 8) << 8);
  instr.immediate = reinterpret_cast<std::int64_t>(reduce);
}

}  // namespace halfwarp::emulator::exec
