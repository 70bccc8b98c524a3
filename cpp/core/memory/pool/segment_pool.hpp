// SPDX-License-Identifier: Apache-2.0
// A memory pool in stream order: it splits segments of upstream memory into blocks.
#pragma once

#include <memory>
#include <vector>

#include "core/memory/pool/stream_blocks.hpp"

namespace halfwarp::core {

// Counters shared by a pool and the pools that serve its captures.
struct pool_totals {
  // Requested bytes of live blocks. Too large by the `unsubtracted` bytes of the streams' lists,
  // which avoid contention when one stream frees and allocates. Never exceeds the peak, because
  // `unsubtracted` is subtracted before the peak is raised.
  std::atomic<std::size_t> allocated{0};
  std::atomic<std::size_t> allocated_peak{0};
  std::atomic<std::size_t> reserved{0};
  std::atomic<std::size_t> reserved_peak{0};
  // Cumulative:
  std::atomic<unsigned long long> reuse_cross_stream{0};
  std::atomic<unsigned long long> cross_stream_waits{0};
  std::atomic<unsigned long long> upstream_allocs{0};
  std::atomic<unsigned long long> upstream_frees{0};
  std::atomic<unsigned long long> oom_retries{0};
  // Cumulative, of the lists of destroyed streams:
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

// A thread-safe pool. It never calls the driver while it holds a spin lock, so a thread may wait
// for its locks while it holds the GIL. The caller adds a segment when no free block is large
// enough. In a child process its locks may be held by threads that do not exist: call
// is_of_this_process() before any other member.
class segment_pool {
 public:
  explicit segment_pool(std::shared_ptr<pool_totals> totals);
  // Releases a reference. The last one deletes the pool; its segments must be removed before.
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

  // Returns a block that is free in the stream's order, or whose last use has completed; or null.
  [[nodiscard]] block* allocate(std::size_t requested, const stream_ref& stream);
  // Like allocate(), but from segments for `use` only, and without the quick lists.
  [[nodiscard]] block* allocate_from_bins(std::size_t requested, const stream_ref& stream,
                                          segment_use use);

  // Takes a block freed on another stream. Tries, in order: a block whose last use has completed;
  // any free block, after making `stream` wait for it; a block merged from completed pieces. Call
  // with the GIL released.
  [[nodiscard]] block* allocate_across_streams(std::size_t requested, const stream_ref& stream,
                                               segment_use use);

  // Adds memory that may be used on the stream from now on, and allocates a block of it unless
  // `requested` is 0. The size must be a multiple of block_unit and have been reserved. Blocks are
  // aligned to block_unit relative to the address. Removing the segment returns `owner`.
  block* add_segment(CUdeviceptr address, std::size_t size, void* owner, const stream_ref& stream,
                     std::size_t requested);
  // Counts memory to be added; returns false if the total would exceed `limit` bytes.
  [[nodiscard]] bool reserve(std::size_t size, std::size_t limit) noexcept;
  void unreserve(std::size_t size) noexcept { totals_->reserved -= size; }

  // Returns whether this was the last live block of a closed pool; its segments must be removed
  // then.
  bool free(block& target, stream_blocks& home) noexcept;
  // Frees after the work of the calling thread's default stream. Call with the GIL released.
  bool free_on_this_thread(block& target, const stream_ref& stream);

  // Returns the list of the stream, which blocks freed on the stream return to.
  [[nodiscard]] stream_blocks& home_of(const stream_ref& stream);
  void change_home(block& live, stream_blocks& target) noexcept;

  // Makes `stream` wait for the last uses of the free blocks, and removes completely free segments
  // while at least `min_bytes` remain. The caller frees their memory and deletes them. Call with
  // the GIL released.
  [[nodiscard]] segment* remove_free_segments(std::size_t min_bytes, const stream_ref& stream);
  // Removes all segments, even those with live blocks.
  [[nodiscard]] segment* remove_all_segments() noexcept;

  // Waits for all work of the streams' contexts, and merges free blocks. Call with the GIL
  // released.
  void synchronize();
  // Returns whether the context of the first stream was reset or destroyed; checked when a new
  // stream is attached.
  [[nodiscard]] bool is_inert() const noexcept { return is_inert_.load(); }

  // Subtracts each free from the totals at once, to detect the last free, or because other pools
  // share the totals.
  void count_at_once() noexcept;
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(); }

  // Returns the figures of this pool alone; the totals are exact at that moment.
  [[nodiscard]] pool_figures figures() noexcept;
  [[nodiscard]] std::vector<live_block> live_blocks();
  // Records that the owner of a live block was detached: only its address can free it now.
  void disown(block& live) noexcept;
  // Moves the live block at an address to the caller, which frees it. Null if there is none, or if
  // it has an owner, which `is_owned` reports.
  [[nodiscard]] block* claim(CUdeviceptr address, bool& is_owned) noexcept;
  // Returns whether a segment contains a byte of the range.
  [[nodiscard]] bool overlaps(CUdeviceptr address, std::size_t size) noexcept;

  // Detaches a destroyed stream. Its blocks are retained until its work has completed.
  static void detach(stream_blocks* first) noexcept;

 private:
  ~segment_pool() = default;
  class home_iterator;

  [[nodiscard]] stream_blocks& attach(const stream_ref& stream);
  [[nodiscard]] stream_blocks& home_of_default(const stream_ref& stream);
  void mark_live(block& target, std::size_t requested, std::size_t uncounted,
                 CUstream stream) noexcept;
  [[nodiscard]] block* take_fit(stream_blocks& from, stream_blocks& home,
                                const block_request& request);
  [[nodiscard]] bool has_fit(stream_blocks& blocks, const block_request& request) noexcept;
  void update_completed(stream_blocks& blocks, const block_request* request = nullptr) noexcept;
  [[nodiscard]] bool record_guard(stream_blocks& blocks, unsigned long long freed) noexcept;
  void orphan(stream_blocks& blocks) noexcept;
  void add_counters(const stream_blocks& finished) noexcept;
  void delete_dead() noexcept;

  // Require lock_:
  void prepare_blocks();
  [[nodiscard]] block& new_block() noexcept;
  void split(block& target, std::size_t size) noexcept;
  void insert_merged(block& target) noexcept;
  void merge(block& target, block& absorbed) noexcept;
  void flush_quick(stream_blocks& blocks) noexcept;
  void move_completed(stream_blocks& from, unsigned long long latest, stream_blocks& to) noexcept;
  void unpin(stream_blocks& blocks) noexcept;
  void remove_blocks(segment& target) noexcept;
  void check_context(const context_instance& of_stream) noexcept;
  [[nodiscard]] static bool is_free(const segment& target) noexcept;
  void count_frees() noexcept;

  const std::uint32_t generation_ = fork_generation.load(std::memory_order_relaxed);
  const std::shared_ptr<pool_totals> totals_;
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> counts_at_once_{false};
  std::atomic<bool> is_inert_{false};
  std::atomic<stream_blocks*> last_default_{nullptr};
  unsigned holders_ = 1;  // guarded by pool_attachments

  spin_lock lock_;            // guards the members below, and bins and neighbors of all blocks
  context_instance context_;  // of the first stream
  segment* segments_ = nullptr;
  stream_blocks* homes_ = nullptr;
  stream_blocks idle_;             // blocks without pending work of any stream
  stream_blocks* dead_ = nullptr;  // lists to delete when the lock is not held
  block* spare_ = nullptr;         // unused block nodes
  unsigned spares_ = 0;
  std::vector<std::unique_ptr<block[]>> nodes_;
};

}  // namespace halfwarp::core
