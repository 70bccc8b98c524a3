// SPDX-License-Identifier: Apache-2.0
// Reads the registers of mma, multiplies and writes the results.
#include <bit>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/matrix/product.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

// Sources of lanes that arrive in several splits, which have separate registers.
struct gathered_sources {
  alignas(64) std::uint64_t value[matrix_site::max_sources][warp_size];
};
gathered_sources& gathered() {
  static thread_local gathered_sources sources;
  return sources;
}

void gather(warp& w, const matrix_site& site, std::size_t bytes) {
  for (std::size_t n = 0; n < site.source_count; ++n) {
    const auto* from = w.at<std::byte>(site.sources[n]);
    auto* to = reinterpret_cast<std::byte*>(gathered().value[n]);
    for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
      const std::size_t at = static_cast<std::size_t>(std::countr_zero(remaining)) * bytes;
      std::memcpy(to + at, from + at, bytes);
    }
  }
}

[[noreturn]] void raise_metadata_fault(const warp& w, const instruction& instr,
                                       const matrix_error& error) {
  report::fault f = describe_fault(w, instr, error.lane);
  f.kind = report::fault_kind::invalid_operand;
  f.detail = "the metadata " + report::hexadecimal(error.metadata) +
             " of the sparse matrix name an invalid pair of columns";
  f.hint = "each nibble has two different indices, the lower index in the low bits";
  throw kernel_fault{f};
}

}  // namespace

bool find_sources(warp& w, const matrix_site& site, int bytes, source_list& sources) {
  if (w.step == exchange_step::write) {
    gather(w, site, static_cast<std::size_t>(bytes));
    return false;
  }
  const bool is_direct = w.step == exchange_step::write_and_read;
  for (std::size_t n = 0; n < matrix_site::max_sources; ++n) {
    sources[n] = is_direct ? static_cast<const void*>(w.at<std::byte>(site.sources[n]))
                           : gathered().value[n];
  }
  return true;
}

// Loops of a variable length would cost as much as the sums of short numbers.
product_sources sources_of(const matrix_site& site, const source_list& sources) noexcept {
  product_sources from;
  const auto* a = sources.data();
  const auto *b = a + site.a_count, *c = b + site.b_count, *next = c + site.c_count;
  const auto word = [](const void* each) { return static_cast<const std::uint32_t*>(each); };
  for (int n = 0; n < 4; ++n) {
    from.a[n] = word(a[n]);
    from.b[n] = word(b[n]);
    from.c[n] = word(c[n]);
  }
  if (site.is_sparse) from.metadata = word(*next++);
  if (site.scales.vector) {
    from.scale_a = word(next[0]);
    from.scale_b = word(next[1]);
  }
  return from;
}

void multiply_tile(warp& w, const instruction& instr, const product_sources& from,
                   product_results& d) {
  try {
    multiply(matrix_of(w, instr), from, d);
  } catch (const matrix_error& error) {
    raise_metadata_fault(w, instr, error);
  }
}

// Lanes that do not take part have registers elsewhere.
void write_results(warp& w, const matrix_site& site, const product_results& d) {
  for (std::size_t n = 0; n < site.d_count; ++n) {
    std::memcpy(w.at<std::uint32_t>(site.d[n]), d[n], sizeof d[n]);
  }
}

void run_product(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  source_list sources;
  if (!find_sources(w, site, 4, sources)) return;
  require_whole_warp(w, instr);
  product_results d;
  multiply_tile(w, instr, sources_of(site, sources), d);
  write_results(w, site, d);
}

}  // namespace halfwarp::emulator::exec
