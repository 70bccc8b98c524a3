// SPDX-License-Identifier: Apache-2.0
// A pool of memory in stream order: it cuts segments that come from somewhere else into blocks.
#pragma once

#include <memory>
#include <vector>

#include "core/memory/pool/stream_blocks.hpp"

namespace halfwarp::core {

// What a pool and those that serve its captures count together.
struct pool_totals {
  // In bytes, as asked for; too large by what the streams' lists have as `given_back`, so that what
  // is freed and allocated again on one stream is not counted here, by all threads in one place. It
  // is never above the peak, which grows only after they were asked.
  std::atomic<std::size_t> allocated{0};
  std::atomic<std::size_t> allocated_peak{0};
  std::atomic<std::size_t> reserved{0};
  std::atomic<std::size_t> reserved_peak{0};
  // Of all time:
  std::atomic<unsigned long long> reuse_cross_stream{0};
  std::atomic<unsigned long long> cross_stream_waits{0};
  std::atomic<unsigned long long> upstream_allocs{0};
  std::atomic<unsigned long long> upstream_frees{0};
  std::atomic<unsigned long long> oom_retries{0};
  // Of the lists of streams that are gone:
  std::atomic<unsigned long long> allocations{0};
  std::atomic<unsigned long long> allocated_bytes{0};
  std::atomic<unsigned long long> frees{0};
  std::atomic<unsigned long long> reused{0};
};

struct pool_figures {
  unsigned long long allocations = 0, allocated_bytes = 0, frees = 0, reuse_same_stream = 0;
  std::size_t largest_free_block = 0, free_bytes = 0;
};

struct live_block {
  CUdeviceptr address;
  std::size_t size;
  CUstream stream;
  double age;  // in seconds
};

// Threads may use a pool together. It never calls the driver while it holds a lock of spinning, so
// its locks may be waited for with the interpreter's lock. It does not get memory: who finds that
// nothing is free adds a segment. In the child of a fork its locks may be held by threads that are
// not there, so it is left alone: is_of_this_process() comes first.
class segment_pool {
 public:
  explicit segment_pool(std::shared_ptr<pool_totals> totals);
  // The last release() deletes it; its segments must have been taken before.
  void release() noexcept;
  segment_pool(const segment_pool&) = delete;  // blocks point here
  segment_pool& operator=(const segment_pool&) = delete;

  [[nodiscard]] bool is_of_this_process() const noexcept {
    return generation_ == fork_generation.load(std::memory_order_relaxed);
  }
  [[nodiscard]] pool_totals& totals() const noexcept { return *totals_; }
  [[nodiscard]] const std::shared_ptr<pool_totals>& shared_totals() const noexcept {
    return totals_;
  }

  // A block of what the stream has, or what no stream uses any more; null: there is none.
  [[nodiscard]] block* allocate(std::size_t requested, const stream_ref& stream);
  // The same of the segments for such blocks, and not of the blocks that are kept as they are.
  [[nodiscard]] block* allocate_from_bins(std::size_t requested, const stream_ref& stream,
                                          segment_use in);

  // One that other streams freed: done with, or else, of any segment, after a wait of the stream,
  // or else joined of pieces that are done with. Not with the interpreter's lock.
  [[nodiscard]] block* take_from_others(std::size_t requested, const stream_ref& stream,
                                        segment_use in);

  // Takes memory in that may be used on the stream from here on, and a block of it at once unless 0
  // bytes are asked for. Address and size are multiples of block_unit; `keeper` comes back with the
  // segment. The size must have been reserved.
  block* add_segment(CUdeviceptr address, std::size_t size, void* keeper, const stream_ref& stream,
                     std::size_t requested);
  // Counts memory that is about to be added, unless that makes more than `limit` bytes.
  [[nodiscard]] bool reserve(std::size_t size, std::size_t limit) noexcept;
  void unreserve(std::size_t size) noexcept { totals_->reserved -= size; }

  // Whether it was the last block of a pool that was closed: its segments are to be taken.
  bool free(block& given, stream_blocks& home) noexcept;
  // After what was given to the calling thread's default stream; not with the interpreter's lock.
  bool free_on_this_thread(block& given, const stream_ref& stream);

  // On whose stream blocks go back that are freed on this one.
  [[nodiscard]] stream_blocks& home_of(const stream_ref& stream);
  void move_home(block& live, stream_blocks& to) noexcept;

  // Lets `order` wait for the free blocks' last uses, and takes segments that are free as a whole
  // as long as `keep` bytes are left; the caller gives them back and deletes them. Not with the
  // interpreter's lock.
  [[nodiscard]] segment* take_segments(std::size_t keep, const stream_ref& order);
  // All, whatever is in them.
  [[nodiscard]] segment* take_all_segments() noexcept;

  // Waits for all work of the streams' contexts, and joins what is free. Not with the interpreter's
  // lock.
  void synchronize();
  // Whether the context of the first stream was reset or destroyed; found out when a stream comes
  // for the first time.
  [[nodiscard]] bool is_inert() const noexcept { return is_inert_.load(); }

  // Subtracts each free from the totals when it happens, for who needs to know of the last one, or
  // shares the totals with other pools.
  void count_at_once() noexcept;
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(); }

  // Of this pool alone; all else is in the totals, which are exact from then on.
  [[nodiscard]] pool_figures figures() noexcept;
  [[nodiscard]] std::vector<live_block> live_blocks();
  // The live block that begins there; null: none.
  [[nodiscard]] block* find(CUdeviceptr address) noexcept;

  // Where a stream ends: what it had is kept until its work is done.
  static void leave(stream_blocks* first) noexcept;

 private:
  ~segment_pool() = default;
  class each_home;

  [[nodiscard]] stream_blocks& attach(const stream_ref& stream);
  [[nodiscard]] stream_blocks& home_of_default(const stream_ref& stream);
  void hand_out(block& given, std::size_t requested, std::size_t uncounted,
                CUstream stream) noexcept;
  [[nodiscard]] block* take(stream_blocks& from, stream_blocks& home, const wanted_block& wanted);
  [[nodiscard]] bool has_fit(stream_blocks& in, const wanted_block& wanted) noexcept;
  void learn(stream_blocks& of, const wanted_block* wanted = nullptr) noexcept;
  [[nodiscard]] bool record_guard(stream_blocks& of, unsigned long long freed) noexcept;
  void abandon(stream_blocks& of) noexcept;
  void add_up(const stream_blocks& last) noexcept;
  void bury() noexcept;

  // Under lock_:
  void prepare_blocks();
  [[nodiscard]] block& new_block() noexcept;
  void cut(block& given, std::size_t size) noexcept;
  void give_home(block& given) noexcept;
  void join(block& given, block& later) noexcept;
  void settle(stream_blocks& of) noexcept;
  void gather(stream_blocks& from, unsigned long long latest, stream_blocks& to) noexcept;
  void unpin(stream_blocks& of) noexcept;
  void take_out(segment& of) noexcept;
  void check_context(const context_instance& of_stream) noexcept;
  [[nodiscard]] static bool is_free(const segment& of) noexcept;
  void count_frees() noexcept;

  const std::uint32_t generation_ = fork_generation.load(std::memory_order_relaxed);
  const std::shared_ptr<pool_totals> totals_;
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> counts_at_once_{false};
  std::atomic<bool> is_inert_{false};
  std::atomic<stream_blocks*> last_default_{nullptr};
  unsigned holders_ = 1;  // under the lock of the attachments

  spin_lock lock_;            // what is below, and the bins and neighbours of all blocks
  context_instance context_;  // of the first stream
  segment* segments_ = nullptr;
  stream_blocks* homes_ = nullptr;
  stream_blocks anyones_;          // what no stream uses any more
  stream_blocks* dead_ = nullptr;  // to be deleted without the lock
  block* spare_ = nullptr;         // nodes of blocks that were joined
  unsigned spares_ = 0;
  std::vector<std::unique_ptr<block[]>> nodes_;
};

}  // namespace halfwarp::core
