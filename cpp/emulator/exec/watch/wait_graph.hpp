// SPDX-License-Identifier: Apache-2.0
// The graph of threads that wait for each other, in a launch whose state recurs.
//
// A thread is stuck if only stuck threads could end its loop: they hold each word that it reads,
// and they are its partners at barriers and in collective instructions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/watch/observer.hpp"

namespace halfwarp::emulator::exec {

// A word that a thread polls, and the change whose reversal it waits for.
struct awaited_lock {
  const seen_word* seen = nullptr;
  const change* taken = nullptr;
  std::uint32_t holder = 0;  // index of a thread
};

struct waiting_thread {
  thread_id id;
  warp_state* warp = nullptr;
  const warp_split* split = nullptr;
  const seen_thread* seen = nullptr;  // null: executed nothing
  std::vector<awaited_lock> locks;
  std::vector<std::uint32_t> groups;  // of threads that it waits for
  bool is_stuck = true;
};

// A thread of a cycle and its successor.
struct wait_link {
  std::uint32_t waiter = 0, next = 0;
  const awaited_lock* lock = nullptr;  // null: waits at a barrier or collective
};

class wait_graph {
 public:
  // `since` is the number of changes when the observation started.
  wait_graph(std::span<block_state* const> blocks, const observer& seen, std::uint64_t since);

  const waiting_thread& thread(std::uint32_t index) const { return threads_[index]; }
  // Removes a thread from the graph, as one that can continue.
  void release(std::uint32_t index) { threads_[index].is_stuck = false; }
  // Returns a cycle with at least one lock, starting at its first thread in the grid; else empty.
  std::vector<wait_link> find_cycle();

 private:
  void add_block(block_state& block);
  void add_group(waiting_thread& of, std::vector<std::uint32_t> members);
  void add_parked(waiting_thread& t);
  void add_observed(waiting_thread& t);
  void add_word(waiting_thread& t, std::uint64_t cell, const seen_word& word);
  const change* held(const waiting_thread& t, const seen_word& word, std::uint64_t cell) const;
  template <class Belongs>
  std::vector<std::uint32_t> matching_threads(std::uint64_t block, Belongs belongs) const;
  bool is_stuck(const waiting_thread& t) const;
  void remove_runnable();
  wait_link link_of(std::uint32_t waiter) const;
  std::vector<wait_link> cycle_from(std::uint32_t first) const;

  const observer& observed_;
  std::uint64_t since_;
  std::vector<waiting_thread> threads_;  // in the order of the grid
  std::map<thread_id, std::uint32_t> index_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::map<std::uint64_t, std::uint32_t> whole_blocks_;  // block number to group
};

// Describes a cycle as a fault. Defined in cycle_report.cpp.
report::fault describe_cycle(const wait_graph& graph, std::span<const wait_link> cycle);

}  // namespace halfwarp::emulator::exec
