// SPDX-License-Identifier: Apache-2.0
// Formats a lock cycle: the lock that each thread waits for, and where its holder acquired it.
#include <algorithm>
#include <string>

#include "emulator/exec/access.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/warp/frame.hpp"
#include "emulator/exec/watch/wait_graph.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::size_t max_listed = 8;

// Returns the location of a thread at an instruction of a function.
report::fault place_of(const waiting_thread& t, const function_code& function,
                       const instruction& at) {
  warp view = t.warp->view;
  view.function = &function;
  return describe_fault(view, at, static_cast<int>(t.id.lane));
}

report::fault waiting_place(const waiting_thread& t, const awaited_lock* lock) {
  if (lock) return place_of(t, *lock->seen->function, *lock->seen->at);
  const function_code& function = *t.split->top_frame->function;
  return place_of(t, function, function.code[t.split->next]);
}

void set_lock(report::fault& f, const waiting_thread& waiter, const awaited_lock& lock) {
  f.access =
      lock.seen->use == memory_use::load ? report::access_kind::load : report::access_kind::atomic;
  f.bytes = lock.seen->bytes;
  f.address = lock.seen->address;
  f.space = lock.seen->is_shared ? report::memory_space::shared : report::memory_space::global;
  if (!lock.seen->is_shared) {
    f.nearest = waiter.warp->view.block->launch->space.find_live(lock.seen->address);
  }
}

std::string lock_text(const report::fault& f) {
  if (f.space == report::memory_space::shared) {
    return "byte " + std::to_string(f.address) + " of shared memory";
  }
  return report::hexadecimal(f.address) + " (" + report::allocation_text(f) + ")";
}

std::string thread_text(const report::fault& f) {
  return "block " + report::triple(f.block_index) + " thread " + report::triple(f.thread);
}

// Returns "block (1,0,0) thread (0,0,0) acquired it on PTX line 9".
std::string holder_text(const wait_graph& graph, const awaited_lock& lock) {
  report::fault f = place_of(graph.thread(lock.holder), *lock.taken->function, *lock.taken->at);
  return thread_text(f) + " acquired it on " + report::place_text(f);
}

std::string link_text(const wait_graph& graph, const wait_link& link, bool is_first) {
  const waiting_thread& waiter = graph.thread(link.waiter);
  report::fault f = waiting_place(waiter, link.lock);
  std::string text = is_first ? "it waits" : thread_text(f) + " waits";
  if (!link.lock) {
    report::fault other = waiting_place(graph.thread(link.next), nullptr);
    return text + " on " + report::place_text(f) + " for " + thread_text(other);
  }
  set_lock(f, waiter, *link.lock);
  text += " for the lock at " + lock_text(f);
  if (!is_first) text += " on " + report::place_text(f);
  return text + ", and " + holder_text(graph, *link.lock);
}

}  // namespace

report::fault describe_cycle(const wait_graph& graph, std::span<const wait_link> cycle) {
  const wait_link& first = cycle.front();
  const waiting_thread& waiter = graph.thread(first.waiter);
  report::fault f = waiting_place(waiter, first.lock);
  f.kind = report::fault_kind::lock_cycle;
  if (first.lock) set_lock(f, waiter, *first.lock);
  for (std::size_t i = 0; i < std::min(cycle.size(), max_listed); ++i) {
    f.detail += (i ? "; " : "") + link_text(graph, cycle[i], i == 0);
  }
  if (cycle.size() > max_listed) {
    f.detail += "; and " + std::to_string(cycle.size() - max_listed) + " more threads";
  }
  f.hint = cycle.size() == 1
               ? "the thread waits for a lock that it holds: release it before acquiring it again"
               : "acquire locks in one order everywhere, for example by address, and hold none "
                 "at a barrier";
  return f;
}

}  // namespace halfwarp::emulator::exec
