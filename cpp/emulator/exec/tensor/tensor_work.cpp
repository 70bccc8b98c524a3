// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/tensor/tensor_work.hpp"

#include <algorithm>
#include <utility>

#include "emulator/exec/schedule/cluster.hpp"

namespace halfwarp::emulator::exec {
namespace {

void run_once(tensor_work& work) {
  if (const auto run = std::exchange(work.run, nullptr)) run();
}

}  // namespace

std::uint64_t tensor_pipeline::add(tensor_work work, bool is_late) {
  work.serial = ++serial_;
  if (!is_late) run_once(work);
  pending_.push_back(std::move(work));
  return serial_;
}

void tensor_pipeline::complete_for(const std::byte* barrier, cluster_state& cluster) {
  const auto commits = [&](const tensor_work& each) {
    return std::ranges::find(each.barriers, barrier) != each.barriers.end();
  };
  for (;;) {
    const auto commit = std::find_if(pending_.rbegin(), pending_.rend(), commits);
    if (commit == pending_.rend()) return;
    const tensor_issuer issuer = commit->issuer;
    const std::uint64_t serial = commit->serial;
    std::erase_if(pending_, [&](tensor_work& each) {
      if (each.issuer != issuer || each.serial > serial) return false;
      run_once(each);
      return true;
    });
    for (block_state* block : cluster.blocks) {
      if (block && block->tensors) block->tensors->finish_work(issuer, serial);
    }
  }
}

void tensor_pipeline::complete_all() {
  for (tensor_work& each : pending_) {
    try {
      run_once(each);
    } catch (const kernel_fault&) {  // its results are lost with the block
    }
  }
  pending_.clear();
}

}  // namespace halfwarp::emulator::exec
