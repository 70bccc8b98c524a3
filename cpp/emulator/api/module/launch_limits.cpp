// SPDX-License-Identifier: Apache-2.0
// Checks launches against the limits of the device and of the kernel.
#include "emulator/api/module/launch_limits.hpp"

#include <algorithm>
#include <string>

#include "emulator/api/module/module_call.hpp"
#include "emulator/device/occupancy.hpp"
#include "emulator/driver/driver.hpp"
#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator::api {
namespace {

using exec::extent;

constexpr int portable_cluster = 8, largest_known_cluster = 16;
constexpr unsigned max_resident = 128;  // blocks of a launch, to limit the memory for registers

std::string text_of(const extent& e) {
  return "(" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + ")";
}

void require_extent(const char* name, const extent& e, const attribute_values& device,
                    CUdevice_attribute first) {
  const std::uint32_t extents[] = {e.x, e.y, e.z};
  for (int axis = 0; axis < 3; ++axis) {
    const int limit = device[static_cast<CUdevice_attribute>(first + axis)];
    if (extents[axis] > 0 && extents[axis] <= static_cast<std::uint32_t>(limit)) continue;
    refuse(CUDA_ERROR_INVALID_VALUE, "the device does not support a " + std::string{name} + " of " +
                                         text_of(e) + ": from 1 to " + std::to_string(limit) +
                                         " in " + "xyz"[axis]);
  }
}

void require_shape(const function& kernel, const launch_shape& shape) {
  const auto& device = kernel.device().attributes();
  require_extent("grid", shape.grid, device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  require_extent("block", shape.block, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  const auto max_threads =
      static_cast<std::uint64_t>(device[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK]);
  if (shape.block.count() > max_threads) {
    refuse(CUDA_ERROR_INVALID_VALUE, "the device does not support a block of " +
                                         text_of(shape.block) + ": at most " +
                                         std::to_string(max_threads) + " threads");
  }
}

// Checks .maxntid, .reqntid and the registers of a block.
void require_threads(const exec::kernel_attributes& code, const extent& block) {
  const auto limit = std::uint64_t{code.maximum_block[0]} * std::max(code.maximum_block[1], 1u) *
                     std::max(code.maximum_block[2], 1u);
  if (limit != 0 && block.count() > limit) {
    refuse(CUDA_ERROR_INVALID_VALUE,
           "the kernel was compiled for at most " + std::to_string(limit) +
               " threads per block (__launch_bounds__), got " + std::to_string(block.count()));
  }
  const auto& required = code.required_block;
  const extent exact{required[0], std::max(required[1], 1u), std::max(required[2], 1u)};
  if (required[0] != 0 && (exact.x != block.x || exact.y != block.y || exact.z != block.z)) {
    refuse(CUDA_ERROR_INVALID_VALUE, "the kernel was compiled for blocks of " + text_of(exact) +
                                         " threads (.reqntid), got " + text_of(block));
  }
  require(block.count() <= static_cast<std::uint64_t>(maximum_threads(code)),
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
          "the block needs more registers than a multiprocessor has");
}

// Returns the dynamic shared memory in bytes that a launch may request. The mode of the launch
// overrides the attribute of the kernel.
int max_launch_shared(const function& kernel, CUsharedMemoryMode mode) {
  const auto& code = kernel.code().attributes();
  if (mode == CU_SHARED_MEMORY_MODE_DEFAULT) {
    return maximum_dynamic_shared(kernel.device(), code, kernel.settings());
  }
  const auto limit_attribute = mode == CU_SHARED_MEMORY_MODE_REQUIRE_PORTABLE
                                   ? CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK
                                   : CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
  return kernel.device().attributes()[limit_attribute] - static_cast<int>(code.static_shared_bytes);
}

void require_shared(const function& kernel, const launch_shape& shape) {
  const int limit = max_launch_shared(kernel, shape.shared_mode);
  if (static_cast<std::int64_t>(shape.dynamic_shared) > limit) {
    refuse(CUDA_ERROR_INVALID_VALUE,
           std::to_string(shape.dynamic_shared) +
               " bytes of dynamic shared memory requested, the kernel's limit is " +
               std::to_string(limit) +
               "; CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES raises the limit");
  }
}

extent cluster_of(const function& kernel, const extent& requested) {
  const auto& code = kernel.code().attributes();
  const auto& settings = kernel.settings();
  extent fixed{code.cluster[0], code.cluster[1], code.cluster[2]};
  if (fixed.x == 0) {
    fixed = {static_cast<std::uint32_t>(settings.cluster[0]),
             static_cast<std::uint32_t>(settings.cluster[1]),
             static_cast<std::uint32_t>(settings.cluster[2])};
  }
  const extent& cluster = requested.x != 0 ? requested : fixed;
  return {std::max(cluster.x, 1u), std::max(cluster.y, 1u), std::max(cluster.z, 1u)};
}

int largest_cluster(const function& kernel, CUlaunchAttributePortableClusterMode mode) {
  if (mode == CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT) return api::largest_cluster(kernel);
  return mode == CU_LAUNCH_PORTABLE_CLUSTER_MODE_REQUIRE_PORTABLE ? portable_cluster
                                                                  : largest_known_cluster;
}

bool is_multiple(const extent& whole, const extent& part) {
  return whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

// Checks the preferred cluster; the launch uses regular clusters.
void require_preferred_cluster(const launch_shape& shape, const extent& cluster) {
  const extent& preferred = shape.preferred_cluster;
  if (preferred.x == 0) return;
  const bool is_possible = preferred.y != 0 && preferred.z != 0 &&
                           is_multiple(preferred, cluster) && preferred.z == cluster.z &&
                           is_multiple(shape.grid, preferred);
  if (!is_possible) {
    refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
           "preferred clusters of " + text_of(preferred) +
               " blocks are not a multiple of clusters of " + text_of(cluster) +
               ", differ from them in z, or do not divide the grid");
  }
}

void require_cluster(const function& kernel, const launch_shape& shape, const extent& cluster) {
  const extent& grid = shape.grid;
  require_preferred_cluster(shape, cluster);
  if (cluster.count() == 1) return;
  require(kernel.device().attributes()[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] != 0,
          CUDA_ERROR_NOT_SUPPORTED, "the device does not support clusters");
  const auto limit = static_cast<std::uint64_t>(largest_cluster(kernel, shape.cluster_mode));
  if (!is_multiple(grid, cluster) || cluster.count() > limit) {
    refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE, "clusters of " + text_of(cluster) +
                                                " blocks do not divide a grid of " + text_of(grid) +
                                                ", or are too large");
  }
}

}  // namespace

void launch_shape::apply(const launch_attributes& attributes) {
  const auto regular = attributes.get(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
  const auto larger =
      attributes.get(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION).preferredClusterDim;
  cluster = {regular.x, regular.y, regular.z};
  preferred_cluster = {larger.x, larger.y, larger.z};
  is_cooperative = attributes.is_cooperative();
  cluster_mode =
      attributes.get(CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE).portableClusterSizeMode;
  shared_mode = attributes.get(CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE).sharedMemoryMode;
}

launch_shape shape_of(const CUlaunchConfig& config) {
  launch_shape shape;
  shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  shape.dynamic_shared = config.sharedMemBytes;
  return shape;
}

int largest_cluster(const function& kernel) {
  return kernel.settings().allows_large_clusters ? largest_known_cluster : portable_cluster;
}

int resident_blocks(const function& kernel, std::uint64_t threads, std::uint64_t dynamic_shared,
                    CUsharedMemoryMode mode) {
  const auto& code = kernel.code().attributes();
  const bool fits = threads <= static_cast<std::uint64_t>(maximum_threads(code)) &&
                    static_cast<std::int64_t>(dynamic_shared) <= max_launch_shared(kernel, mode);
  if (!fits) return 0;
  return blocks_per_multiprocessor(kernel.device().attributes(),
                                   {.threads = static_cast<unsigned>(threads),
                                    .registers = code.registers,
                                    .shared = code.static_shared_bytes + dynamic_shared});
}

namespace {

unsigned all_multiprocessors(const function& kernel) {
  return static_cast<unsigned>(
      kernel.device().attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]);
}

}  // namespace

exec::launch_request admit_launch(const function& kernel, const launch_shape& shape,
                                  std::uint64_t stream_number) {
  require_shape(kernel, shape);
  require_threads(kernel.code().attributes(), shape.block);
  require_shared(kernel, shape);
  exec::launch_request request;
  request.entry = &kernel.code();
  request.grid = shape.grid;
  request.block = shape.block;
  request.cluster = cluster_of(kernel, shape.cluster);
  require_cluster(kernel, shape, request.cluster);
  const auto resident =
      static_cast<std::uint64_t>(
          resident_blocks(kernel, shape.block.count(), shape.dynamic_shared, shape.shared_mode)) *
      (shape.multiprocessors != 0 ? shape.multiprocessors : all_multiprocessors(kernel));
  require(resident > 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
          "not even one block fits on the device");
  if (shape.is_cooperative && shape.grid.count() > resident) {
    refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
           "a cooperative grid of " + std::to_string(shape.grid.count()) + " blocks, of which " +
               std::to_string(resident) + " fit on the device at once");
  }
  request.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared);
  request.is_cooperative = shape.is_cooperative;
  request.resident_blocks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(resident, max_resident));
  request.stream = stream_number;
  request.grid_id = ++the_driver().grids;
  return request;
}

}  // namespace halfwarp::emulator::api
