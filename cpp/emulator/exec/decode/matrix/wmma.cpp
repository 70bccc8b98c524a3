// SPDX-License-Identifier: Apache-2.0
// Decodes wmma to loads, stores and mma.
//
// The fragments of an H100 consist of fragments of mma. A shape of 16 rows or more is one or two
// products with 16 rows and 8 columns. The shape m8n32 is the transposed product: B in the place
// of A, and A in the place of B.
#include <algorithm>
#include <map>
#include <optional>

#include "emulator/exec/decode/matrix/matrix.hpp"
#include "emulator/exec/matrix/product.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/ptx/matrix_forms.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::scalar_type;
using ptx::state_space;
using q = ptx::qualifier;

// A shape as products of 16 rows, or of 8 if both matrices are small.
struct tiled_shape : ptx::wmma_shape {
  int tile_rows() const { return m == 8 && n == 8 ? 8 : 16; }
  bool is_transposed() const { return n == 32; }
  // Rows and columns of the product, after a transposition.
  int rows() const { return is_transposed() ? n : m; }
  int columns() const { return is_transposed() ? m : n; }
  int row_tiles() const { return rows() / tile_rows(); }
  int column_tiles() const { return columns() / product_columns; }
};

tiled_shape shape_of(const ptx::mnemonic& m) {
  const ptx::wmma_shape* const shape = ptx::find_wmma_shape(m);
  if (!shape) throw unsupported{"wmma without a shape"};
  return {*shape};
}

// The types of A and B that have a shape.
bool has_shape(scalar_type type, q shape) {
  switch (type) {
    case scalar_type::f16:
    case scalar_type::bf16:
    case scalar_type::s8:
    case scalar_type::u8:
      return shape == q::m16n16k16 || shape == q::m32n8k16 || shape == q::m8n32k16;
    case scalar_type::tf32:
      return shape == q::m16n16k8;
    case scalar_type::f64:
      return shape == q::m8n8k4;
    case scalar_type::s4:
    case scalar_type::u4:
      return shape == q::m8n8k32;
    case scalar_type::b1:
      return shape == q::m8n8k128;
    default:
      return false;
  }
}

// The types of C and D that have a shape.
bool has_accumulator(scalar_type type, q shape) {
  switch (type) {
    case scalar_type::f16:
      return has_shape(scalar_type::f16, shape);
    case scalar_type::f32:
      return has_shape(scalar_type::f16, shape) || has_shape(scalar_type::tf32, shape);
    case scalar_type::s32:
      return has_shape(scalar_type::s8, shape) || has_shape(scalar_type::s4, shape) ||
             has_shape(scalar_type::b1, shape);
    case scalar_type::f64:
      return has_shape(scalar_type::f64, shape);
    default:
      return false;
  }
}

// ---- fragments

enum class matrix { a, b, accumulator };

// The fragment of a matrix: registers, each with one or several elements.
struct fragment {
  matrix of;
  const tiled_shape& shape;
  int bits;  // of an element

  int register_bits() const { return bits == 64 ? 64 : 32; }
  int per_register() const { return register_bits() / bits; }
  int elements() const {
    if (of == matrix::accumulator) return shape.m * shape.n;
    return (of == matrix::a ? shape.m : shape.n) * shape.k;
  }
  int unique_registers() const { return elements() * bits / (register_bits() * warp_size); }
  // f16 has 8 registers in each shape, which repeat the elements.
  bool is_repeated() const { return of != matrix::accumulator; }
};

struct element_place {
  int row, column;
};

// Returns the place of an element in the matrix of the product.
element_place product_place(const fragment& f, int n, int e, int lane) {
  const tiled_shape& shape = f.shape;
  const int group = lane >> 2, t = lane & 3, per = f.per_register(), halves = shape.tile_rows() / 8;
  if (f.of == matrix::accumulator) {
    const int per_tile = halves * 2 / per, tile = n / per_tile, i = n % per_tile * per + e;
    const int row = group + 8 * (i >> 1), column = 2 * t + (i & 1);
    const bool is_below = shape.row_tiles() > 1;
    return {row + (is_below ? tile * shape.tile_rows() : 0),
            column + (is_below ? 0 : tile * product_columns)};
  }
  const int k_blocks = shape.k / (4 * per);
  const bool is_left = (f.of == matrix::a) != shape.is_transposed();
  if (!is_left) {
    const int tile = n / k_blocks, block = n % k_blocks;
    return {per * t + e + 4 * per * block, group + product_columns * tile};
  }
  const int tile = n / (halves * k_blocks), r = n % (halves * k_blocks);
  return {group + 8 * (r % halves) + shape.tile_rows() * tile,
          per * t + e + 4 * per * (r / halves)};
}

element_place place_of(const fragment& f, int n, int e, int lane) {
  const element_place at = product_place(f, n, e, lane);
  return f.shape.is_transposed() ? element_place{at.column, at.row} : at;
}

// ---- loads and stores

using lane_values = std::array<std::uint64_t, warp_size>;

// Emits the addresses and accesses of a load or store.
class fragment_access {
 public:
  fragment_access(function_decoder& d, const fragment& f, const ptx::operand& address,
                  const ptx::operand* stride)
      : d_{d}, f_{f} {
    const ptx::mnemonic& m = d.spelling();
    is_column_major_ = m.has(q::col);
    if (is_column_major_ == m.has(q::row)) throw unsupported{"wmma without .row or .col"};
    if (m.space(0) == state_space::shared_cluster) throw unsupported{"shared memory of a cluster"};
    at_ = d.address_of(address, m.space(0));
    if (at_.space == state_space::shared) {
      at_.base = emit_shared_offset(d, address, m.space(0));
      at_.displacement = 0;
      at_.is_narrow = false;
    } else if (at_.space != state_space::global && at_.space != state_space::generic) {
      throw unsupported{"a matrix in this state space"};
    }
    set_stride(stride);
  }

  // Emits all addresses first, because a load may overwrite their registers.
  void load(std::span<const ptx::operand> registers) {
    const std::size_t unique = unique_of(registers);
    std::vector<operand_slot> results;
    for (const ptx::operand& o : registers) results.push_back(d_.result(o, f_.register_bits()));
    find_addresses(unique);
    for (std::size_t n = 0; n < unique; ++n) load(results[n], n);
    for (std::size_t n = unique; n < results.size(); ++n) {
      d_.emit("mov.b" + std::to_string(f_.register_bits()), {results[n], results[n % unique]});
    }
  }

  void store(std::span<const ptx::operand> registers) {
    std::vector<operand_slot> values;
    for (const ptx::operand& o : registers) values.push_back(d_.value(o, f_.register_bits()));
    find_addresses(unique_of(registers));
    for (std::size_t n = 0; n < values.size(); ++n) store(values[n], n);
  }

 private:
  std::size_t unique_of(std::span<const ptx::operand> registers) const {
    const auto unique = static_cast<std::size_t>(f_.unique_registers());
    const bool repeats = f_.is_repeated() && d_.spelling().type(0) == scalar_type::f16;
    if (registers.size() == (repeats ? 8 : unique)) return unique;
    throw unsupported{"a fragment of " + std::to_string(registers.size()) + " registers"};
  }

  void set_stride(const ptx::operand* stride) {
    const tiled_shape& s = f_.shape;
    const int rows = f_.of == matrix::b ? s.k : s.m, columns = f_.of == matrix::a ? s.k : s.n;
    if (!stride) {
      fixed_stride_ = static_cast<std::uint64_t>(is_column_major_ ? rows : columns);
    } else if (stride->kind == ptx::operand_kind::integer) {
      fixed_stride_ = static_cast<std::uint32_t>(stride->value);
    } else {
      stride_bytes_ = d_.temporary(64);
      d_.emit("extend.u32.b64", {stride_bytes_, d_.value(*stride, 32)});
      const auto bits = static_cast<std::uint64_t>(f_.bits);
      d_.emit("mul.lo.b64", {stride_bytes_, stride_bytes_, d_.constant(bits, 64)});
      d_.emit("shr.b64", {stride_bytes_, stride_bytes_, d_.constant(3, 32)});
    }
  }

  // The accesses of a register: one of all elements, or one for each element.
  std::size_t pieces(std::size_t n) const {
    if (f_.per_register() == 1) return 1;
    const element_place first = place(n, 0, 0), second = place(n, 1, 0);
    const bool is_in_order =
        is_column_major_ ? second.column == first.column : second.row == first.row;
    if (is_in_order) return 1;
    if (f_.bits < 8) throw unsupported{"this layout of elements below 8 bits"};
    return static_cast<std::size_t>(f_.per_register());
  }
  element_place place(std::size_t n, std::size_t e, int lane) const {
    return place_of(f_, static_cast<int>(n), static_cast<int>(e), lane);
  }

  void find_addresses(std::size_t registers) {
    for (std::size_t n = 0; n < registers; ++n) {
      for (std::size_t e = 0; e < pieces(n); ++e) addresses_[{n, e}] = address(n, e);
    }
  }

  // Returns the slot of base + major * stride + minor, in bytes.
  operand_slot address(std::size_t n, std::size_t e) {
    lane_values major, minor;
    const auto bits = static_cast<std::uint64_t>(f_.bits);
    for (int lane = 0; lane < warp_size; ++lane) {
      const element_place at = place(n, e, lane);
      const auto row = static_cast<std::uint64_t>(at.row);
      const auto column = static_cast<std::uint64_t>(at.column);
      major[static_cast<std::size_t>(lane)] = is_column_major_ ? column : row;
      minor[static_cast<std::size_t>(lane)] = (is_column_major_ ? row : column) * bits / 8;
    }
    const operand_slot slot = d_.temporary(64);
    if (fixed_stride_) {
      for (std::size_t l = 0; l < minor.size(); ++l) {
        minor[l] += major[l] * *fixed_stride_ * bits / 8;
      }
      d_.emit("add.b64", {slot, at_.base, d_.lane_constants(minor)});
      return slot;
    }
    d_.emit("mad.lo.b64", {slot, stride_bytes_, d_.lane_constants(major), start_of(minor)});
    return slot;
  }

  // Returns the slot of base + offsets. Most registers share few offsets.
  operand_slot start_of(const lane_values& offsets) {
    const auto [entry, is_new] = starts_.try_emplace(offsets, 0);
    if (is_new) {
      entry->second = d_.temporary(64);
      d_.emit("add.b64", {entry->second, at_.base, d_.lane_constants(offsets)});
    }
    return entry->second;
  }

  instruction& emit_access(const char* opcode, operand_slot value, operand_slot address, int bits,
                           int width) {
    const std::string space = at_.space == state_space::shared ? "shared64" : "global";
    instruction& instr = d_.emit(std::string(opcode) + "." + space + ".u" + std::to_string(bits) +
                                 "." + bits_name(width));
    instr.operand[0] = value;
    function_decoder::address at = at_;
    at.base = address;
    set_address(d_, instr, at, 1, bits);
    return instr;
  }

  void load(operand_slot to, std::size_t n) {
    const std::size_t count = pieces(n);
    const int width = f_.register_bits();
    if (count == 1) {
      emit_access("ld", to, addresses_.at({n, 0}), width, width);
      return;
    }
    const operand_slot piece = d_.temporary(32);
    for (std::size_t e = 0; e < count; ++e) {
      emit_access("ld", e ? piece : to, addresses_.at({n, e}), f_.bits, 32);
      if (!e) continue;
      const auto shift = static_cast<std::uint64_t>(f_.bits) * e;
      d_.emit("shl.b32", {piece, piece, d_.constant(shift, 32)});
      d_.emit("or.b32", {to, to, piece});
    }
  }

  void store(operand_slot from, std::size_t n) {
    const std::size_t count = pieces(n);
    const int width = f_.register_bits();
    if (count == 1) {
      emit_access("st", from, addresses_.at({n, 0}), width, width);
      return;
    }
    const operand_slot piece = d_.temporary(32);
    for (std::size_t e = 0; e < count; ++e) {
      const auto shift = static_cast<std::uint64_t>(f_.bits) * e;
      if (e) d_.emit("shr.b32", {piece, from, d_.constant(shift, 32)});
      emit_access("st", e ? piece : from, addresses_.at({n, e}), f_.bits, 32);
    }
  }

  function_decoder& d_;
  const fragment& f_;
  bool is_column_major_ = false;
  function_decoder::address at_;
  std::optional<std::uint64_t> fixed_stride_;  // in elements
  operand_slot stride_bytes_ = 0;              // in bytes, if it is not fixed
  std::map<std::pair<std::size_t, std::size_t>, operand_slot> addresses_;
  std::map<lane_values, operand_slot> starts_;
};

fragment fragment_of(const ptx::mnemonic& m, const tiled_shape& shape, bool is_store) {
  const scalar_type type = m.type(0);
  const bool is_left = m.has(q::a), is_right = m.has(q::b);
  const bool is_accumulator = m.has(is_store ? q::d : q::c);
  if (is_left + is_right + is_accumulator != 1) throw unsupported{"wmma without a matrix"};
  const bool fits =
      is_accumulator ? has_accumulator(type, shape.word) : has_shape(type, shape.word);
  if (!fits || m.type_count != 1) throw unsupported{"wmma of this shape and type"};
  if (!is_accumulator && bits_of(type) < 8 && !m.has(is_left ? q::row : q::col)) {
    throw unsupported{"this layout of elements below 8 bits"};
  }
  return {is_left ? matrix::a : is_right ? matrix::b : matrix::accumulator, shape, bits_of(type)};
}

// wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE{.SPACE}.TYPE r, [p]{, stride} and
// wmma.store.d.sync.aligned.LAYOUT.SHAPE{.SPACE}.TYPE [p], r{, stride}
void decode_access(function_decoder& d, bool is_store) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  const tiled_shape shape = shape_of(m);
  const fragment f = fragment_of(m, shape, is_store);
  const ptx::operand* const stride = d.operands().size() == 3 ? &d.operand(2) : nullptr;
  emit_for_warp(d, &run_whole_warp, {});
  fragment_access access{d, f, d.operand(is_store ? 0 : 1), stride};
  const auto registers = registers_of(d, d.operand(is_store ? 1 : 0));
  if (is_store) return access.store(registers);
  access.load(registers);
}

// ---- products

product_types types_of(const ptx::mnemonic& m) {
  if (m.type_count == 2) return {m.type(0), scalar_type::f16, scalar_type::f16, m.type(1)};
  return {m.type(0), m.type(1), m.type(2), m.type(3)};
}

void require_words(const ptx::mnemonic& m, const product_types& types, q shape) {
  require_aligned(m);
  const bool is_bit = types.a == scalar_type::b1;
  const bool is_half = types.a == scalar_type::f16;
  const bool fits = types.a == types.b && has_shape(types.a, shape) &&
                    has_accumulator(types.d, shape) && has_accumulator(types.c, shape) &&
                    (types.d == types.c || is_half) && (is_half || types.d != scalar_type::f16) &&
                    (types.c == scalar_type::s32) == (bits_of(types.a) < 16) &&
                    (types.d == scalar_type::s32) == (bits_of(types.a) < 16);
  if (!fits) throw unsupported{"wmma of this shape and these types"};
  const auto layouts = layouts_of(m);
  if (bits_of(types.a) < 8 ? layouts != std::vector{q::row, q::col} : layouts.size() != 2) {
    throw unsupported{"wmma with these layouts"};
  }
  const bool may_saturate = types.d == scalar_type::s32 && !is_bit;
  if (m.has(q::satfinite) && !may_saturate) throw unsupported{".satfinite with these types"};
  if (m.has(q::rn) && types.d != scalar_type::f64) throw unsupported{".rn with these types"};
  if (m.has(q::popc) != is_bit || (m.has(q::xor_) || m.has(q::and_)) != is_bit) {
    throw unsupported{"wmma of bits needs .xor.popc or .and.popc, and no other wmma has them"};
  }
}

std::vector<operand_slot> slots_of(function_decoder& d, std::size_t n, const fragment& f,
                                   bool is_half, bool is_result) {
  const auto registers = registers_of(d, d.operand(n));
  const auto unique = static_cast<std::size_t>(f.unique_registers());
  if (registers.size() != (is_half && f.is_repeated() ? 8 : unique)) {
    throw unsupported{"a fragment of " + std::to_string(registers.size()) + " registers"};
  }
  std::vector<operand_slot> slots;
  for (std::size_t i = 0; i < unique; ++i) {
    slots.push_back(is_result ? d.result(registers[i], f.register_bits())
                              : d.value(registers[i], f.register_bits()));
  }
  return slots;
}

std::vector<operand_slot> part_of(const std::vector<operand_slot>& slots, int part, int parts) {
  const std::size_t count = slots.size() / static_cast<std::size_t>(parts);
  const auto first = slots.begin() + static_cast<std::ptrdiff_t>(count) * part;
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

bool overlap(const std::vector<operand_slot>& results, const product_slots& sources) {
  return std::ranges::any_of(results, [&](operand_slot slot) {
    return std::ranges::count(sources.a, slot) || std::ranges::count(sources.b, slot) ||
           std::ranges::count(sources.c, slot);
  });
}

// Emits the product of a tile. An H100 multiplies tf32 in two steps, with half of the columns of A
// each.
void emit_tile(function_decoder& d, const matrix_site& site, const product_slots& slots) {
  const int steps = site.a_type == scalar_type::tf32 ? 2 : 1;
  product_slots part = slots;
  for (int step = 0; step < steps; ++step) {
    matrix_site product = site;
    product.depth = static_cast<std::uint16_t>(site.depth / steps);
    part.a = part_of(slots.a, step, steps);
    part.b = part_of(slots.b, step, steps);
    set_registers(product, part);
    emit_product(d, product);
    part.c = slots.d;
  }
}

// Emits one product for each tile. An early result must not overwrite a source of a later tile.
void emit_tiles(function_decoder& d, const tiled_shape& shape, const matrix_site& site,
                const product_slots& all) {
  const int row_tiles = shape.row_tiles(), column_tiles = shape.column_tiles();
  const int tiles = row_tiles * column_tiles, bits = product_register_bits(site);
  std::vector<std::pair<operand_slot, operand_slot>> moves;
  for (int tile = 0; tile < tiles; ++tile) {
    const bool is_below = row_tiles > 1;
    product_slots slots{part_of(all.a, is_below ? tile : 0, row_tiles),
                        part_of(all.b, is_below ? 0 : tile, column_tiles),
                        part_of(all.c, tile, tiles), part_of(all.d, tile, tiles)};
    product_slots later{all.a, all.b, {}, {}};
    for (int next = tile + 1; next < tiles; ++next) {
      for (operand_slot slot : part_of(all.c, next, tiles)) later.c.push_back(slot);
    }
    const bool is_last = tile + 1 == tiles && site.a_type != scalar_type::tf32;
    if (!is_last && overlap(slots.d, later)) {
      for (operand_slot& slot : slots.d) {
        const operand_slot copy = d.temporary(bits);
        moves.emplace_back(slot, copy);
        slot = copy;
      }
    }
    emit_tile(d, site, slots);
  }
  for (const auto& [to, from] : moves) d.emit("mov." + bits_name(bits), {to, from});
}

// wmma.mma{.OP.popc}.sync.aligned.ALAYOUT.BLAYOUT.SHAPE.DTYPE{.ATYPE.BTYPE}.CTYPE d, a, b, c
void decode_product(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const tiled_shape shape = shape_of(m);
  const product_types types = types_of(m);
  require_words(m, types, shape.word);
  if (d.operands().size() != 4) throw unsupported{"number of operands"};
  matrix_site site = make_product(types, shape.tile_rows(), shape.k);
  site.is_saturating = m.has(q::satfinite);
  if (types.a == scalar_type::b1) {
    site.bits = m.has(q::and_) ? bit_product::and_popc : bit_product::xor_popc;
  }
  const bool is_half = types.a == scalar_type::f16;
  const auto fragment_of = [&](matrix of, scalar_type type) {
    return fragment{of, shape, bits_of(type)};
  };
  product_slots slots{slots_of(d, 1, fragment_of(matrix::a, types.a), is_half, false),
                      slots_of(d, 2, fragment_of(matrix::b, types.b), is_half, false),
                      slots_of(d, 3, fragment_of(matrix::accumulator, types.c), is_half, false),
                      slots_of(d, 0, fragment_of(matrix::accumulator, types.d), is_half, true)};
  if (shape.is_transposed()) std::swap(slots.a, slots.b);
  emit_tiles(d, shape, site, slots);
}

}  // namespace

void decode_wmma(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(q::mma)) return decode_product(d);
  decode_access(d, m.has(q::store));
}

}  // namespace halfwarp::emulator::exec
