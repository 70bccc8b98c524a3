// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix: matrices of 8 rows of 16 bytes, spread over the lanes.
//
// Lane l holds two elements: row l / 4, columns 2 * (l % 4) and the next. A transposed matrix
// exchanges rows and columns. Lanes 8 * j to 8 * j + 7 have the addresses of the rows of matrix j.
// Forms of bytes have four elements in a register.
#include <bit>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t row_bytes = 16;

// Writes the value of each lane for the other lanes. Returns true if the caller must go on.
template <class T>
bool publish(warp& w, operand_slot slot) {
  if (w.step != exchange_step::read) {
    const T* value = w.at<T>(slot);
    for_each_lane(w.active, [&](int l) { w.exchange[l] = value[l]; });
  }
  return w.step != exchange_step::write;
}

std::uint64_t row_of(warp& w, const instruction&, int lane) { return w.exchange[lane]; }

// Checks the addresses of the rows. Only the lanes that have one are read.
void check_rows(warp& w, const instruction& instr, std::uint32_t matrices,
                report::access_kind kind) {
  const lane_mask with_rows = matrices == 4 ? all_lanes : (1u << 8 * matrices) - 1;
  bool is_wrong = false;
  for_each_lane(with_rows, [&](int l) {
    const std::uint64_t at = w.exchange[l];
    is_wrong |= at > w.shared_bytes || w.shared_bytes - at < row_bytes || at % row_bytes != 0;
  });
  if (!is_wrong) return;
  w.active = with_rows;
  raise_shared_fault(w, instr, {kind, row_bytes}, &row_of);
}

std::byte* element_of(warp& w, std::uint32_t matrix, std::uint32_t row, std::uint32_t column) {
  return w.shared + w.exchange[8 * matrix + row] + 2 * column;
}

// The two elements of a lane, low half first.
struct element_pair {
  std::uint32_t row[2], column[2];
};
element_pair elements_of(int lane, bool is_transposed) {
  const std::uint32_t group = static_cast<std::uint32_t>(lane) >> 2;
  const std::uint32_t first = 2 * (static_cast<std::uint32_t>(lane) & 3);
  if (is_transposed) return {{first, first + 1}, {group, group}};
  return {{group, group}, {first, first + 1}};
}

// The address and the column of a byte of a register.
struct byte_place {
  std::uint32_t row, column;
};
byte_place place_of(byte_layout layout, std::uint32_t number, int lane, std::uint32_t byte) {
  const std::uint32_t group = static_cast<std::uint32_t>(lane) >> 2;
  const std::uint32_t t = static_cast<std::uint32_t>(lane) & 3;
  switch (layout) {
    case byte_layout::in_tall:
      return {16 * (number / 2) + 4 * t + byte, group + 8 * (number & 1)};
    case byte_layout::in_pair:
      return {8 * number + 2 * t + (byte & 1), group + 8 * (byte >> 1)};
    default:
      return {8 * number + group, 4 * t + byte};
  }
}

// Visits the bytes of the active lanes, with the number of the register and the row's memory.
template <class Visit>
void for_each_byte(warp& w, const matrix_site& site, Visit&& visit) {
  for (std::uint32_t n = 0; n < site.matrices; ++n) {
    auto* const bytes = w.at<std::uint8_t>(site.d[n]);
    for_each_lane(w.active, [&](int l) {
      for (std::uint32_t e = 0; e < 4; ++e) {
        const byte_place at = place_of(site.bytes, n, l, e);
        visit(bytes[4 * l + static_cast<int>(e)], w.shared + w.exchange[at.row], at.column);
      }
    });
  }
}

}  // namespace

const matrix_site& matrix_of(const warp& w, const instruction& instr) noexcept {
  return w.function->matrices[instr.target];
}

std::vector<std::uint64_t> row_units(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  const auto* address = w.at<std::uint64_t>(site.address);
  std::vector<std::uint64_t> units;
  for (int row = 0; row < 8 * site.matrices; ++row) {
    const std::uint64_t at = address[row];
    const bool fits = at <= w.shared_bytes && w.shared_bytes - at >= row_bytes && at % 4 == 0;
    if (fits) units.push_back(at);
  }
  return units;
}

void require_whole_warp(const warp& w, const instruction& instr) {
  if (w.participants == all_lanes || !w.block->launch->options.check_sync) return;
  report::fault f = describe_fault(w, instr, std::countr_zero(w.active));
  f.kind = report::fault_kind::member_mask;
  f.detail = "only the lanes " + report::hexadecimal(w.participants) + " execute the instruction";
  f.hint = "launch whole warps, and let all 32 threads of a warp reach the instruction";
  throw kernel_fault{f};
}

void expand_unit(std::uint8_t* unit, int bits, int shift) noexcept {
  std::uint8_t packed[16];
  std::memcpy(packed, unit, sizeof packed);
  for (int n = 0; n < 16; ++n) {
    const int at = n * bits;
    const unsigned pair = packed[at / 8] | packed[(at / 8 + 1) & 15] << 8;
    unit[n] = static_cast<std::uint8_t>((pair >> at % 8 & ((1u << bits) - 1)) << shift);
  }
}

void run_whole_warp(warp& w, const instruction& instr) {
  if (w.step != exchange_step::write) require_whole_warp(w, instr);
}

void run_load_matrix(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  if (!publish<std::uint64_t>(w, site.address)) return;
  require_whole_warp(w, instr);
  check_rows(w, instr, site.matrices, report::access_kind::load);
  if (site.bytes != byte_layout::none) {
    return for_each_byte(w, site,
                         [&](std::uint8_t& to, const std::byte* row, std::uint32_t column) {
                           std::uint8_t unit[row_bytes];
                           std::memcpy(unit, row, row_bytes);
                           expand_unit(unit, site.narrow_bits, 0);
                           to = unit[column];
                         });
  }
  for (std::uint32_t j = 0; j < site.matrices; ++j) {
    auto* to = w.at<std::uint32_t>(site.d[j]);
    if (!site.is_transposed && w.active == all_lanes) {  // a row is in four lanes in turn
      for (std::uint32_t row = 0; row < 8; ++row) {
        std::memcpy(to + 4 * row, element_of(w, j, row, 0), row_bytes);
      }
      continue;
    }
    for_each_lane(w.active, [&](int l) {
      const element_pair at = elements_of(l, site.is_transposed);
      std::uint16_t half[2];
      for (int e = 0; e < 2; ++e)
        std::memcpy(&half[e], element_of(w, j, at.row[e], at.column[e]), 2);
      to[l] = half[0] | std::uint32_t{half[1]} << 16;
    });
  }
}

void run_store_matrix(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  if (!publish<std::uint64_t>(w, site.address)) return;
  require_whole_warp(w, instr);
  check_rows(w, instr, site.matrices, report::access_kind::store);
  if (site.bytes != byte_layout::none) {
    return for_each_byte(w, site, [](std::uint8_t from, std::byte* row, std::uint32_t column) {
      row[column] = std::byte{from};
    });
  }
  for (std::uint32_t j = 0; j < site.matrices; ++j) {
    const auto* from = w.at<std::uint32_t>(site.d[j]);
    for_each_lane(w.active, [&](int l) {
      const element_pair at = elements_of(l, site.is_transposed);
      for (int e = 0; e < 2; ++e) {
        const auto half = static_cast<std::uint16_t>(from[l] >> 16 * e);
        std::memcpy(element_of(w, j, at.row[e], at.column[e]), &half, 2);
      }
    });
  }
}

void run_transpose_matrix(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  if (!publish<std::uint32_t>(w, site.sources[0])) return;
  require_whole_warp(w, instr);
  auto* to = w.at<std::uint32_t>(site.d[0]);
  for_each_lane(w.active, [&](int l) {
    const element_pair at = elements_of(l, true);
    std::uint32_t value = 0;
    for (int e = 0; e < 2; ++e) {
      const std::uint64_t source = w.exchange[4 * at.row[e] + at.column[e] / 2];
      value |= static_cast<std::uint32_t>(source >> 16 * (at.column[e] & 1) & 0xffff) << 16 * e;
    }
    to[l] = value;
  });
}

}  // namespace halfwarp::emulator::exec
