// SPDX-License-Identifier: Apache-2.0
// Values of special registers.
#include "emulator/exec/special.hpp"

#include <chrono>
#include <optional>

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t multiprocessors = 4;  // as the device attributes say

std::uint32_t axis(const extent& size, int which) {
  return which == 0 ? size.x : which == 1 ? size.y : size.z;
}

std::uint64_t nanoseconds() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Position within the cluster, or of the cluster within the grid.
std::uint32_t within(const block_state& b, int which) {
  return b.index[which] % axis(b.launch->request.cluster, which);
}

std::uint64_t cluster_rank(const block_state& b) {
  const extent& c = b.launch->request.cluster;
  return within(b, 0) + std::uint64_t{c.x} * (within(b, 1) + std::uint64_t{c.y} * within(b, 2));
}

// A register with three components.
std::optional<std::uint64_t> component(const block_state& block, uniform_value which) {
  using v = uniform_value;
  const launch_request& request = block.launch->request;
  auto axis_from = [&](v first) {
    int number = static_cast<int>(which) - static_cast<int>(first);
    return number >= 0 && number < 3 ? std::optional{number} : std::nullopt;
  };
  if (auto a = axis_from(v::ntid_x)) return axis(request.block, *a);
  if (auto a = axis_from(v::ctaid_x)) return block.index[*a];
  if (auto a = axis_from(v::nctaid_x)) return axis(request.grid, *a);
  if (auto a = axis_from(v::cluster_ctaid_x)) return within(block, *a);
  if (auto a = axis_from(v::cluster_nctaid_x)) return axis(request.cluster, *a);
  if (auto a = axis_from(v::clusterid_x)) return block.index[*a] / axis(request.cluster, *a);
  if (auto a = axis_from(v::nclusterid_x)) {
    return axis(request.grid, *a) / axis(request.cluster, *a);
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t uniform_special(const warp& w, uniform_value which) noexcept {
  using v = uniform_value;
  const block_state& block = *w.block;
  const launch_state& launch = *block.launch;
  const launch_request& request = launch.request;
  if (auto value = component(block, which)) return *value;
  switch (which) {
    case v::warpid:
      return w.index;
    case v::nwarpid:
      return launch.warps_per_block;
    case v::smid:
      return block.number % multiprocessors;
    case v::nsmid:
      return multiprocessors;
    case v::gridid:
      return request.grid_id;
    case v::clock64:
    case v::clock:
    case v::globaltimer:
      return nanoseconds();  // the clock rate is 1 GHz
    case v::clock_hi:
    case v::globaltimer_hi:
      return nanoseconds() >> 32;
    case v::dynamic_smem_size:
      return request.dynamic_shared_bytes;
    case v::total_smem_size:
      return launch.reserved_shared;
    case v::envreg1:
      return launch.grid_workspace >> 32;
    case v::envreg2:
      return launch.grid_workspace;
    case v::reserved_smem_begin:
      return launch.reserved_shared;
    case v::reserved_smem_second:
      return launch.reserved_shared + reserved_shared_bytes / 2;
    case v::reserved_smem_end:
      return launch.reserved_shared + reserved_shared_bytes;
    case v::reserved_smem_size:
      return reserved_shared_bytes;
    case v::cluster_ctarank:
      return cluster_rank(block);
    case v::cluster_nctarank:
      return request.cluster.count();
    case v::is_explicit_cluster:
      return request.cluster.count() > 1;
    default:
      return 0;
  }
}

}  // namespace halfwarp::emulator::exec
