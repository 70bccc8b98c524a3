// SPDX-License-Identifier: Apache-2.0
// Derives from the text of an instruction what it means to the race check.
#include "emulator/exec/check/race_site.hpp"

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/async/bulk_site.hpp"
#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/barrier.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;
using ptx::qualifier;
using race::scope;

scope scope_of(const ptx::mnemonic& m, scope of_cluster, scope otherwise) {
  if (m.has(qualifier::sys)) return scope::sys;
  if (m.has(qualifier::gpu) || m.has(qualifier::gl)) return scope::gpu;
  if (m.has(qualifier::cluster)) return of_cluster;
  return m.has(qualifier::cta) ? scope::cta : otherwise;
}

bool is_strong(const ptx::mnemonic& m) {
  return m.has(qualifier::relaxed) || m.has(qualifier::acquire) || m.has(qualifier::release) ||
         m.has(qualifier::mmio);
}

scope reach_of_access(const ptx::mnemonic& m, scope of_cluster) {
  if (m.opcode == opcode::atom || m.opcode == opcode::red) {
    return scope_of(m, of_cluster, scope::gpu);
  }
  if (m.has(qualifier::volatile_)) return scope::sys;
  return is_strong(m) ? scope_of(m, of_cluster, scope::sys) : scope::weak;
}

bool is_all_lanes(const function_code& function, operand_slot slot) {
  if (slot >= 0) return false;
  const auto* lanes = reinterpret_cast<const lane_mask*>(function.constants.data() + ~slot);
  return *lanes == all_lanes;
}

// The words of an asynchronous copy, whose values are in no register.
access_shape shape_of_copy() {
  access_shape shape;
  shape.use = memory_use::store;
  shape.bytes = 4;
  shape.is_shared = true;
  return shape;
}

// The words of a matrix that the lanes of a warp access together.
access_shape shape_of_rows(bool is_store) {
  access_shape shape;
  shape.use = is_store ? memory_use::store : memory_use::load;
  shape.bytes = shape.register_bytes = 4;
  shape.is_shared = true;
  return shape;
}

}  // namespace

race_site make_race_site(const ptx::module& owner, const function_code& function,
                         const instruction& instr, scope of_cluster) {
  race_site site{.function = &function, .at = &instr};
  const auto& source = function.source->instructions;
  if (instr.run == &run_load_matrix || instr.run == &run_store_matrix) {
    site.use = race_site::role::rows;
    site.shape = shape_of_rows(instr.run == &run_store_matrix);
    return site;
  }
  if (instr.source >= source.size()) return site;
  const ptx::mnemonic& m = owner.mnemonic_of(source[instr.source]);
  const bool is_collective = instr.kind == flow::collective;
  if (m.opcode == opcode::wgmma && m.has(qualifier::mma_async) && is_collective) {
    site.use = race_site::role::warpgroup;
    site.shape = shape_of_rows(false);
    return site;
  }
  const bool has_handler = instr.kind == flow::next || instr.kind == flow::yield;
  if (!has_handler) return site;
  if (instr.run == &run_copy || instr.run == &run_commit_copies || instr.run == &run_wait_copies ||
      instr.run == &run_commit_bulk || instr.run == &run_wait_bulk) {
    site.use = race_site::role::copy;
    site.shape = shape_of_copy();
    return site;
  }
  const bool is_bulk =
      instr.run == &run_bulk_copy || instr.run == &run_tensor_copy || instr.run == &run_async_store;
  if (is_bulk) {
    site.shape = shape_of_copy();
    return site;
  }
  if (instr.run == &run_phase_barrier || instr.run == &run_copy_arrive) {
    site.use = race_site::role::phase_barrier;
    site.reach = m.has(qualifier::cluster) ? scope::gpu : scope::cta;
    site.shape = shape_of_copy();
    site.shape.bytes = 8;
    return site;
  }
  site.shape = shape_of(instr);
  const memory_use use = site.shape.use;
  if (use >= memory_use::load && use <= memory_use::update) {
    site.use = race_site::role::access;
    site.reach = reach_of_access(m, of_cluster);
    // For loads and stores, the decoder emits fences.
    const bool is_atomic = use > memory_use::store;
    site.acquires = is_atomic && (m.has(qualifier::acquire) || m.has(qualifier::acq_rel));
    site.releases = is_atomic && (m.has(qualifier::release) || m.has(qualifier::acq_rel));
  } else if (use == memory_use::fence) {
    site.use = race_site::role::fence;
    site.reach = scope_of(m, of_cluster, scope::sys);
    site.is_between_proxies = m.has(qualifier::proxy);
  }
  return site;
}

std::size_t launch_sites::first_of(const launch_state& launch,
                                   const function_code& function) const {
  return first[static_cast<std::size_t>(&function - launch.code.functions.data())];
}

launch_sites make_launch_sites(const launch_state& launch) {
  // Without clusters, each block is one. Else their scope counts as the scope of the device, which
  // orders more.
  const scope of_cluster = launch.request.cluster.count() == 1 ? scope::cta : scope::gpu;
  launch_sites sites;
  const ptx::module& owner = *launch.request.entry->owner().source;
  for (const function_code& function : launch.code.functions) {
    sites.first.push_back(static_cast<std::uint32_t>(sites.all.size()));
    for (const instruction& instr : function.code) {
      sites.all.push_back(make_race_site(owner, function, instr, of_cluster));
    }
  }
  return sites;
}

bool orders_some_threads(const race_site& site) {
  if (site.use == race_site::role::fence || site.use == race_site::role::phase_barrier) return true;
  if (site.acquires || site.releases) return true;
  const instruction& instr = *site.at;
  if (instr.kind == flow::barrier) {
    const auto operation = static_cast<barrier_operation>(instr.immediate);
    if (operation >= barrier_operation::cluster_arrive) return true;
    // Without a count, all threads of the block wait at one barrier, whatever its number.
    return (instr.flags & barrier_flag::has_count) != 0 || operation == barrier_operation::arrive;
  }
  return instr.kind == flow::collective && !is_all_lanes(*site.function, instr.operand[4]);
}

}  // namespace halfwarp::emulator::exec
