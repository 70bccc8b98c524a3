// SPDX-License-Identifier: Apache-2.0
// Runs copies, and signals the bytes to their mbarrier afterwards.
#include "emulator/exec/async/bulk.hpp"

#include <cstring>
#include <utility>

#include "emulator/exec/async/async.hpp"

namespace halfwarp::emulator::exec {

void bulk_copy::run() const {
  for (const bulk_piece& piece : pieces) {
    if (operation) {
      operation(piece.to, piece.from, piece.bytes);
    } else {
      std::memmove(piece.to, piece.from, piece.bytes);
    }
  }
  if (!barrier) return;
  if (arrives) return complete_arrival(barrier);
  complete_bytes(barrier, bytes);
}

// A completed copy leaves the queue before it runs.
template <class Predicate>
void bulk_queue::complete_if(Predicate&& matches) {
  std::vector<bulk_copy> due;
  std::erase_if(copies_, [&](bulk_copy& copy) {
    if (!matches(copy)) return false;
    due.push_back(std::move(copy));
    return true;
  });
  for (const bulk_copy& copy : due) copy.run();
}

void bulk_queue::complete_all() {
  complete_if([](const bulk_copy&) { return true; });
}

void bulk_queue::complete_for(const std::byte* barrier) {
  complete_if([&](const bulk_copy& copy) { return copy.barrier == barrier; });
}

void bulk_queue::complete_groups(const void* owner, std::uint32_t lane, std::uint32_t end) {
  complete_if([&](const bulk_copy& copy) {
    return copy.owner == owner && copy.lane == lane && copy.group < end;
  });
}

}  // namespace halfwarp::emulator::exec
