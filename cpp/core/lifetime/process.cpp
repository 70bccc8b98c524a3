// SPDX-License-Identifier: Apache-2.0
// Process-wide state that decides whether a driver object may still be destroyed.
#include "core/lifetime/process.hpp"

#include "core/lifetime/registry.hpp"
#include "core/memory/pool/stream_blocks.hpp"
#include "core/module/library.hpp"

namespace halfwarp::core {

void after_fork_in_child() noexcept {
  fork_generation.fetch_add(1, std::memory_order_relaxed);
  live_handles.abandon();
  discard_unused_libraries();
  pool_attachments.unlock();
}

}  // namespace halfwarp::core
