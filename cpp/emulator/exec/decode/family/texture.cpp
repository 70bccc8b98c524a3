// SPDX-License-Identifier: Apache-2.0
// Decodes instructions on texture and surface objects, whose handle is in a register.
#include <algorithm>
#include <utility>

#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/texture/texture_site.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;
using texture::geometry;

struct shape {
  qualifier word;
  geometry kind;
  bool is_layered;
};
constexpr shape shapes[] = {
    {qualifier::x1d, geometry::line, false},   {qualifier::a1d, geometry::line, true},
    {qualifier::x2d, geometry::plane, false},  {qualifier::a2d, geometry::plane, true},
    {qualifier::x3d, geometry::volume, false}, {qualifier::cube, geometry::cube, false},
    {qualifier::acube, geometry::cube, true},
};

const shape& shape_of(const ptx::mnemonic& m) {
  const auto* const match =
      std::find_if(std::begin(shapes), std::end(shapes), [&](auto& s) { return m.has(s.word); });
  if (match == std::end(shapes)) throw unsupported{"this geometry"};
  return *match;
}

template <class Value, std::size_t Count>
Value select_by_qualifier(const ptx::mnemonic& m,
                          const std::pair<qualifier, Value> (&choices)[Count]) {
  for (const auto& [word, value] : choices) {
    if (m.has(word)) return value;
  }
  throw unsupported{"this form of the instruction"};
}

std::span<const ptx::operand> list_of(const function_decoder& d, const ptx::operand& o) {
  return o.kind == operand_kind::vector ? d.elements(o) : std::span{&o, 1};
}

operand_slot handle_of(function_decoder& d, const ptx::operand& o) {
  if (o.base == ptx::address_base::symbol) throw unsupported{"a texture or surface reference"};
  return d.address_of(o, ptx::state_space::generic).base;
}

// [handle, {layer, x, y, z}]
void set_coordinates(function_decoder& d, texture_site& site, const ptx::operand& o) {
  if (o.kind != operand_kind::address_group) throw unsupported{"an object and coordinates"};
  const auto parts = d.elements(o);
  if (parts.size() != 2) throw unsupported{"a sampler apart from the texture"};
  site.handle = handle_of(d, parts[0]);
  const auto coordinates = list_of(d, parts[1]);
  const auto& form = shape_of(d.spelling());
  site.shape = form.kind;
  site.has_layer = form.is_layered;
  const auto axes = static_cast<std::size_t>(texture::coordinates(form.kind));
  std::size_t next = 0;
  if (coordinates.size() < axes + form.is_layered) throw unsupported{"number of coordinates"};
  if (form.is_layered) site.layer = d.value(coordinates[next++], 32);
  const auto type = site.is_index ? scalar_type::s32 : scalar_type::f32;
  for (std::size_t i = 0; i < axes; ++i) site.at[i] = d.value(coordinates[next++], 32, type);
}

void set_results(function_decoder& d, texture_site& site, const ptx::operand& o, int bits) {
  const ptx::operand& values = o.kind == operand_kind::pair ? d.elements(o)[0] : o;
  const auto list = list_of(d, values);
  if (list.size() > site.value.size()) throw unsupported{"number of results"};
  site.values = static_cast<std::uint8_t>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) site.value[i] = d.result(list[i], bits);
}

// d|p: sets p, because all memory of the emulator is resident.
void emit_residency(function_decoder& d, const ptx::operand& o) {
  if (o.kind != operand_kind::pair) return;
  d.emit("set.pred", {d.predicate(d.elements(o)[1])}).immediate = 1;
}

void emit_site(function_decoder& d, handler run, const texture_site& site,
               bool is_surface = false) {
  const std::uint32_t index = d.add_texture(site);
  instruction& instr = d.emit(run, flow::next);
  instr.target = index;
  instr.immediate = is_surface;
}

texture_site fetch_site(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (bits_of(m.type(0)) != 32) throw unsupported{"results of this type"};
  texture_site site;
  site.is_index = m.type(1) == scalar_type::s32;
  if (!site.is_index && m.type(1) != scalar_type::f32)
    throw unsupported{"coordinates of this type"};
  set_coordinates(d, site, d.operand(1));
  return site;
}

void set_surface_form(function_decoder& d, texture_site& site, bool is_store) {
  const ptx::mnemonic& m = d.spelling();
  site.is_index = true;
  site.bounds = select_by_qualifier<surface_bounds>(m, {{qualifier::trap, surface_bounds::trap},
                                                        {qualifier::clamp, surface_bounds::clamp},
                                                        {qualifier::zero, surface_bounds::zero}});
  const int bits = bits_of(m.type(0));
  site.element_bytes = static_cast<std::uint8_t>(bits / 8);
  site.register_bytes = static_cast<std::uint8_t>(std::max(bits, 16) / 8);
  set_coordinates(d, site, d.operand(is_store ? 0 : 1));
}

void set_stored_values(function_decoder& d, texture_site& site) {
  const auto list = list_of(d, d.operand(1));
  if (list.size() > site.value.size()) throw unsupported{"number of values"};
  site.values = static_cast<std::uint8_t>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    site.value[i] = d.value(list[i], site.register_bytes * 8, d.spelling().type(0));
  }
}

}  // namespace

// tex{.base,.level,.grad}.GEOMETRY.v4.DTYPE.CTYPE d{|p}, [t, {x, y}] {, level | , dx, dy}
void decode_tex(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  texture_site site = fetch_site(d);
  site.has_level = m.has(qualifier::level);
  site.has_gradient = m.has(qualifier::grad);
  const std::size_t expected = site.has_gradient ? 4 : site.has_level ? 3 : 2;
  if (d.operands().size() != expected) throw unsupported{"an offset, or a depth to compare with"};
  if (site.has_level) {
    site.level = d.value(d.operand(2), 32, site.is_index ? scalar_type::s32 : scalar_type::f32);
  }
  const auto axes = static_cast<std::size_t>(texture::coordinates(site.shape));
  for (std::size_t i = 0; site.has_gradient && i < 2 * axes; ++i) {
    const auto steps = list_of(d, d.operand(i < axes ? 2 : 3));
    if (steps.size() < axes) throw unsupported{"number of derivatives"};
    site.gradient[i] = d.value(steps[i % axes], 32, scalar_type::f32);
  }
  set_results(d, site, d.operand(0), 32);
  emit_site(d, &run_texture_fetch, site);
  emit_residency(d, d.operand(0));
}

void decode_tld4(function_decoder& d) {
  texture_site site = fetch_site(d);
  site.component = select_by_qualifier<std::uint8_t>(
      d.spelling(), {{qualifier::r, 0}, {qualifier::g, 1}, {qualifier::b, 2}, {qualifier::a, 3}});
  set_results(d, site, d.operand(0), 32);
  emit_site(d, &run_texture_gather, site);
  emit_residency(d, d.operand(0));
}

void decode_txq(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  texture_site site;
  site.query = select_by_qualifier<texture_query>(
      m, {{qualifier::width, texture_query::width},
          {qualifier::height, texture_query::height},
          {qualifier::depth, texture_query::depth},
          {qualifier::array_size, texture_query::array_size},
          {qualifier::channel_data_type, texture_query::channel_data_type},
          {qualifier::channel_order, texture_query::channel_order},
          {qualifier::normalized_coords, texture_query::normalized_coords},
          {qualifier::num_mipmap_levels, texture_query::num_mipmap_levels}});
  site.handle = handle_of(d, d.operand(1));
  site.has_level = m.has(qualifier::level);
  if (site.has_level) site.level = d.value(d.operand(2), 32);
  site.values = 1;
  site.value[0] = d.result(d.operand(0), 32);
  emit_site(d, &run_texture_query, site, m.opcode == ptx::opcode::suq);
}

void decode_suld(function_decoder& d) {
  texture_site site;
  set_surface_form(d, site, false);
  set_results(d, site, d.operand(0), site.register_bytes * 8);
  emit_site(d, &run_surface_load, site);
  emit_residency(d, d.operand(0));
}

void decode_sust(function_decoder& d) {
  texture_site site;
  set_surface_form(d, site, true);
  set_stored_values(d, site);
  emit_site(d, &run_surface_store, site);
}

void decode_sured(function_decoder& d) {
  texture_site site;
  set_surface_form(d, site, true);
  const ptx::mnemonic& m = d.spelling();
  site.operation =
      select_by_qualifier<surface_operation>(m, {{qualifier::add, surface_operation::add},
                                                 {qualifier::min, surface_operation::min},
                                                 {qualifier::max, surface_operation::max},
                                                 {qualifier::and_, surface_operation::and_},
                                                 {qualifier::or_, surface_operation::or_}});
  site.is_signed = ptx::is_signed(m.type(0));
  set_stored_values(d, site);
  emit_site(d, &run_surface_reduce, site);
}

}  // namespace halfwarp::emulator::exec
