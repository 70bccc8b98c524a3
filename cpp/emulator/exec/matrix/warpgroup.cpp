// SPDX-License-Identifier: Apache-2.0
// Each warp multiplies its 16 rows of A with all columns of B, in blocks of 8 columns.
#include "emulator/exec/matrix/warpgroup.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "emulator/exec/access.hpp"
#include "emulator/exec/matrix/shared_operand.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t warps_per_group = 4;
constexpr int a_registers = std::extent_v<decltype(product_sources::a)>;

// The registers that a product uses, while another frame may be active.
class active_frame {
 public:
  active_frame(warp& w, const warp_product& product) noexcept
      : warp_{w},
        registers_{w.registers},
        constants_{w.constants},
        function_{w.function},
        active_{w.active} {
    w.registers = product.registers;
    w.function = product.function;
    w.constants = product.function->constants.data();
    w.active = all_lanes;
  }
  active_frame(const active_frame&) = delete;  // restores the frame once
  ~active_frame() {
    warp_.registers = registers_;
    warp_.constants = constants_;
    warp_.function = function_;
    warp_.active = active_;
  }

 private:
  warp& warp_;
  std::byte* registers_;
  const std::byte* constants_;
  const function_code* function_;
  lane_mask active_;
};

shared_view memory_of(const warp& w) { return {w.shared, w.shared_bytes}; }

std::uint64_t address_of(warp& w, const instruction&, int) { return w.exchange[0]; }

[[noreturn]] void raise_descriptor_fault(warp& w, const instruction& instr,
                                         const shared_operand& matrix) {
  w.exchange[0] = matrix.last_address();
  w.active = 1;
  raise_shared_fault(w, instr, {report::access_kind::load, 16}, &address_of);
}

// Returns the first of the rows of A that a warp multiplies.
int first_row(const warp& w) {
  return static_cast<int>(product_rows * (w.index % warps_per_group));
}

// Sources of a block that are not registers.
struct block_buffers {
  alignas(64) std::uint32_t a[4][warp_size], b[4][warp_size], zeros[warp_size] = {};
};

void read_a(warp& w, const instruction& instr, const matrix_site& site, const warp_product& product,
            block_buffers& buffers, product_sources& from) {
  if (!site.has_a_descriptor) {
    for (std::size_t n = 0; n < a_registers; ++n) {
      from.a[n] = w.at<std::uint32_t>(site.sources[n]);
    }
    return;
  }
  shared_operand matrix{warpgroup_layout(product.a_descriptor, site.width, site.transposes_a)};
  const int step = 4 * 32 / site.width;
  for (int n = 0; n < a_registers; ++n) {
    if (!matrix.read(memory_of(w), first_row(w) + 8 * (n & 1), n / 2 * step, buffers.a[n])) {
      raise_descriptor_fault(w, instr, matrix);
    }
    from.a[n] = buffers.a[n];
  }
}

void multiply_blocks(warp& w, const instruction& instr, const matrix_site& site,
                     const warp_product& product, block_buffers& buffers, product_sources& from) {
  shared_operand matrix{warpgroup_layout(product.b_descriptor, site.width, site.transposes_b)};
  const int step = 4 * 32 / site.width;
  const std::size_t count = site.d_count;
  for (int block = 0; block < site.columns / product_columns; ++block) {
    for (int n = 0; n < site.b_count; ++n) {
      if (!matrix.read(memory_of(w), product_columns * block, n * step, buffers.b[n])) {
        raise_descriptor_fault(w, instr, matrix);
      }
      from.b[n] = buffers.b[n];
    }
    const operand_slot* slots = site.accumulators.data() + static_cast<std::size_t>(block) * count;
    for (std::size_t n = 0; n < count; ++n) {
      from.c[n] = product.adds_c ? w.at<std::uint32_t>(slots[n]) : buffers.zeros;
    }
    product_results d;
    if (!product.fast || !product.fast(site, from, d)) multiply_tile(w, instr, from, d);
    for (std::size_t n = 0; n < count; ++n) {
      std::memcpy(w.at<std::uint32_t>(slots[n]), d[n], sizeof d[n]);
    }
  }
}

void complete(warp& w, const warp_product& product) {
  active_frame frame{w, product};
  const instruction& instr = *product.instr;
  const matrix_site& site = matrix_of(w, instr);
  block_buffers buffers;
  product_sources from{};
  if (site.is_sparse) from.metadata = w.at<std::uint32_t>(site.sources[site.source_count - 1u]);
  read_a(w, instr, site, product, buffers, from);
  multiply_blocks(w, instr, site, product, buffers, from);
}

// Returns whether the frame of a product still exists. Otherwise nothing can read its results.
bool has_frame(const warp& w, const warp_product& product) {
  const auto& frames = w.block->warps[w.index].frames;
  return std::ranges::any_of(frames, [&](const auto& each) {
    return each->function == product.function && each->values.data() == product.registers;
  });
}

warp_products& products_of(const warp& w) {
  auto& all = w.block->products;
  if (all.empty()) all.resize(w.block->warps.size());
  return all[w.index];
}

bool is_late(const warp& w) { return w.block->launch->options.copies_are_late; }

}  // namespace

// The lanes of a warp that arrive in several splits share one frame, so the first split multiplies
// for all.
void start_warpgroup_product(warp& w, const instruction& instr, fast_multiply fast) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  if (!(w.active & 1)) return;
  const matrix_site& site = matrix_of(w, instr);
  warp_product product{&instr, w.function, w.registers, fast};
  if (site.has_a_descriptor) product.a_descriptor = w.at<std::uint64_t>(site.a_descriptor)[0];
  product.b_descriptor = w.at<std::uint64_t>(site.b_descriptor)[0];
  product.adds_c = w.predicates[site.adds_c] & 1;
  if (!is_late(w)) return complete(w, product);
  warp_products& products = products_of(w);
  product.group = products.group;
  products.pending.push_back(product);
}

std::vector<std::uint64_t> warpgroup_units(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  const int step = 4 * 32 / site.width;
  std::vector<std::uint64_t> units;
  if (site.has_a_descriptor) {
    const std::uint64_t descriptor = w.at<std::uint64_t>(site.a_descriptor)[0];
    shared_operand a{warpgroup_layout(descriptor, site.width, site.transposes_a)};
    for (int n = 0; n < a_registers; ++n) {
      a.add_units(memory_of(w), first_row(w) + 8 * (n & 1), n / 2 * step, units);
    }
  }
  const std::uint64_t descriptor = w.at<std::uint64_t>(site.b_descriptor)[0];
  shared_operand b{warpgroup_layout(descriptor, site.width, site.transposes_b)};
  for (int first = 0; first < site.columns; first += product_columns) {
    for (int n = 0; n < site.b_count; ++n) b.add_units(memory_of(w), first, n * step, units);
  }
  return units;
}

void run_warpgroup_product(warp& w, const instruction& instr) {
  start_warpgroup_product(w, instr, nullptr);
}

void run_commit_products(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  if (is_late(w) && (w.active & 1)) ++products_of(w).group;
}

void run_wait_products(warp& w, const instruction& instr) {
  if (w.step == exchange_step::write) return;
  require_whole_warp(w, instr);
  if (!is_late(w) || !(w.active & 1)) return;
  warp_products& products = products_of(w);
  const auto allowed = static_cast<std::uint64_t>(instr.immediate);
  const auto is_pending = [&](const warp_product& product) {
    return product.group + allowed >= products.group;
  };
  const auto end = std::ranges::find_if(products.pending, is_pending);
  for (auto product = products.pending.begin(); product != end; ++product) {
    if (has_frame(w, *product)) complete(w, *product);
  }
  products.pending.erase(products.pending.begin(), end);
}

}  // namespace halfwarp::emulator::exec
