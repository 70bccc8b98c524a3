// SPDX-License-Identifier: Apache-2.0
// Contexts: the shared primary ones, foreign ones, and making one current for a while.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/handle.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

enum class context_kind : unsigned char { primary, green, foreign };

struct priority_range {
  int least = 0;     // the numerically highest
  int greatest = 0;  // the numerically lowest
};

struct context_facts {
  CUdevice device = -1;
  context_kind kind = context_kind::foreign;
  // What the driver counts contexts by, never given twice; 0 where it does not tell. After a reset
  // of the device the same raw value names another context.
  std::atomic<unsigned long long> id{0};

  constexpr context_facts() noexcept = default;
  constexpr context_facts(CUdevice of, context_kind is) noexcept : device{of}, kind{is} {}
  context_facts(context_facts&& other) noexcept
      : device{other.device}, kind{other.kind}, id{other.id.load(std::memory_order_relaxed)} {}

  [[nodiscard]] bool is_green() const noexcept { return kind == context_kind::green; }

  // Asked of the driver once per context.
  static constexpr long long unknown_priorities = -1;
  mutable std::atomic<long long> priorities{unknown_priorities};
};

struct context_traits {
  using raw_type = CUcontext;
  using parent_type = no_parent;
  using facts_type = context_facts;
  static constexpr const char* destroyer = "cuDevicePrimaryCtxRelease";
  static CUresult destroy(CUcontext, const context_facts& facts) noexcept {
    return driver::try_call(driver::table->cuDevicePrimaryCtxRelease, facts.device);
  }
};

using context_ref = handle_ref<context_traits>;
using context_handle = handle<context_traits>;

// The primary context of a device, retained once more: each handle made here releases its own
// count, so the context goes with the last of them.
[[nodiscard]] context_handle retain_primary_context(CUdevice device);

// The handle of a context that the driver named: of ours when it is one of ours, else borrowed.
[[nodiscard]] context_handle context_of(CUcontext raw);

// Whether the device was reset since the handle was made: all that was made in the context is gone
// then, and the driver must not be given any of it. Its memory pools stay, and so does the count of
// those who retained it.
[[nodiscard]] bool was_reset(const context_ref& context) noexcept;

// The context current on this thread; a null handle when there is none.
[[nodiscard]] context_handle current_context();

// The context current on this thread when it belongs to `device`, else a null handle. A primary
// context that somebody else made current is retained, so that it outlives their interest in it.
[[nodiscard]] context_handle adopt_current_context(CUdevice device);

// The memory of the context's device, in bytes.
void get_memory_info(const context_ref& context, std::size_t* free_bytes, std::size_t* total);

// Blocks until all work of that context is done, whichever is current.
void synchronize_context(const context_ref& context);

[[nodiscard]] inline CUcontext raw_current_context() {
  CUcontext current = nullptr;
  driver::call(driver::table->cuCtxGetCurrent, &current);
  return current;
}

// Makes a context current until the end of the scope; costs one look-up when it already is.
class current_scope {
 public:
  explicit current_scope(CUcontext wanted) {
    if (raw_current_context() != wanted) {
      driver::call(driver::table->cuCtxPushCurrent, wanted);
      is_pushed_ = true;
    }
  }
  ~current_scope() {
    if (is_pushed_) {
      CUcontext popped;
      static_cast<void>(driver::try_call(driver::table->cuCtxPopCurrent, &popped));
    }
  }
  current_scope(const current_scope&) = delete;  // a push is undone once
  current_scope& operator=(const current_scope&) = delete;

 private:
  bool is_pushed_ = false;
};

// The range that a stream of this context may ask for.
[[nodiscard]] priority_range stream_priorities(const context_ref& context);

}  // namespace halfwarp::core
