// SPDX-License-Identifier: Apache-2.0
// Enumerates the predefined read-only registers of PTX.
#pragma once

#include <cstdint>
#include <string_view>

namespace halfwarp::emulator::ptx {

// Enumerators are in the byte order of their spellings. Spellings omit the percent sign, and for
// envreg, pm and pm_64 also the number.
enum class special_register : std::uint16_t {
  aggr_smem_size,
  clock,
  clock64,
  clock_hi,
  cluster_ctaid,
  cluster_ctarank,
  cluster_nctaid,
  cluster_nctarank,
  clusterid,
  ctaid,
  current_graph_exec,
  dynamic_smem_size,
  envreg,
  globaltimer,
  globaltimer_hi,
  globaltimer_lo,
  gridid,
  is_explicit_cluster,
  laneid,
  lanemask_eq,
  lanemask_ge,
  lanemask_gt,
  lanemask_le,
  lanemask_lt,
  nclusterid,
  nctaid,
  nsmid,
  ntid,
  nwarpid,
  pm,
  pm_64,
  reserved_smem_offset,
  reserved_smem_offset_begin,
  reserved_smem_offset_cap,
  reserved_smem_offset_end,
  smid,
  tid,
  total_smem_size,
  warpid,
  unknown,  // not in the table
};

std::string_view spelling(special_register value) noexcept;  // "" for unknown
special_register find_special_register(
    std::string_view spelling) noexcept;  // unknown: not in the table

}  // namespace halfwarp::emulator::ptx
