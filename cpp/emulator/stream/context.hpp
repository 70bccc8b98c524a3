// SPDX-License-Identifier: Apache-2.0
// A context: what a program owns on one device, and whether it is broken.
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

// Guarded by the driver's lock, except what says otherwise.
class context : public object {
 public:
  static constexpr object_kind kind_of = object_kind::context;

  context(device& on, unsigned flags, bool is_primary);
  // What a green context of that primary context is worked in through: it shares the memory, the
  // code, the events and the fate of the primary one, and has streams and resources of its own.
  context(const std::shared_ptr<context>& primary, const CUdevResource& sm,
          const CUdevResource& workqueue);

  device& on() const noexcept { return on_; }
  bool is_primary() const noexcept { return is_primary_; }
  bool is_green() const noexcept { return root_ != nullptr; }
  // What owns memory, code and events: itself, or of a green context the primary one.
  context& root() noexcept { return root_ ? *root_ : *this; }
  const context& root() const noexcept { return root_ ? *root_ : *this; }
  const std::shared_ptr<context>& shared_root() const noexcept { return root_; }  // null: itself
  // The multiprocessors that its kernels run on.
  int multiprocessors() const noexcept;
  std::shared_ptr<context> as_shared() {
    return std::static_pointer_cast<context>(shared_from_this());
  }

  // A broken context answers every call with the code that broke it. Needs no lock.
  CUresult sticky_code() const noexcept {
    return static_cast<CUresult>(root().sticky_.load(std::memory_order_acquire));
  }
  bool is_broken() const noexcept { return sticky_code() != CUDA_SUCCESS; }
  // Set when nothing that still runs in the context matters; kernels look at it. Needs no lock.
  const std::atomic<bool>& cancelled() const noexcept { return root().cancelled_; }

  // An operation failed: breaks the context, or notes the code.
  void fail(const failure& how);
  // The code that a synchronising call returns; a failure that is not sticky is told once.
  CUresult take_failure() noexcept;
  void cancel() noexcept { root().cancelled_.store(true, std::memory_order_release); }
  // A primary context is used again after a reset.
  void repair() noexcept;

  // Text of device printf waits for the next synchronising call. Needs no lock.
  void print(std::string_view record);
  void flush_prints();

  // The stream behind the null handle.
  stream& legacy();
  // What cuCtxGetId tells: another number after each reset, never one that was told before.
  std::uint64_t life() const noexcept { return life_; }
  void begin_anew() noexcept;

  // Breaks the cycle of owners when the context ends; everything in it was removed before.
  void close() noexcept { legacy_.reset(); }

  bool is_alive = true;  // false: destroyed, or a primary context that nobody retains
  unsigned flags;
  unsigned api_version;
  CUfunc_cache cache_preference = CU_FUNC_CACHE_PREFER_NONE;
  std::array<std::size_t, CU_LIMIT_MAX> limits;
  std::set<std::shared_ptr<stream>, by_id> active;  // streams with operations to do
  std::set<std::uint64_t> peers;                    // ids of contexts whose memory this one may use
  // Of a primary context: the green ones on it. Of a green one: what it has been given, its handle,
  // and what streams made in it later wait for.
  std::vector<std::shared_ptr<context>> greens;
  CUdevResource sm{}, workqueue{};
  CUgreenCtx green_handle = nullptr;
  std::vector<stream_point> gate;

 private:
  device& on_;
  bool is_primary_;
  std::shared_ptr<context> root_;
  std::uint64_t life_;
  std::atomic<int> sticky_{CUDA_SUCCESS};
  std::atomic<bool> cancelled_{false};
  CUresult noted_ = CUDA_SUCCESS;
  std::shared_ptr<stream> legacy_;
  std::mutex print_mutex_;
  std::deque<std::string> prints_;
  std::size_t printed_bytes_ = 0;
};

}  // namespace halfwarp::emulator
