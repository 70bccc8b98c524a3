// SPDX-License-Identifier: Apache-2.0
// Defines the table of special registers.
#include "emulator/ptx/vocabulary/special_register.hpp"

#include "emulator/ptx/vocabulary/sorted_names.hpp"

namespace halfwarp::emulator::ptx {
namespace {

constexpr sorted_names<special_register, special_register::unknown> names{
    {"aggr_smem_size",
     "clock",
     "clock64",
     "clock_hi",
     "cluster_ctaid",
     "cluster_ctarank",
     "cluster_nctaid",
     "cluster_nctarank",
     "clusterid",
     "ctaid",
     "current_graph_exec",
     "dynamic_smem_size",
     "envreg",
     "globaltimer",
     "globaltimer_hi",
     "globaltimer_lo",
     "gridid",
     "is_explicit_cluster",
     "laneid",
     "lanemask_eq",
     "lanemask_ge",
     "lanemask_gt",
     "lanemask_le",
     "lanemask_lt",
     "nclusterid",
     "nctaid",
     "nsmid",
     "ntid",
     "nwarpid",
     "pm",
     "pm_64",
     "reserved_smem_offset",
     "reserved_smem_offset_begin",
     "reserved_smem_offset_cap",
     "reserved_smem_offset_end",
     "smid",
     "tid",
     "total_smem_size",
     "warpid"}};
static_assert(names.is_sorted());
static_assert(names.spelling(special_register::aggr_smem_size) == "aggr_smem_size");
static_assert(names.spelling(special_register::lanemask_eq) == "lanemask_eq");
static_assert(names.spelling(special_register::warpid) == "warpid");

}  // namespace

std::string_view spelling(special_register value) noexcept { return names.spelling(value); }

special_register find_special_register(std::string_view spelling) noexcept {
  return names.find(spelling);
}

}  // namespace halfwarp::emulator::ptx
