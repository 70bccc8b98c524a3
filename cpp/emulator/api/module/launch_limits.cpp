// SPDX-License-Identifier: Apache-2.0
// What a device checks before it takes a launch.
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
constexpr unsigned most_resident = 128;  // of a launch at once: memory for their registers

std::string text_of(const extent& e) {
  return "(" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + ")";
}

bool is_within(const extent& e, const attribute_values& device, CUdevice_attribute first) {
  const auto most = [&](int axis) {
    return static_cast<std::uint32_t>(device[static_cast<CUdevice_attribute>(first + axis)]);
  };
  return e.x > 0 && e.y > 0 && e.z > 0 && e.x <= most(0) && e.y <= most(1) && e.z <= most(2);
}

void require_shape(const function& what, const launch_shape& shape) {
  const auto& device = what.on().attributes();
  if (!is_within(shape.grid, device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)) {
    refuse(CUDA_ERROR_INVALID_VALUE,
           "the device has no grid of " + text_of(shape.grid) + " blocks");
  }
  const auto most = static_cast<std::uint64_t>(device[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK]);
  if (!is_within(shape.block, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) ||
      shape.block.count() > most) {
    refuse(CUDA_ERROR_INVALID_VALUE,
           "the device has no block of " + text_of(shape.block) + " threads; the most is 1024");
  }
}

// .maxntid and .reqntid, and the registers that a block of threads needs.
void require_threads(const exec::kernel_attributes& code, const extent& block) {
  const auto most = std::uint64_t{code.maximum_block[0]} * std::max(code.maximum_block[1], 1u) *
                    std::max(code.maximum_block[2], 1u);
  if (most != 0 && block.count() > most) {
    refuse(CUDA_ERROR_INVALID_VALUE, "the kernel was compiled for at most " + std::to_string(most) +
                                         " threads per block (__launch_bounds__), got " +
                                         std::to_string(block.count()));
  }
  const auto& required = code.required_block;
  const extent exact{required[0], std::max(required[1], 1u), std::max(required[2], 1u)};
  if (required[0] != 0 && (exact.x != block.x || exact.y != block.y || exact.z != block.z)) {
    refuse(CUDA_ERROR_INVALID_VALUE, "the kernel was compiled for blocks of " + text_of(exact) +
                                         " threads (.reqntid), got " + text_of(block));
  }
  require(block.count() <= static_cast<std::uint64_t>(maximum_threads(code)),
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
          "a block of so many threads needs more registers than a multiprocessor has");
}

// Bytes of dynamic shared memory that a launch may ask for: the mode of the launch goes before the
// attribute of the kernel.
int grantable_shared(const function& what, CUsharedMemoryMode mode) {
  const auto& code = what.code().attributes();
  if (mode == CU_SHARED_MEMORY_MODE_DEFAULT) {
    return maximum_dynamic_shared(what.on(), code, what.settings());
  }
  const auto whole = mode == CU_SHARED_MEMORY_MODE_REQUIRE_PORTABLE
                         ? CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK
                         : CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
  return what.on().attributes()[whole] - static_cast<int>(code.static_shared_bytes);
}

void require_shared(const function& what, const launch_shape& shape) {
  const int most = grantable_shared(what, shape.shared_mode);
  if (static_cast<std::int64_t>(shape.dynamic_shared) > most) {
    refuse(CUDA_ERROR_INVALID_VALUE,
           std::to_string(shape.dynamic_shared) +
               " bytes of dynamic shared memory asked, the kernel may have " +
               std::to_string(most) +
               "; CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES raises the limit");
  }
}

extent cluster_of(const function& what, const extent& asked) {
  const auto& code = what.code().attributes();
  const auto& settings = what.settings();
  extent fixed{code.cluster[0], code.cluster[1], code.cluster[2]};
  if (fixed.x == 0) {
    fixed = {static_cast<std::uint32_t>(settings.cluster[0]),
             static_cast<std::uint32_t>(settings.cluster[1]),
             static_cast<std::uint32_t>(settings.cluster[2])};
  }
  const extent& chosen = asked.x != 0 ? asked : fixed;
  return {std::max(chosen.x, 1u), std::max(chosen.y, 1u), std::max(chosen.z, 1u)};
}

int largest_cluster(const function& what, CUlaunchAttributePortableClusterMode mode) {
  if (mode == CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT) return api::largest_cluster(what);
  return mode == CU_LAUNCH_PORTABLE_CLUSTER_MODE_REQUIRE_PORTABLE ? portable_cluster
                                                                  : largest_known_cluster;
}

bool is_multiple(const extent& whole, const extent& part) {
  return whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

// Regular clusters are made; what is preferred has to be possible all the same.
void require_preferred_cluster(const launch_shape& shape, const extent& cluster) {
  const extent& preferred = shape.preferred_cluster;
  if (preferred.x == 0) return;
  const bool is_possible = preferred.y != 0 && preferred.z != 0 &&
                           is_multiple(preferred, cluster) && preferred.z == cluster.z &&
                           is_multiple(shape.grid, preferred);
  if (!is_possible) {
    refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
           "preferred clusters of " + text_of(preferred) +
               " blocks are no multiple of clusters of " + text_of(cluster) +
               ", differ from them in z, or do not divide the grid");
  }
}

void require_cluster(const function& what, const launch_shape& shape, const extent& cluster) {
  const extent& grid = shape.grid;
  require_preferred_cluster(shape, cluster);
  if (cluster.count() == 1) return;
  require(what.on().attributes()[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] != 0, CUDA_ERROR_NOT_SUPPORTED,
          "the device has no clusters");
  const auto most = static_cast<std::uint64_t>(largest_cluster(what, shape.cluster_mode));
  if (!is_multiple(grid, cluster) || cluster.count() > most) {
    refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE, "clusters of " + text_of(cluster) +
                                                " blocks do not divide a grid of " + text_of(grid) +
                                                ", or are too large");
  }
}

}  // namespace

void launch_shape::take(const launch_attributes& attributes) {
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

int largest_cluster(const function& what) {
  return what.settings().allows_large_clusters ? largest_known_cluster : portable_cluster;
}

int resident_blocks(const function& what, std::uint64_t threads, std::uint64_t dynamic_shared,
                    CUsharedMemoryMode mode) {
  const auto& code = what.code().attributes();
  const bool fits = threads <= static_cast<std::uint64_t>(maximum_threads(code)) &&
                    static_cast<std::int64_t>(dynamic_shared) <= grantable_shared(what, mode);
  if (!fits) return 0;
  return blocks_per_multiprocessor(what.on().attributes(),
                                   {.threads = static_cast<unsigned>(threads),
                                    .registers = code.registers,
                                    .shared = code.static_shared_bytes + dynamic_shared});
}

namespace {

unsigned all_multiprocessors(const function& what) {
  return static_cast<unsigned>(what.on().attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]);
}

}  // namespace

exec::launch_request admit_launch(const function& what, const launch_shape& shape,
                                  std::uint64_t stream_number) {
  require_shape(what, shape);
  require_threads(what.code().attributes(), shape.block);
  require_shared(what, shape);
  exec::launch_request request;
  request.entry = &what.code();
  request.grid = shape.grid;
  request.block = shape.block;
  request.cluster = cluster_of(what, shape.cluster);
  require_cluster(what, shape, request.cluster);
  const auto together =
      static_cast<std::uint64_t>(
          resident_blocks(what, shape.block.count(), shape.dynamic_shared, shape.shared_mode)) *
      (shape.multiprocessors != 0 ? shape.multiprocessors : all_multiprocessors(what));
  require(together > 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
          "not even one block fits on the device");
  if (shape.is_cooperative && shape.grid.count() > together) {
    refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
           "a cooperative grid of " + std::to_string(shape.grid.count()) + " blocks, of which " +
               std::to_string(together) + " fit on the device at once");
  }
  request.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared);
  request.is_cooperative = shape.is_cooperative;
  request.resident_blocks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(together, most_resident));
  request.stream = stream_number;
  request.grid_id = ++the_driver().grids;
  return request;
}

}  // namespace halfwarp::emulator::api
