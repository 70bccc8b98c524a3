// SPDX-License-Identifier: Apache-2.0
// A nibble of the metadata has two indices in ascending order, the lower index in the low bits.
#include "emulator/exec/matrix/sparse.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::scalar_type;

// The position of a nibble.
struct nibble_place {
  int lane, number;
};

// `group` counts the nibbles of a row. An instruction has 4, 8 or 16 of them.
nibble_place place_of(const matrix_site& site, int groups, int row, int group) {
  const int first_lane = 4 * (row & 7), high = row >> 3, selector = site.selector;
  if (groups == 4) return {first_lane + selector, 4 * high + group};
  if (groups == 16) return {first_lane + 2 * (group / 8) + high, group % 8};
  if (site.width >= 16) return {first_lane + 2 * selector + group / 4, 4 * high + group % 4};
  return {first_lane + 2 * selector + high, group};
}

bool is_valid_pair(std::uint32_t nibble) {
  return (nibble & 3) < nibble >> 2;  // 4, 8, 9, 12, 13, 14
}

}  // namespace

column_table columns_of(const matrix_site& site, const product_sources& from) {
  column_table table;
  const int depth = site.a_depth();
  if (!site.is_sparse) {
    for (auto& row : table.k) {
      for (int k = 0; k < depth && k < 64; ++k) row[k] = static_cast<std::uint8_t>(k);
    }
    return table;
  }
  // Stored columns of a nibble; 4-bit types keep pairs, tf32 keeps one of two.
  const int stored = site.width == 4 ? 4 : site.width == 32 ? 1 : 2;
  for (int row = 0; row < site.rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const int group = k / stored;
      const nibble_place at = place_of(site, depth / stored, row, group);
      const std::uint32_t nibble = from.metadata[at.lane] >> 4 * at.number & 15;
      const bool is_valid = stored == 1
                                ? nibble == 4 || nibble == 14
                                : is_valid_pair(nibble) || (site.may_descend && nibble == 6);
      if (!is_valid) throw matrix_error{at.lane, from.metadata[at.lane]};
      const int first = static_cast<int>(nibble & 3), second = static_cast<int>(nibble >> 2);
      int index = 2 * group + (nibble == 14);
      if (stored == 2) index = 4 * group + (k % 2 ? second : first);
      if (stored == 4) index = 8 * group + 2 * (k / 2 % 2 ? second : first) + k % 2;
      table.k[row][k] = static_cast<std::uint8_t>(index);
    }
  }
  return table;
}

}  // namespace halfwarp::emulator::exec
