// SPDX-License-Identifier: Apache-2.0
// Contexts: primary, green and foreign ones, and the scope that makes one current.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "core/handle.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

enum class context_kind : unsigned char { primary, green, foreign };

struct priority_range {
  int least = 0;     // numerically highest
  int greatest = 0;  // numerically lowest
};

struct context_facts {
  CUdevice device = -1;
  context_kind kind = context_kind::foreign;
  // Set for a green context: its own handle, the primary context that it retains, that context's
  // id, and the number of its multiprocessors.
  CUgreenCtx green = nullptr;
  CUcontext primary = nullptr;
  unsigned long long primary_id = 0;
  unsigned multiprocessors = 0;

  constexpr context_facts() noexcept = default;
  constexpr context_facts(CUdevice device_id, context_kind context_type) noexcept
      : device{device_id}, kind{context_type} {}
  context_facts(context_facts&& other) noexcept
      : device{other.device},
        kind{other.kind},
        green{other.green},
        primary{other.primary},
        primary_id{other.primary_id},
        multiprocessors{other.multiprocessors} {}

  [[nodiscard]] bool is_green() const noexcept { return kind == context_kind::green; }

  // Cached; the driver is queried once per context.
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

// A context at the time when an object was created in it. After a reset of the device the same
// handle refers to a new context at the same address. Objects of the old context no longer exist,
// and their handles must not be passed to the driver. Memory of pools survives a reset.
class context_instance {
 public:
  constexpr context_instance() noexcept = default;
  // Records the context that the handle refers to now.
  explicit context_instance(context_handle of) noexcept;

  [[nodiscard]] const context_handle& context() const noexcept { return context_; }
  [[nodiscard]] explicit operator bool() const noexcept { return context_.is_open(); }
  [[nodiscard]] bool is_open() const noexcept { return context_.is_open(); }
  [[nodiscard]] CUcontext raw() const noexcept { return context_.raw(); }

  // Returns whether the device was reset since, or the context destroyed. Costs a driver call.
  [[nodiscard]] bool is_destroyed() const noexcept;

  void swap(context_instance& other) noexcept {
    context_.swap(other.context_);
    std::swap(id_, other.id_);
  }

 private:
  context_handle context_;
  unsigned long long id_ = 0;  // from cuCtxGetId, which never repeats an id
};

// Retains the primary context of a device. Each handle releases its own retain count, so the
// context is destroyed with the last handle.
[[nodiscard]] context_handle retain_primary_context(CUdevice device);

// Creates a green context of a device with copies of `resources`, which come from
// cuDeviceGetDevResource or a split of its result.
[[nodiscard]] context_handle create_green_context(CUdevice device, const CUdevResource* resources,
                                                  unsigned count);

// Queries the part of its device that a context uses. Throws driver_error.
void get_resource(const context_ref& context, CUdevResource* resource, CUdevResourceType type);

// Returns a handle to a context of the driver: shared if we own the context, else borrowed.
[[nodiscard]] context_handle context_of(CUcontext raw);

// Returns whether the context was reset or destroyed, and not created again since.
[[nodiscard]] bool is_destroyed(const context_ref& context) noexcept;

// Returns the calling thread's current context, or a null handle if there is none.
[[nodiscard]] context_handle current_context();

// Returns the calling thread's current context if it belongs to `device`, else a null handle.
// Retains a primary context that other code made current, so that the handle keeps it alive.
[[nodiscard]] context_handle adopt_current_context(CUdevice device);

// Queries the free and total memory of the context's device, in bytes.
void get_memory_info(const context_ref& context, std::size_t* free_bytes, std::size_t* total);

// Blocks until all work of `context` has completed, whichever context is current.
void synchronize_context(const context_ref& context);

[[nodiscard]] inline CUcontext raw_current_context() {
  CUcontext current = nullptr;
  driver::call(driver::table->cuCtxGetCurrent, &current);
  return current;
}

// Retries once: a context left on the stack would be current for later, unrelated calls.
inline void pop_context() noexcept {
  CUcontext popped;
  if (driver::try_call(driver::table->cuCtxPopCurrent, &popped) == CUDA_SUCCESS) return;
  static_cast<void>(driver::try_call(driver::table->cuCtxPopCurrent, &popped));
}

// Makes a context current until the end of the scope; costs one query if it already is.
class current_scope {
 public:
  explicit current_scope(CUcontext requested) {
    if (raw_current_context() != requested) {
      driver::call(driver::table->cuCtxPushCurrent, requested);
      is_pushed_ = true;
    }
  }
  ~current_scope() {
    if (is_pushed_) pop_context();
  }
  current_scope(const current_scope&) = delete;  // each push has one pop
  current_scope& operator=(const current_scope&) = delete;

 private:
  bool is_pushed_ = false;
};

// Returns the range of priorities for streams of this context.
[[nodiscard]] priority_range stream_priorities(const context_ref& context);

}  // namespace halfwarp::core
