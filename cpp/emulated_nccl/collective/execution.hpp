// SPDX-License-Identifier: Apache-2.0
// The execution of an operation in a stream. It runs collectives in order, and all sends and
// receives at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated_nccl/collective/values.hpp"
#include "emulated_nccl/communicator/communicator.hpp"

namespace halfwarp::emulated_nccl {

// A call with its buffers. `scalar`: the operation that the program created.
struct task {
  message call;
  const void* send = nullptr;
  void* receive = nullptr;
  created_operation scalar;
};

// The tasks that one rank enqueues in a stream at once. Shared by all executions of a graph.
struct batch {
  communicator_ref owner;
  std::vector<task> tasks;
};

// Positions of the host addresses of a task's ranges.
inline constexpr std::size_t views_per_task = 3;  // send, receive, scalar

class execution {
 public:
  explicit execution(const batch& source) noexcept;
  ~execution();
  execution(const execution&) = delete;  // the communicator refers to it
  execution& operator=(const execution&) = delete;

  enum class outcome : unsigned { done, waits, failed };
  outcome step(unsigned char* const* views, bool may_sleep, result& code);
  // Called if the stream gave up before the operation completed.
  void give_up() noexcept;

 private:
  // The state of one task.
  struct progress {
    bool is_started = false, is_written = false, is_complete = false;
    std::uint64_t chunk = 0;   // the number of the next chunk
    std::uint64_t offset = 0;  // elements
  };

  outcome advance(unsigned char* const* views, result& code);
  bool acquire() noexcept;
  void advance_collective(const task& each, progress& state, unsigned char* const* views);
  void advance_send(const task& each, progress& state, const unsigned char* data);
  void advance_receive(const task& each, progress& state, unsigned char* data);
  void write_chunk(const task& each, std::uint64_t chunk, std::uint64_t offset,
                   std::uint64_t elements, unsigned char* const* views);
  void read_chunk(const task& each, std::uint64_t chunk, std::uint64_t offset,
                  std::uint64_t elements, unsigned char* to);
  void reduce_chunk(const message& call, std::uint64_t chunk, std::uint64_t first,
                    std::uint64_t elements, unsigned char* to);
  bool agrees(const message& call, std::uint64_t chunk);

  void await(int rank) noexcept;
  void note_progress() noexcept;
  void fail_all(result code, const std::string& text);
  void check_others(std::uint32_t bell);
  bool is_in_cycle(std::uint32_t bell) const noexcept;
  void leave() noexcept;

  const batch& source_;
  communicator& owner_;
  const segment& shared_;
  std::vector<progress> states_;
  bool is_active_ = false, has_progressed_ = false;
  rank_mask awaited_ = 0;
  std::chrono::steady_clock::time_point last_progress_, last_check_;
};

}  // namespace halfwarp::emulated_nccl
