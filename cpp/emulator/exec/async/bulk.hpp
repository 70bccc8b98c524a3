// SPDX-License-Identifier: Apache-2.0
// Copies of whole ranges that run without the thread: to an mbarrier, or to the groups of a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace halfwarp::emulator::exec {

// Reduces or converts the bytes of a piece of a copy into its target.
using element_operation = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

struct bulk_piece {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::uint32_t bytes = 0;
};

struct bulk_copy {
  std::vector<bulk_piece> pieces;
  element_operation operation = nullptr;  // a reduction or conversion; null: a copy
  std::shared_ptr<std::byte[]> contents;  // of pieces that come from registers, or a fill
  std::byte* barrier = nullptr;           // the mbarrier to signal; null: a copy of a group
  std::uint32_t bytes = 0;                // to signal
  bool arrives = false;                   // signals an arrival instead of bytes
  const void* owner = nullptr;            // of a copy of a group: warp and lane
  std::uint32_t lane = 0, group = 0;

  void run() const;
};

// Copies of a cluster that have started and not completed, in the order of their start.
class bulk_queue {
 public:
  void add(bulk_copy copy) { copies_.push_back(std::move(copy)); }
  bool is_empty() const noexcept { return copies_.empty(); }
  // complete_groups completes the copies of a lane in groups before `end`.
  void complete_all();
  void complete_for(const std::byte* barrier);
  void complete_groups(const void* owner, std::uint32_t lane, std::uint32_t end);

 private:
  template <class Predicate>
  void complete_if(Predicate&& matches);

  std::vector<bulk_copy> copies_;
};

}  // namespace halfwarp::emulator::exec
