// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma: D = A * B + D in tensor memory, in tiles of 16 x 8 with the arithmetic of mma.
//
// The addition of all products of an instruction in one step is documented, not measured.
#include "emulator/exec/tensor/tensor_product.hpp"

#include <cmath>
#include <cstring>
#include <memory>

#include "emulator/exec/access.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/matrix/product.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/tensor/tensor_descriptor.hpp"
#include "emulator/exec/tensor/tensor_instructions.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::scalar_type;

constexpr int a_words = 8;          // of a row of A: 32 bytes
constexpr int rows_per_scale = 32;  // a column of tensor memory has the scales of 32 rows

// A product that a thread started, with the values of its operands.
struct started_product {
  const tensor_site* site = nullptr;
  tensor_product form;
  fast_multiply fast = nullptr;
  std::vector<block_state*> blocks;
  std::uint64_t a = 0, b = 0;  // descriptors, or A in tensor memory
  tensor_address d, scale_a, scale_b, metadata;
  std::uint64_t zero_columns = 0;
  bool adds_d = false;
  std::array<std::uint32_t, 8> disabled{};  // lanes of D, of both blocks

  int d_columns() const { return form.columns / form.folds; }
  // 64 rows without folds use one half of the lanes of each warp.
  bool uses_half() const { return form.block_rows == 64 && form.folds == 1; }
  // Returns the lane of a row of a block, for a column of D.
  int lane_of(int row, int column) const {
    if (uses_half()) return row % 16 + lanes_of_warp * (row / 16);
    return row + column / d_columns() * form.block_rows;
  }
};

using tile_register = std::array<std::uint32_t, warp_size>;
using a_tile = std::array<tile_register, 4>;
using b_tile = std::array<tile_register, 4>;  // two for a dense A

shared_view memory_of(const block_state& block) {
  return {const_cast<block_state&>(block).shared.data(), block.launch->shared_bytes};
}

// Elements below 8 bits lie in units of 16 bytes with padding.
void expand(scalar_type type, int width, tile_register& words) {
  const int bits = ptx::info(type).bits;
  if (bits >= width) return;
  for (int n = 0; n < 8; ++n) {
    expand_unit(reinterpret_cast<std::uint8_t*>(words.data() + 4 * n), bits, bits == 4 ? 2 : 0);
  }
}

bool read_shared(shared_operand& matrix, const block_state& block, int first, int register_number,
                 int width, tile_register& words) {
  return matrix.read(memory_of(block), first, register_number * 128 / width, words.data());
}

// A in tensor memory has the rows in the lanes of D. Its bytes with 6 bits have them in the middle.
void read_tensor_a(const started_product& p, tensor_memory& memory, int row, int column,
                   a_tile& a) {
  const auto at = tensor_address::from(static_cast<std::uint32_t>(p.a));
  const bool has_6_bits = ptx::info(p.form.a_type).bits == 6;
  for (int n = 0; n < 4; ++n) {
    for (int l = 0; l < warp_size; ++l) {
      const int line = p.lane_of(row + 8 * (n & 1) + l / 4, column) + at.lane;
      const std::uint32_t word = memory.at(line, at.column + 4 * (n >> 1) + l % 4);
      a[static_cast<std::size_t>(n)][static_cast<std::size_t>(l)] =
          has_6_bits ? word >> 1 & 0x3f3f'3f3f : word;
    }
  }
}

bool read_a(const started_product& p, block_state& block, int row, int column, a_tile& a) {
  if (p.site->has_tensor_a) {
    read_tensor_a(p, *block.tensors, row, column, a);
    return true;
  }
  shared_operand matrix{tensor_layout(p.a, p.form.width, p.form.transposes_a)};
  for (int n = 0; n < 4; ++n) {
    tile_register& words = a[static_cast<std::size_t>(n)];
    if (!read_shared(matrix, block, row + 8 * (n & 1), n >> 1, p.form.width, words)) return false;
    expand(p.form.a_type, p.form.width, words);
  }
  return true;
}

// Returns whether the mask of .ws replaces a column of B by zeros.
bool is_zero_column(const started_product& p, int column) {
  const auto field = [&](int first, int mask) {
    return static_cast<int>(p.zero_columns >> first) & mask;
  };
  if (!field(39, 1)) return false;
  const int part = column / p.d_columns(), zeros = field(40, 255) + 1, used = field(48, 255) + 1;
  const int at = (column % p.d_columns() + field(8 * part, 255)) % (zeros + used);
  return field(32 + part, 1) ? at < zeros : at >= used;
}

void clear_columns(const started_product& p, int first, b_tile& tile) {
  for (int n = 0; n < product_columns; ++n) {
    if (!is_zero_column(p, first + n)) continue;
    for (tile_register& words : tile) std::memset(words.data() + 4 * n, 0, 16);
  }
}

// Reads all columns of B. Each block of a pair has half of them.
bool read_b(const started_product& p, std::vector<b_tile>& tiles) {
  shared_operand matrix{tensor_layout(p.b, p.form.width, p.form.transposes_b)};
  const int per_block = p.form.columns / static_cast<int>(p.blocks.size());
  const int shift = static_cast<int>(p.zero_columns >> 56 & 63);
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    const int column = product_columns * static_cast<int>(tile);
    const block_state& block = *p.blocks[static_cast<std::size_t>(column / per_block)];
    for (int n = 0; n < (p.site->is_sparse ? 4 : 2); ++n) {
      tile_register& words = tiles[tile][static_cast<std::size_t>(n)];
      const int line = column % per_block + shift;
      if (!read_shared(matrix, block, line, n, p.form.width, words)) return false;
      expand(p.form.b_type, p.form.width, words);
    }
    clear_columns(p, column, tiles[tile]);
  }
  return true;
}

matrix_site site_of(const started_product& p) {
  const tensor_product& form = p.form;
  matrix_site site;
  site.a_type = form.a_type;
  site.b_type = form.b_type;
  site.c_type = site.d_type = form.d_type;
  site.width = static_cast<std::uint8_t>(form.width);
  site.depth = static_cast<std::uint16_t>(32 * a_words / form.width);
  site.is_saturating = form.is_saturating;
  site.negates_a = form.negates_a;
  site.negates_b = form.negates_b;
  site.a_count = 4;
  site.c_count = site.d_count = form.d_type == scalar_type::f16 ? 2 : 4;
  site.b_count = 2;
  if (p.site->is_sparse) {
    site.is_sparse = site.may_descend = true;
    site.b_count = 4;
    site.depth *= 2;
  }
  site.scales.vector = static_cast<std::uint8_t>(p.site->vector);
  site.scales.type = form.scale_type;
  site.scales.byte_a = static_cast<std::uint8_t>(form.scale_byte_a);
  site.scales.byte_b = static_cast<std::uint8_t>(form.scale_byte_b);
  return site;
}

// Scales of a tile, where mma has them. Each quarter of the lanes has its copy of the scales.
void read_scales(const started_product& p, tensor_memory& memory, int row, int column,
                 tile_register& a, tile_register& b) {
  const int quarter = p.lane_of(row, column) / lanes_of_warp * lanes_of_warp;
  for (int n = 0; n < product_rows; ++n) {
    const int line = row + n;
    a[static_cast<std::size_t>(4 * (n & 7) + (n >> 3))] =
        memory.at(quarter + line % rows_per_scale, p.scale_a.column + line / rows_per_scale);
  }
  for (int n = 0; n < product_columns; ++n) {
    const int line = column % p.d_columns() + n;
    b[static_cast<std::size_t>(4 * n)] =
        memory.at(quarter + line % rows_per_scale, p.scale_b.column + line / rows_per_scale);
  }
}

// Reads the metadata of a tile, where mma.sp has them.
void read_metadata(const started_product& p, tensor_memory& memory, int row, tile_register& words) {
  const bool has_row_in_lane = p.form.width < 16;  // else two lanes have two rows each
  for (int n = 0; n < 8; ++n) {
    for (int t = 0; t < 4; ++t) {
      const int line = p.lane_of(row, 0) + n + 8 * (has_row_in_lane ? t & 1 : t);
      const int column = has_row_in_lane ? t >> 1 : 0;
      if (!has_row_in_lane && t > 1) continue;
      words[static_cast<std::size_t>(4 * n + t)] =
          memory.at(p.metadata.lane + line, p.metadata.column + column);
    }
  }
}

// Returns an element of D divided by a power of two.
std::uint32_t shifted(std::uint32_t word, int shift, bool is_half) {
  if (shift == 0) return word;
  if (is_half) {
    const float half = baseline::half::to_float(static_cast<std::uint16_t>(word));
    return baseline::rounded_to<baseline::half>(std::ldexp(double{half}, -shift),
                                                baseline::to_nearest);
  }
  float value;
  std::memcpy(&value, &word, sizeof value);
  value = std::ldexp(value, -shift);
  std::memcpy(&word, &value, sizeof value);
  return word;
}

// Visits the elements of a tile of D: the register, the lane of the fragment and the place.
template <class Visit>
void for_each_element(const started_product& p, int row, int column, Visit&& visit) {
  for (int n = 0; n < 4; ++n) {
    for (int l = 0; l < warp_size; ++l) {
      const int lane = p.d.lane + p.lane_of(row + 8 * (n >> 1) + l / 4, column);
      const int place = p.d.column + column % p.d_columns() + 2 * (l % 4) + (n & 1);
      visit(n, l, tensor_address{lane, place});
    }
  }
}

void multiply_tile(const started_product& p, const matrix_site& site, std::size_t number, int row,
                   int column, const a_tile& a, const b_tile& b) {
  tensor_memory& memory = *p.blocks[number]->tensors;
  alignas(64) std::uint32_t c[4][warp_size] = {};
  alignas(64) product_results d;
  alignas(64) tile_register scale_a{}, scale_b{}, metadata{};
  const bool is_half = p.form.d_type == scalar_type::f16;  // two elements in a register
  if (p.adds_d) {
    for_each_element(p, row, column, [&](int n, int l, tensor_address at) {
      const std::uint32_t old = shifted(memory.at(at.lane, at.column), p.site->d_shift, is_half);
      if (is_half) {
        c[n >> 1][l] |= (old & 0xffff) << 16 * (n & 1);
      } else {
        c[n][l] = old;
      }
    });
  }
  product_sources from{};
  for (std::size_t n = 0; n < 4; ++n) {
    from.a[n] = a[n].data();
    from.c[n] = c[n];
    from.b[n] = b[n].data();
  }
  if (site.is_sparse) {
    read_metadata(p, memory, row, metadata);
    from.metadata = metadata.data();
  }
  if (site.scales.vector) {
    read_scales(p, memory, row, column, scale_a, scale_b);
    from.scale_a = scale_a.data();
    from.scale_b = scale_b.data();
  }
  if (!p.fast || !p.fast(site, from, d)) multiply(site, from, d);
  for_each_element(p, row, column, [&](int n, int l, tensor_address at) {
    const std::uint32_t mask = p.disabled[4 * number + static_cast<std::size_t>(at.lane) / 32];
    if (mask >> at.lane % 32 & 1) return;
    memory.at(at.lane, at.column) = is_half ? d[n >> 1][l] >> 16 * (n & 1) & 0xffff : d[n][l];
  });
}

// Multiplies, or only checks that all operands are inside of shared memory.
bool run(const started_product& p, bool is_check) {
  std::vector<b_tile> b(static_cast<std::size_t>(p.form.columns / product_columns));
  if (!read_b(p, b)) return false;
  const matrix_site site = site_of(p);
  for (std::size_t number = 0; number < p.blocks.size(); ++number) {
    for (int row = 0; row < p.form.block_rows; row += product_rows) {
      a_tile a;
      if (!read_a(p, *p.blocks[number], row, 0, a)) return false;
      for (std::size_t tile = 0; !is_check && tile < b.size(); ++tile) {
        const int column = product_columns * static_cast<int>(tile);
        const bool is_next_part = p.site->has_tensor_a && column % p.d_columns() == 0;
        if (is_next_part) read_a(p, *p.blocks[number], row, column, a);
        multiply_tile(p, site, number, row, column, a, b[tile]);
      }
    }
  }
  return true;
}

[[noreturn]] void raise_descriptor(warp& w, const instruction& instr, int lane, const char* name,
                                   const std::string& problem) {
  raise_tensor_fault(w, instr, lane, "the descriptor of " + std::string{name} + ": " + problem,
                     "build it as the PTX manual states for tcgen05.mma");
}

// Checks the ranges in tensor memory. Returns the range of D.
tensor_range checked_ranges(warp& w, const instruction& instr, int lane, const started_product& p) {
  const int lanes = p.uses_half() ? tensor_lanes - 16 : tensor_lanes;
  const tensor_range d{p.d.lane, lanes, p.d.column, p.d_columns()};
  for (block_state* block : p.blocks) {
    require_range(w, instr, lane, *block, d, {tensor_use::load, tensor_use::store});
    const auto require = [&](int first_lane, int count, int column, int columns) {
      require_range(w, instr, lane, *block, {first_lane, count, column, columns},
                    {tensor_use::store});
    };
    if (p.site->has_tensor_a) {
      const auto at = tensor_address::from(static_cast<std::uint32_t>(p.a));
      require(at.lane, lanes, at.column, a_words);
    }
    if (p.site->is_sparse) {
      require(p.metadata.lane, lanes, p.metadata.column, p.form.width < 16 ? 2 : 1);
    }
    if (!p.site->vector) continue;
    const auto columns_of = [](int rows) { return (rows + rows_per_scale - 1) / rows_per_scale; };
    require(0, tensor_lanes, p.scale_a.column, columns_of(p.form.block_rows));
    require(0, tensor_lanes, p.scale_b.column, columns_of(p.d_columns()));
  }
  return d;
}

started_product read_operands(warp& w, const instruction& instr, int lane) {
  const tensor_site& site = tensor_of(w, instr);
  const auto word = [&](operand_slot slot) { return w.at<std::uint32_t>(slot)[lane]; };
  started_product p;
  p.site = &site;
  if (std::string problem = read_product(site, word(site.descriptor), p.form); !problem.empty()) {
    raise_descriptor(w, instr, lane, "the instruction", problem);
  }
  p.a = site.has_tensor_a ? word(site.a) : w.at<std::uint64_t>(site.a)[lane];
  p.b = w.at<std::uint64_t>(site.b)[lane];
  const std::string a_problem =
      site.has_tensor_a ? std::string{} : layout_problem(p.a, p.form.transposes_a);
  if (!a_problem.empty()) raise_descriptor(w, instr, lane, "A", a_problem);
  if (std::string problem = layout_problem(p.b, p.form.transposes_b); !problem.empty()) {
    raise_descriptor(w, instr, lane, "B", problem);
  }
  p.d = tensor_address::from(word(site.address));
  p.adds_d = w.predicates[site.adds_d] >> lane & 1;
  if (site.vector) {
    p.scale_a = tensor_address::from(word(site.scale_a));
    p.scale_b = tensor_address::from(word(site.scale_b));
  }
  if (site.is_sparse) p.metadata = tensor_address::from(word(site.metadata));
  if (site.has_zero_columns) p.zero_columns = w.at<std::uint64_t>(site.zero_columns)[lane];
  if (p.zero_columns >> 56 & 7 && p.form.transposes_b) {
    raise_descriptor(w, instr, lane, "zero columns", "its shift splits units of an MN-major B");
  }
  for (std::size_t n = 0; n < site.disabled.size(); ++n) p.disabled[n] = word(site.disabled[n]);
  p.blocks = blocks_of(w, instr, lane);
  return p;
}

void start_product(warp& w, const instruction& instr, int lane, fast_multiply fast) {
  const auto p = std::make_shared<started_product>(read_operands(w, instr, lane));
  // The fast product adds at most 16 floats in 32 bits.
  const bool is_short = p->site->kind == tensor_kind::f16 || p->site->kind == tensor_kind::tf32;
  const bool is_fast = is_short || p->site->kind == tensor_kind::i8;
  p->fast = is_fast && !p->site->is_sparse ? fast : nullptr;
  const tensor_range d = checked_ranges(w, instr, lane, *p);
  if (!run(*p, true)) {
    raise_tensor_fault(w, instr, lane, "a matrix exceeds the shared memory of the block",
                       "compare the start and the strides of the descriptors with its size");
  }
  report::fault problem = describe_fault(w, instr, lane);
  problem.kind = report::fault_kind::tensor_memory;
  start_tensor_work(w, lane, p->blocks, d, [p, problem]() mutable {
    try {
      run(*p, false);
    } catch (const matrix_error& error) {
      problem.detail = "the metadata " + report::hexadecimal(error.metadata) +
                       " of the sparse A name no pair of columns";
      problem.hint = "use the nibbles that the PTX manual lists for tcgen05.mma.sp";
      throw kernel_fault{problem};
    }
  });
}

}  // namespace

void start_tensor_product(warp& w, const instruction& instr, fast_multiply fast) {
  for_each_lane(w.active, [&](int lane) { start_product(w, instr, lane, fast); });
}

}  // namespace halfwarp::emulator::exec
