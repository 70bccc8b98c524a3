// SPDX-License-Identifier: Apache-2.0
// A context: the resources of a program on one device, and its error state.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/memory/device_heap.hpp"
#include "emulator/object/object.hpp"
#include "emulator/stream/operation.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {

class device;

struct by_id {
  bool operator()(const std::shared_ptr<stream>& a,
                  const std::shared_ptr<stream>& b) const noexcept {
    return a->id() < b->id();
  }
};

// Guarded by the driver's lock unless a member says otherwise.
class context : public object {
 public:
  static constexpr object_kind kind_of = object_kind::context;

  context(emulator::device& device, unsigned flags, bool is_primary);
  // Creates the context behind a green context. It shares memory, modules, events and errors with
  // the primary context, and owns its streams and resources.
  context(const std::shared_ptr<context>& primary, const CUdevResource& sm,
          const CUdevResource& workqueue);

  static constexpr std::size_t default_stack_bytes = 1024;
  static constexpr std::size_t default_pending_launches = 2048;

  emulator::device& device() const noexcept { return device_; }
  bool is_primary() const noexcept { return is_primary_; }
  bool is_green() const noexcept { return root_ != nullptr; }
  // Returns the owner of memory, modules and events: for a green context, its primary context.
  context& root() noexcept { return root_ ? *root_ : *this; }
  const context& root() const noexcept { return root_ ? *root_ : *this; }
  const std::shared_ptr<context>& shared_root() const noexcept { return root_; }  // null: itself
  // Returns the number of multiprocessors that its kernels run on.
  int multiprocessors() const noexcept;
  std::shared_ptr<context> as_shared() {
    return std::static_pointer_cast<context>(shared_from_this());
  }

  // Returns the code that broke the context; every call returns it from then on. Needs no lock.
  CUresult sticky_code() const noexcept {
    return static_cast<CUresult>(root().sticky_.load(std::memory_order_acquire));
  }
  bool is_broken() const noexcept { return sticky_code() != CUDA_SUCCESS; }
  // True once the results of running work no longer matter; kernels poll it. Needs no lock.
  const std::atomic<bool>& canceled() const noexcept { return root().canceled_; }

  // Handles a failed operation: a sticky failure breaks the context, another one is recorded.
  void fail(const failure& cause);
  // Returns the code for a synchronizing call; clears a failure that is not sticky.
  CUresult take_failure() noexcept;
  void cancel() noexcept { root().canceled_.store(true, std::memory_order_release); }
  // Clears the error state, for a primary context that is used again after a reset.
  void repair() noexcept;

  // Buffers the output of device printf until the next synchronizing call. Needs no lock.
  void print(std::string_view record);
  void flush_prints();

  // Returns the legacy default stream, which the null handle names.
  stream& legacy();
  // Returns the id for cuCtxGetId. Each reset assigns an id that no context had before.
  std::uint64_t unique_id() const noexcept { return unique_id_; }
  void assign_unique_id() noexcept;

  // Breaks the reference cycle when the context is destroyed; call it on an empty context.
  void close() noexcept { legacy_.reset(); }

  bool is_alive = true;  // false: destroyed, or a primary context without a reference
  unsigned flags;
  unsigned api_version;
  CUfunc_cache cache_preference = CU_FUNC_CACHE_PREFER_NONE;
  std::array<std::size_t, CU_LIMIT_MAX> limits;
  // These members of the root context need no lock.
  memory::device_heap heap;
  std::atomic<std::size_t> stack_bytes{default_stack_bytes};
  std::set<std::shared_ptr<stream>, by_id> active;  // streams with pending operations
  std::set<std::uint64_t> peers;  // ids of contexts whose memory this context may access
  // For a primary context.
  std::vector<std::shared_ptr<context>> greens;
  // For a green context; streams that are created later wait for `gate`.
  CUdevResource sm{}, workqueue{};
  CUgreenCtx green_handle = nullptr;
  std::vector<stream_point> gate;

 private:
  emulator::device& device_;
  bool is_primary_;
  std::shared_ptr<context> root_;
  std::uint64_t unique_id_;
  std::atomic<int> sticky_{CUDA_SUCCESS};
  std::atomic<bool> canceled_{false};
  CUresult unreported_code_ = CUDA_SUCCESS;
  std::shared_ptr<stream> legacy_;
  std::mutex print_mutex_;
  std::deque<std::string> prints_;
  std::size_t printed_bytes_ = 0;
};

}  // namespace halfwarp::emulator
