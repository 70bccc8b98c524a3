// SPDX-License-Identifier: Apache-2.0
// Builds the graph, removes threads that may continue, and finds a cycle among the others.
#include "emulator/exec/watch/wait_graph.hpp"

#include <algorithm>

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t pointer_reach =
    4096;  // maximum offset of a lock from a pointer to its object

// Checks whether a word is a pointer to another word that the thread reads, such as the lock.
bool is_pointer(const seen_thread& by, const seen_word& word) {
  if (word.use != memory_use::load || word.bytes != 8) return false;
  return std::any_of(by.words.begin(), by.words.end(), [&](const auto& other) {
    return !other.second.is_shared && other.second.address - word.value < pointer_reach;
  });
}

const warp_split* split_of(const warp_state& w, std::uint32_t lane) {
  auto has_lane = [&](const warp_split& f) { return f.lanes >> lane & 1; };
  return std::find_if(w.splits.begin(), w.splits.end(), has_lane);
}

}  // namespace

wait_graph::wait_graph(std::span<block_state* const> blocks, const observer& seen,
                       std::uint64_t since)
    : observed_{seen}, since_{since} {
  std::vector<block_state*> ordered{blocks.begin(), blocks.end()};
  std::sort(ordered.begin(), ordered.end(),
            [](const block_state* a, const block_state* b) { return a->number < b->number; });
  for (block_state* block : ordered) add_block(*block);
  for (waiting_thread& t : threads_) t.seen ? add_observed(t) : add_parked(t);
}

void wait_graph::add_block(block_state& block) {
  for (warp_state& w : block.warps) {
    for (lane_mask remaining = w.view.live; remaining; remaining &= remaining - 1) {
      waiting_thread t;
      t.id = {block.number, w.view.index, static_cast<std::uint32_t>(__builtin_ctz(remaining))};
      t.warp = &w;
      t.split = split_of(w, t.id.lane);
      t.seen = observed_.find(t.id);
      index_[t.id] = static_cast<std::uint32_t>(threads_.size());
      threads_.push_back(std::move(t));
    }
  }
}

template <class Belongs>
std::vector<std::uint32_t> wait_graph::matching_threads(std::uint64_t block,
                                                        Belongs belongs) const {
  std::vector<std::uint32_t> threads;
  for (auto i = index_.lower_bound({block, 0, 0}); i != index_.end(); ++i) {
    if (i->first.block != block) break;
    if (belongs(threads_[i->second])) threads.push_back(i->second);
  }
  return threads;
}

void wait_graph::add_group(waiting_thread& of, std::vector<std::uint32_t> members) {
  if (members.empty()) return;
  of.groups.push_back(static_cast<std::uint32_t>(groups_.size()));
  groups_.push_back(std::move(members));
}

// Adds the threads that a parked thread waits for: those that have not arrived.
void wait_graph::add_parked(waiting_thread& t) {
  const warp_split& own = *t.split;
  add_group(t, matching_threads(t.id.block, [&](const waiting_thread& other) {
              const warp_split& f = *other.split;
              bool is_in_warp = other.warp == t.warp;
              switch (own.state) {
                case split_state::at_barrier:
                  return f.state != split_state::at_barrier || f.barrier != own.barrier;
                case split_state::before_aligned:
                  return is_in_warp && &f != &own;
                case split_state::at_collective:
                  return is_in_warp && &f != &own && (own.members >> other.id.lane & 1) != 0;
                default:
                  return false;
              }
            }));
}

void wait_graph::add_observed(waiting_thread& t) {
  if (t.seen->may_end_by_itself) t.is_stuck = false;
  if (t.seen->has_passed_barrier) {
    auto [entry, is_new] = whole_blocks_.try_emplace(t.id.block, groups_.size());
    if (is_new)
      groups_.push_back(matching_threads(t.id.block, [](const waiting_thread&) { return true; }));
    t.groups.push_back(entry->second);
  }
  add_group(t, matching_threads(t.id.block, [&](const waiting_thread& other) {
              return other.warp == t.warp && (t.seen->partners >> other.id.lane & 1) != 0;
            }));
  for (const auto& [cell, word] : t.seen->words) add_word(t, cell, word);
}

void wait_graph::add_word(waiting_thread& t, std::uint64_t cell, const seen_word& word) {
  if (const change* taken = held(t, word, cell)) {
    auto holder = index_.find({taken->block, taken->warp, taken->lane});
    // A thread may repeatedly fetch a message from a word by exchange, without holding it.
    bool is_lock = holder != index_.end() && (holder->first != t.id || taken->word.is_cas);
    if (is_lock) {
      t.locks.push_back({&word, taken, holder->second});
      return;
    }
  }
  if (!is_pointer(*t.seen, word)) t.is_stuck = false;
}

// Returns the last change of a word if only threads of this launch can change it, else null.
const change* wait_graph::held(const waiting_thread& t, const seen_word& word,
                               std::uint64_t cell) const {
  const block_state& block = *t.warp->view.block;
  const change* last = last_change(block, cell);
  bool is_held = last && last->sequence <= since_ && last->word.bytes == word.bytes &&
                 read_word(cell, word.bytes) == last->word.after;
  if (!is_held || word.is_shared) return is_held ? last : nullptr;
  auto memory = block.launch->space.find_live(word.address);
  bool is_of_device = memory && !memory::is_host_visible(memory->kind) && !memory->is_shared;
  return is_of_device ? last : nullptr;
}

bool wait_graph::is_stuck(const waiting_thread& t) const {
  auto is_thread_stuck = [&](std::uint32_t index) { return threads_[index].is_stuck; };
  if (!t.is_stuck || (t.locks.empty() && t.groups.empty())) return false;
  for (const awaited_lock& lock : t.locks) {
    if (!is_thread_stuck(lock.holder)) return false;
  }
  return std::all_of(t.groups.begin(), t.groups.end(), [&](std::uint32_t group) {
    return std::all_of(groups_[group].begin(), groups_[group].end(), is_thread_stuck);
  });
}

void wait_graph::remove_runnable() {
  for (bool has_removed = true; has_removed;) {
    has_removed = false;
    for (waiting_thread& t : threads_) {
      if (!t.is_stuck || is_stuck(t)) continue;
      t.is_stuck = false;
      has_removed = true;
    }
  }
}

// Prefers a lock, because a lock cycle needs at least one.
wait_link wait_graph::link_of(std::uint32_t waiter) const {
  const waiting_thread& t = threads_[waiter];
  if (!t.locks.empty()) return {waiter, t.locks.front().holder, &t.locks.front()};
  for (std::uint32_t group : t.groups) {
    for (std::uint32_t other : groups_[group]) {
      if (other != waiter && !threads_[other].locks.empty()) return {waiter, other, nullptr};
    }
  }
  const auto& members = groups_[t.groups.front()];
  return {waiter, members.front() == waiter ? members.back() : members.front(), nullptr};
}

std::vector<wait_link> wait_graph::cycle_from(std::uint32_t first) const {
  std::vector<wait_link> path;
  std::map<std::uint32_t, std::size_t> place;
  for (std::uint32_t at = first; place.try_emplace(at, path.size()).second;) {
    path.push_back(link_of(at));
    at = path.back().next;
  }
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(place[path.back().next]));
  return path;
}

std::vector<wait_link> wait_graph::find_cycle() {
  remove_runnable();
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    if (!threads_[i].is_stuck) continue;
    std::vector<wait_link> cycle = cycle_from(i);
    auto is_lock = [](const wait_link& link) { return link.lock != nullptr; };
    if (std::none_of(cycle.begin(), cycle.end(), is_lock)) continue;
    auto first = std::min_element(cycle.begin(), cycle.end(),
                                  [](auto& a, auto& b) { return a.waiter < b.waiter; });
    std::rotate(cycle.begin(), first, cycle.end());
    return cycle;
  }
  return {};
}

}  // namespace halfwarp::emulator::exec
