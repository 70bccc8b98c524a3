// SPDX-License-Identifier: Apache-2.0
// Operands of a texture or surface instruction, which exceed the operands of an instruction.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/exec/instruction.hpp"
#include "emulator/texture/sampler.hpp"

namespace halfwarp::emulator::exec {

enum class surface_bounds : std::uint8_t { trap, clamp, zero };
enum class surface_operation : std::uint8_t { none, add, min, max, and_, or_ };
enum class texture_query : std::uint8_t {
  width,
  height,
  depth,
  array_size,
  channel_data_type,
  channel_order,
  normalized_coords,
  num_mipmap_levels,
};

struct texture_site {
  texture::geometry shape = texture::geometry::line;
  bool is_index = false;  // coordinates are 32-bit integers, else floats
  bool has_layer = false, has_level = false, has_gradient = false;
  bool is_signed = false;           // of a reduction
  std::uint8_t component = 0;       // of tld4
  std::uint8_t element_bytes = 4;   // of a surface
  std::uint8_t register_bytes = 4;  // of each value
  std::uint8_t values = 4;
  surface_bounds bounds = surface_bounds::trap;
  surface_operation operation = surface_operation::none;
  texture_query query = texture_query::width;

  operand_slot handle = 0;  // 64 bits
  operand_slot layer = 0, level = 0;
  std::array<operand_slot, 3> at{};
  std::array<operand_slot, 6> gradient{};
  std::array<operand_slot, 4> value{};  // results or stored values
};

// Handlers. The `target` of the instruction is the index of the site in function_code::textures.
void run_texture_fetch(warp& w, const instruction& instr);
void run_texture_gather(warp& w, const instruction& instr);
void run_texture_query(warp& w, const instruction& instr);
void run_surface_load(warp& w, const instruction& instr);
void run_surface_store(warp& w, const instruction& instr);
void run_surface_reduce(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
