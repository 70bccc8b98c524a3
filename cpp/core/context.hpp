// SPDX-License-Identifier: Apache-2.0
// Contexts: the shared primary ones, foreign ones, and making one current for a while.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

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
  // Of a green context: its own handle, the primary context that it keeps and goes with, the number
  // of that one, and its multiprocessors.
  CUgreenCtx green = nullptr;
  CUcontext primary = nullptr;
  unsigned long long primary_number = 0;
  unsigned multiprocessors = 0;

  constexpr context_facts() noexcept = default;
  constexpr context_facts(CUdevice of, context_kind is) noexcept : device{of}, kind{is} {}
  context_facts(context_facts&& other) noexcept
      : device{other.device},
        kind{other.kind},
        green{other.green},
        primary{other.primary},
        primary_number{other.primary_number},
        multiprocessors{other.multiprocessors} {}

  [[nodiscard]] bool is_green() const noexcept { return kind == context_kind::green; }

  // Asked of the driver once per context.
  static constexpr long long unknown_priorities = -1;
  mutable std::atomic<long long> priorities{unknown_priorities};
};

struct context_traits {
  using raw_type = CUcontext;
  using parent_type = no_parent;
  using facts_type = context_facts;
  static constexpr const char* destroyer = "cuDevicePrimaryCtxRelease or cuGreenCtxDestroy";
  static CUresult destroy(CUcontext raw, const context_facts& facts) noexcept;
};

using context_ref = handle_ref<context_traits>;
using context_handle = handle<context_traits>;

// A context as it was when something was made in it. After a reset of the device the same handle
// names the next context, under the same address and retained as often; what was made in the one
// before is gone, and the driver must not be given any of it. Memory of pools stays.
class context_instance {
 public:
  constexpr context_instance() noexcept = default;
  // The one that the handle names now.
  explicit context_instance(context_handle of) noexcept;

  [[nodiscard]] const context_handle& context() const noexcept { return context_; }
  [[nodiscard]] explicit operator bool() const noexcept { return context_.is_open(); }
  [[nodiscard]] bool is_open() const noexcept { return context_.is_open(); }
  [[nodiscard]] CUcontext raw() const noexcept { return context_.raw(); }

  // Whether the device was reset since, or the context destroyed. Costs a driver call.
  [[nodiscard]] bool is_gone() const noexcept;

  void swap(context_instance& other) noexcept {
    context_.swap(other.context_);
    std::swap(number_, other.number_);
  }

 private:
  context_handle context_;
  unsigned long long number_ = 0;  // what the driver counts contexts by, never given twice
};

// The primary context of a device, retained once more: each handle made here releases its own
// count, so the context goes with the last of them.
[[nodiscard]] context_handle retain_primary_context(CUdevice device);

// A new green context of a device, with parts of it: what cuDeviceGetDevResource and the splits of
// it gave, which are copied.
[[nodiscard]] context_handle create_green_context(CUdevice device, const CUdevResource* resources,
                                                  unsigned count);

// The part of its device that a context works with. Throws driver_error.
void get_resource(const context_ref& context, CUdevResource* resource, CUdevResourceType type);

// The handle of a context that the driver named: of ours when it is one of ours, else borrowed.
[[nodiscard]] context_handle context_of(CUcontext raw);

// Whether the context was reset or destroyed and was not made anew since.
[[nodiscard]] bool is_destroyed(const context_ref& context) noexcept;

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

// Once more if it fails: what stays on the stack is current in the wrong places later.
inline void pop_context() noexcept {
  CUcontext popped;
  if (driver::try_call(driver::table->cuCtxPopCurrent, &popped) == CUDA_SUCCESS) return;
  static_cast<void>(driver::try_call(driver::table->cuCtxPopCurrent, &popped));
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
    if (is_pushed_) pop_context();
  }
  current_scope(const current_scope&) = delete;  // a push is undone once
  current_scope& operator=(const current_scope&) = delete;

 private:
  bool is_pushed_ = false;
};

// The range that a stream of this context may ask for.
[[nodiscard]] priority_range stream_priorities(const context_ref& context);

}  // namespace halfwarp::core
