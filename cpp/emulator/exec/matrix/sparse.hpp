// SPDX-License-Identifier: Apache-2.0
// The columns of a sparse A that its metadata select.
#pragma once

#include <cstdint>

#include "emulator/exec/matrix/product.hpp"

namespace halfwarp::emulator::exec {

// The k of each stored column of A, by row.
struct column_table {
  std::uint8_t k[product_rows][64];
};

// Returns every column for a dense A. Throws matrix_error for invalid metadata.
column_table columns_of(const matrix_site& site, const product_sources& from);

}  // namespace halfwarp::emulator::exec
