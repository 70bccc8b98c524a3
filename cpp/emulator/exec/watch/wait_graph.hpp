// SPDX-License-Identifier: Apache-2.0
// Which threads wait for which, in a launch whose state goes round.
//
// A thread stands still for ever when all that could end its loop is up to threads that stand still
// for ever: each word that it reads is held by one of them, and each thread that it meets at
// barriers and in collective instructions is one of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/watch/observer.hpp"

namespace halfwarp::emulator::exec {

// A word that a thread reads again and again, and the change that it waits to see taken back.
struct awaited_lock {
  const seen_word* seen = nullptr;
  const change* taken = nullptr;
  std::uint32_t holder = 0;  // index of a thread
};

struct waiting_thread {
  thread_id id;
  warp_state* warp = nullptr;
  const warp_split* split = nullptr;
  const seen_thread* seen = nullptr;  // null: it executed nothing
  std::vector<awaited_lock> locks;
  std::vector<std::uint32_t> groups;  // of threads without which it cannot go on
  bool is_stuck = true;
};

// One thread of a cycle and the next one.
struct wait_link {
  std::uint32_t waiter = 0, next = 0;
  const awaited_lock* lock = nullptr;  // null: it waits at a barrier or with other lanes
};

class wait_graph {
 public:
  // `since`: how many changes there were when the observer began.
  wait_graph(std::span<block_state* const> blocks, const observer& seen, std::uint64_t since);

  const waiting_thread& thread(std::uint32_t index) const { return threads_[index]; }
  // Nothing that the thread waits for counts from now on.
  void release(std::uint32_t index) { threads_[index].is_stuck = false; }
  // A cycle with a lock in it, the first thread of the grid first; empty: there is none.
  std::vector<wait_link> find_cycle();

 private:
  void add_block(block_state& block);
  void add_group(waiting_thread& of, std::vector<std::uint32_t> members);
  void add_parked(waiting_thread& t);
  void add_observed(waiting_thread& t);
  void add_word(waiting_thread& t, std::uint64_t cell, const seen_word& word);
  const change* held(const waiting_thread& t, const seen_word& word, std::uint64_t cell) const;
  template <class Belongs>
  std::vector<std::uint32_t> those(std::uint64_t block, Belongs belongs) const;
  bool is_stuck(const waiting_thread& t) const;
  void settle();
  wait_link link_of(std::uint32_t waiter) const;
  std::vector<wait_link> cycle_from(std::uint32_t first) const;

  const observer& observed_;
  std::uint64_t since_;
  std::vector<waiting_thread> threads_;  // in the order of the grid
  std::map<thread_id, std::uint32_t> index_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::map<std::uint64_t, std::uint32_t> whole_blocks_;  // by number: their group
};

// A cycle as a fault (cycle_report.cpp).
report::fault describe_cycle(const wait_graph& graph, std::span<const wait_link> cycle);

}  // namespace halfwarp::emulator::exec
