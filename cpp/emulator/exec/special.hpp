// SPDX-License-Identifier: Apache-2.0
// Special registers with one value for all lanes of a warp.
#pragma once

#include <cstdint>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

enum class uniform_value : std::uint8_t {
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_hi,
  dynamic_smem_size,
  total_smem_size,
  zero,
  envreg1,
  envreg2,
  reserved_smem_begin,
  reserved_smem_second,
  reserved_smem_end,
  reserved_smem_size,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
};

std::uint64_t uniform_special(const warp& w, uniform_value name) noexcept;

}  // namespace halfwarp::emulator::exec
