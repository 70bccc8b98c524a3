// SPDX-License-Identifier: Apache-2.0
// The stream order in which an allocation is freed.
#pragma once

#include <utility>

#include "core/stream.hpp"

namespace halfwarp::core {

// The driver function that frees an allocation.
enum class memory_kind : unsigned char {
  pool,    // cuMemFreeAsync, in stream order
  device,  // cuMemFree, once the stream has completed all its work
  host,    // cuMemFreeHost, once the stream has completed all its work
};

struct free_result {
  CUresult code = CUDA_SUCCESS;
  const char* function = "cuMemFreeAsync";  // that returned the code
};

// A recorded deallocation stream. Which stream a default stream denotes depends on the context, and
// for the per-thread one on the thread, so both are recorded with it.
class free_order {
 public:
  free_order() noexcept = default;

  free_order(const free_order&) = default;
  free_order(free_order&&) noexcept = default;
  // Assigns before the old value is destroyed, because its destruction may release the GIL.
  free_order& operator=(free_order other) noexcept {
    swap(other);
    return *this;
  }

  // Returns an order without a stream: memory is freed at once, in this process and, if `context`
  // is set, in that context.
  [[nodiscard]] static free_order without_stream(context_instance context = {}) noexcept;

  // Returns the order of a free on the calling thread at this moment.
  [[nodiscard]] static free_order now(stream_handle stream, context_handle context = {});

  // Records a stream. Stays empty for a default stream without a current context.
  explicit free_order(stream_handle stream);

  // Records a stream in place; the order must be empty.
  void record(stream_handle stream) {
    if (is_default_stream(stream.raw()) || !stream.parent()) [[unlikely]] {
      *this = free_order{std::move(stream)};
      return;
    }
    generation_ = fork_generation.load(std::memory_order_relaxed);
    stream_.swap(stream);
  }

  [[nodiscard]] bool is_recorded() const noexcept { return stream_.is_open(); }

  // Frees memory once, in the recorded context, after the work that the recorded stream had. Defers
  // the free to a later free or allocation while a capture forbids it, or while a reset context was
  // not created again. Does nothing in a child process, whose parent owns the memory, nor for
  // memory that was destroyed with its context.
  [[nodiscard]] free_result free(CUdeviceptr pointer,
                                 memory_kind kind = memory_kind::pool) const noexcept;

  // Returns whether `stream` is the recorded one; false for a default stream, whose meaning varies.
  [[nodiscard]] bool is_on(CUstream stream) const noexcept {
    return stream_.raw() == stream && !is_default_stream(stream);
  }

  // Makes a stream wait for the work submitted so far to the recorded stream.
  void make_wait(const stream_ref& later) const;
  // Makes the stream of another free wait, unless a capture prevents it.
  [[nodiscard]] free_result make_wait(const free_order& later) const noexcept;
  [[nodiscard]] bool is_on_stream_of(const free_order& other) const noexcept {
    return stream_.raw() == other.stream_.raw() && thread_ == other.thread_ &&
           context().raw() == other.context().raw();
  }

  // Makes the recorded context current, unless it was reset; returns whether leave() must follow. A
  // driver error here is reported by the free, which fails too.
  [[nodiscard]] bool enter() const noexcept;
  static void leave() noexcept;

  [[nodiscard]] bool is_of_this_process() const noexcept {
    return generation_ == fork_generation.load(std::memory_order_relaxed);
  }

  // Returns whether the memory is the parent's, or was destroyed with its context.
  [[nodiscard]] bool needs_no_free() const noexcept {
    return !is_of_this_process() || context().is_destroyed();
  }

  void swap(free_order& other) noexcept {
    stream_.swap(other.stream_);
    context_.swap(other.context_);
    recorded_.swap(other.recorded_);
    std::swap(thread_, other.thread_);
    std::swap(generation_, other.generation_);
  }

 private:
  friend void free_deferred() noexcept;
  struct deferred;

  // Tries the free once; CUDA_ERROR_NOT_READY means that it must be deferred.
  [[nodiscard]] free_result attempt(CUdeviceptr pointer, memory_kind kind) const noexcept;
  [[nodiscard]] CUresult free_on_stream(CUdeviceptr pointer) const noexcept;
  [[nodiscard]] CUresult free_on_default_stream(CUdeviceptr pointer) const noexcept;
  [[nodiscard]] free_result free_after_work(CUdeviceptr pointer, memory_kind kind) const noexcept;
  [[nodiscard]] const context_instance& context() const noexcept {
    return context_ || !stream_ ? context_ : stream_.parent();
  }

  // Returns whether both streams are the legacy default stream of the recorded context.
  [[nodiscard]] bool is_on_legacy_stream(const stream_ref& other) const;

  // Returns whether another thread recorded a per-thread default stream.
  [[nodiscard]] bool is_of_other_thread() const noexcept;

  stream_handle stream_;
  context_instance context_;  // of a default or foreign stream, or of memory without a stream
  event_handle recorded_;     // set for the per-thread default stream only
  unsigned long long thread_ = 0;
  std::uint32_t generation_ = 0;
};

// Returns whether the stream is being captured.
[[nodiscard]] bool is_capturing(CUstream stream) noexcept;

inline constinit std::atomic<bool> has_deferred_frees{false};

// Executes deferred frees that are possible now. Costs one load if there are none.
void free_deferred() noexcept;
inline void free_deferred_if_any() noexcept {
  if (has_deferred_frees.load(std::memory_order_relaxed)) [[unlikely]]
    free_deferred();
}

}  // namespace halfwarp::core
