// SPDX-License-Identifier: Apache-2.0
// Work of the tensor cores that runs without the thread, and completes in the order of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "emulator/exec/tensor/tensor_memory.hpp"

namespace halfwarp::emulator::exec {

struct cluster_state;

struct tensor_work {
  tensor_issuer issuer;
  std::function<void()> run;         // empty: it has run
  std::vector<std::byte*> barriers;  // of a commit
  std::uint64_t serial = 0;
};

// The work of a cluster that no thread has waited for.
class tensor_pipeline {
 public:
  bool is_empty() const noexcept { return pending_.empty(); }
  // Runs the work at once, or when a thread waits for it. Returns the serial number of the work.
  std::uint64_t add(tensor_work work, bool is_late);
  // Completes the work before commits to a barrier that a thread waits for.
  void complete_for(const std::byte* barrier, cluster_state& cluster);
  void complete_all();

 private:
  std::vector<tensor_work> pending_;
  std::uint64_t serial_ = 0;
};

}  // namespace halfwarp::emulator::exec
