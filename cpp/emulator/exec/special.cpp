// SPDX-License-Identifier: Apache-2.0
// Computes the values of special registers.
#include "emulator/exec/special.hpp"

#include <chrono>
#include <optional>

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

std::uint32_t axis(const extent& size, int index) {
  return index == 0 ? size.x : index == 1 ? size.y : size.z;
}

std::uint64_t nanoseconds() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Returns the block's position within its cluster along one axis.
std::uint32_t cluster_index(const block_state& b, int index) {
  return b.index[index] % axis(b.launch->request.cluster, index);
}

std::uint64_t cluster_rank(const block_state& b) {
  const extent& c = b.launch->request.cluster;
  return cluster_index(b, 0) +
         std::uint64_t{c.x} * (cluster_index(b, 1) + std::uint64_t{c.y} * cluster_index(b, 2));
}

// Returns the value of a register with three components.
std::optional<std::uint64_t> component(const block_state& block, uniform_value name) {
  using v = uniform_value;
  const launch_request& request = block.launch->request;
  auto axis_from = [&](v first) {
    int number = static_cast<int>(name) - static_cast<int>(first);
    return number >= 0 && number < 3 ? std::optional{number} : std::nullopt;
  };
  if (auto a = axis_from(v::ntid_x)) return axis(request.block, *a);
  if (auto a = axis_from(v::ctaid_x)) return block.index[*a];
  if (auto a = axis_from(v::nctaid_x)) return axis(request.grid, *a);
  if (auto a = axis_from(v::cluster_ctaid_x)) return cluster_index(block, *a);
  if (auto a = axis_from(v::cluster_nctaid_x)) return axis(request.cluster, *a);
  if (auto a = axis_from(v::clusterid_x)) return block.index[*a] / axis(request.cluster, *a);
  if (auto a = axis_from(v::nclusterid_x)) {
    return axis(request.grid, *a) / axis(request.cluster, *a);
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t uniform_special(const warp& w, uniform_value name) noexcept {
  using v = uniform_value;
  const block_state& block = *w.block;
  if (name >= v::ctaid_x && name <= v::ctaid_z) {  // the most frequent ones
    return block.index[static_cast<std::size_t>(name) - static_cast<std::size_t>(v::ctaid_x)];
  }
  const launch_state& launch = *block.launch;
  const launch_request& request = launch.request;
  if (auto value = component(block, name)) return *value;
  switch (name) {
    case v::warpid:
      return w.index;
    case v::nwarpid:
      return launch.warps_per_block;
    case v::smid:
      return block.number % launch.options.multiprocessors;
    case v::nsmid:
      return launch.options.multiprocessors;
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
