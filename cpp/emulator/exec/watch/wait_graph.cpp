// SPDX-License-Identifier: Apache-2.0
// Building the graph, taking out who may go on, and finding a cycle in what is left.
#include "emulator/exec/watch/wait_graph.hpp"

#include <algorithm>

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t pointer_reach = 4096;  // bytes of an object behind a pointer to it

// A word that holds the address of another one that the thread looks at: a pointer to the lock.
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
    for (lane_mask rest = w.view.live; rest; rest &= rest - 1) {
      waiting_thread t;
      t.id = {block.number, w.view.index, static_cast<std::uint32_t>(__builtin_ctz(rest))};
      t.warp = &w;
      t.split = split_of(w, t.id.lane);
      t.seen = observed_.find(t.id);
      index_[t.id] = static_cast<std::uint32_t>(threads_.size());
      threads_.push_back(std::move(t));
    }
  }
}

template <class Belongs>
std::vector<std::uint32_t> wait_graph::those(std::uint64_t block, Belongs belongs) const {
  std::vector<std::uint32_t> found;
  for (auto i = index_.lower_bound({block, 0, 0}); i != index_.end(); ++i) {
    if (i->first.block != block) break;
    if (belongs(threads_[i->second])) found.push_back(i->second);
  }
  return found;
}

void wait_graph::add_group(waiting_thread& of, std::vector<std::uint32_t> members) {
  if (members.empty()) return;
  of.groups.push_back(static_cast<std::uint32_t>(groups_.size()));
  groups_.push_back(std::move(members));
}

// It has stood at one place: what has not come there yet is what it waits for.
void wait_graph::add_parked(waiting_thread& t) {
  const warp_split& mine = *t.split;
  add_group(t, those(t.id.block, [&](const waiting_thread& other) {
              const warp_split& f = *other.split;
              bool is_in_warp = other.warp == t.warp;
              switch (mine.state) {
                case split_state::at_barrier:
                  return f.state != split_state::at_barrier || f.barrier != mine.barrier;
                case split_state::before_aligned:
                  return is_in_warp && &f != &mine;
                case split_state::at_collective:
                  return is_in_warp && &f != &mine && (mine.members >> other.id.lane & 1) != 0;
                default:
                  return false;
              }
            }));
}

void wait_graph::add_observed(waiting_thread& t) {
  if (t.seen->may_end_by_itself) t.is_stuck = false;
  if (t.seen->has_passed_barrier) {
    auto [known, is_new] = whole_blocks_.try_emplace(t.id.block, groups_.size());
    if (is_new) groups_.push_back(those(t.id.block, [](const waiting_thread&) { return true; }));
    t.groups.push_back(known->second);
  }
  add_group(t, those(t.id.block, [&](const waiting_thread& other) {
              return other.warp == t.warp && (t.seen->partners >> other.id.lane & 1) != 0;
            }));
  for (const auto& [cell, word] : t.seen->words) add_word(t, cell, word);
}

void wait_graph::add_word(waiting_thread& t, std::uint64_t cell, const seen_word& word) {
  if (const change* taken = held(t, word, cell)) {
    auto holder = index_.find({taken->block, taken->warp, taken->lane});
    // A thread may take a message out of a word again and again by exchange, without holding it.
    bool counts = holder != index_.end() && (holder->first != t.id || taken->word.is_cas);
    if (counts) {
      t.locks.push_back({&word, taken, holder->second});
      return;
    }
  }
  if (!is_pointer(*t.seen, word)) t.is_stuck = false;
}

// The last change of a word that only threads of this launch are expected to change.
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
  auto stands = [&](std::uint32_t index) { return threads_[index].is_stuck; };
  if (!t.is_stuck || (t.locks.empty() && t.groups.empty())) return false;
  for (const awaited_lock& lock : t.locks) {
    if (!stands(lock.holder)) return false;
  }
  return std::all_of(t.groups.begin(), t.groups.end(), [&](std::uint32_t group) {
    return std::all_of(groups_[group].begin(), groups_[group].end(), stands);
  });
}

void wait_graph::settle() {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (waiting_thread& t : threads_) {
      if (!t.is_stuck || is_stuck(t)) continue;
      t.is_stuck = false;
      has_changed = true;
    }
  }
}

// A lock before all else, since only locks make a cycle one of locks.
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
  settle();
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
