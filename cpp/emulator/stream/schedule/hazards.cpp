// SPDX-License-Identifier: Apache-2.0
// Clocks of operations, and comparison of the bytes that they access.
#include "emulator/stream/schedule/hazards.hpp"

#include <algorithm>
#include <utility>

#include "emulator/object/current_call.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {
namespace {

// Times between two operations belong to allocations.
constexpr std::uint64_t time_of(std::uint64_t ticket) { return ticket << 20; }
// Bodies of a conditional node run behind all allocations, and before the node's own time.
constexpr std::uint64_t max_iterations = 1 << 19;

// Returns whether two uses of the same bytes need an order. Atomic updates do not race.
bool conflict(byte_use a, byte_use b) {
  if (a == byte_use::read && b == byte_use::read) return false;
  if (a == byte_use::allocate && b == byte_use::release) return false;  // reported for a use
  return a != byte_use::update || b != byte_use::update;
}

const byte_range* common_range(const std::vector<byte_range>& a, const std::vector<byte_range>& b) {
  auto mine = a.begin();
  auto theirs = b.begin();
  while (mine != a.end() && theirs != b.end()) {
    const bool is_before = mine->first + mine->bytes <= theirs->first;
    const bool is_behind = theirs->first + theirs->bytes <= mine->first;
    if (!is_before && !is_behind) return mine->first > theirs->first ? &*mine : &*theirs;
    if (is_before) {
      ++mine;
    } else {
      ++theirs;
    }
  }
  return nullptr;
}

bool covers(const std::vector<byte_range>& outer, const std::vector<byte_range>& inner) {
  const auto first = inner.front().first, end = inner.back().first + inner.back().bytes;
  return std::ranges::any_of(outer, [&](const byte_range& each) {
    return each.first <= first && end <= each.first + each.bytes;
  });
}

std::uint64_t key_of(const memory::allocation& memory) {
  return memory.is_reserved ? memory.base : memory.sequence;
}

std::string verb_of(byte_use use) {
  switch (use) {
    case byte_use::read:
      return "reads";
    case byte_use::write:
      return "writes";
    case byte_use::update:
      return "updates";
    case byte_use::allocate:
      return "allocates";
    case byte_use::release:
      break;
  }
  return "frees";
}

}  // namespace

void hazards::clock::join(const clock& other) {
  for (const auto& [stream, time] : other.times) join(stream, time);
  knows_all |= other.knows_all;
}

void hazards::clock::join(std::uint64_t stream, std::uint64_t time) {
  std::uint64_t& known = times[stream];
  known = std::max(known, time);
}

hazards::history& hazards::history_of(stream& target) {
  const auto [entry, is_new] = streams_.try_emplace(target.id());
  if (is_new) {
    history& created = entry->second;
    created.context = target.owner().root().id();
    created.number = target.number();
    created.is_legacy = target.is_legacy();
    created.is_blocking = target.is_blocking();
    created.source = target.as_shared();
  }
  return entry->second;
}

// Joins what is ordered before a point. An event that was recorded last also covers allocations.
void hazards::join_point(clock& target, const stream_point& point) const {
  if (!point.stream) return;
  const auto match = streams_.find(point.stream->id());
  if (match == streams_.end()) return;
  const history& source = match->second;
  const std::uint64_t time = time_of(point.ticket);
  target.join(match->first, std::min(source.end, time_of(point.ticket + 1) - 1));
  auto after = std::ranges::upper_bound(source.moments, time, {}, &moment::time);
  if (after != source.moments.begin()) target.join(*std::prev(after)->before);
}

// The legacy default stream and the blocking streams of its context wait for one another.
void hazards::join_implicit(clock& target, const history& of) const {
  if (!of.is_legacy && !of.is_blocking) return;
  for (const auto& [id, other] : streams_) {
    const bool is_ordered = of.is_legacy ? other.is_blocking : other.is_legacy;
    if (!is_ordered || other.context != of.context || &other == &of) continue;
    target.join(id, other.end);
    if (!other.moments.empty()) target.join(*other.moments.back().before);
  }
}

hazards::hazards(const memory::address_space& space, fault_log& faults)
    : space_{space}, faults_{faults} {}

void hazards::forget(memory::address base) { memory_.erase(base); }

void hazards::submit(stream& target, const operation& work, std::span<const stream_point> waits) {
  history& own = history_of(target);
  const bool is_new = own.moments.empty();
  clock before = is_new ? clock{} : *own.moments.back().before;
  if (body_) {  // the host may have waited for the node already, so its knowledge is too new
    before.join(body_->before);
  } else if (std::exchange(own.host_version, host_version_) != host_version_) {
    before.join(host_);
  }
  join_implicit(before, own);
  for (const stream_point& point : waits) join_point(before, point);
  if (before.knows_all) join_all(before);
  const std::uint64_t time = time_of(target.enqueued());
  before.join(target.id(), time);
  own.end = time;
  own.moments.push_back({time, next_sequence_++, std::make_shared<const clock>(before),
                         work.title(), call_site(), body_ ? body_->nodes : std::vector<point>{}});
  if (own.moments.size() > max_moments) own.moments.pop_front();
  for (const byte_range& range : work.ranges()) {
    insert({target.id(), own.moments.back(), range.use, {range}});
  }
  if (!work.waits_for_value()) return;
  before.knows_all = true;
  own.moments.back().before = std::make_shared<const clock>(std::move(before));
}

// Each iteration has a time of the node's stream. It follows the last one, and what waits for the
// node follows all.
void hazards::begin_body(stream& target, std::uint64_t iteration) {
  const history& own = history_of(target);
  const std::uint64_t time = time_of(target.completed() + 1);
  const auto match = std::ranges::lower_bound(own.moments, time, {}, &moment::time);
  body_.emplace();
  if (match == own.moments.end() || match->time != time) {
    body_->before.knows_all = true;  // the moment was forgotten
    return;
  }
  const std::uint64_t now = time - max_iterations + std::min(iteration, max_iterations - 1);
  body_->before = *match->before;
  body_->before.times[target.id()] = now - 1;
  body_->nodes = match->nodes;
  body_->nodes.push_back({target.id(), now});
}

// The host learns nothing from a wait for a value that it did not know until now.
void hazards::learn() {
  if (std::exchange(host_.knows_all, false)) join_all(host_);
  ++host_version_;
}

void hazards::join_all(clock& target) const {
  for (const auto& [id, each] : streams_) target.join(id, each.end);
}

void hazards::synchronize(const stream_point& point) {
  join_point(host_, point);
  learn();
}

void hazards::synchronize(const context& owner) {
  for (const auto& [id, each] : streams_) {
    if (each.context != owner.root().id()) continue;
    host_.join(id, each.end);
    if (!each.moments.empty()) host_.join(*each.moments.back().before);
  }
  learn();
}

// Returns the allocation around a byte, also if it was freed.
std::optional<memory::allocation> hazards::memory_at(memory::address byte) const {
  auto nearest = space_.nearest(byte);
  if (nearest && !nearest->contains(byte, 1)) nearest.reset();
  return nearest;
}

void hazards::allocate(stream& target, memory::address base) {
  history& own = history_of(target);
  own.end = std::max(own.end, time_of(target.enqueued())) + 1;
  const auto memory = space_.find_live(base);
  if (!memory) return;
  clock before = own.moments.empty() ? clock{} : *own.moments.back().before;
  before.join(target.id(), own.end);
  const moment now{
      own.end,           next_sequence_++, std::make_shared<const clock>(std::move(before)),
      "cuMemAllocAsync", call_site(),      {}};
  insert({target.id(), now, byte_use::allocate, {{base, memory->size, byte_use::allocate}}});
}

void hazards::add(stream& target, std::vector<byte_range> ranges) {
  const history& own = history_of(target);
  const std::uint64_t time = time_of(target.completed() + 1);
  const auto match = std::ranges::lower_bound(own.moments, time, {}, &moment::time);
  if (match == own.moments.end() || match->time != time) return;
  access next;
  std::optional<memory::allocation> memory;
  const auto flush = [&] {
    if (!next.ranges.empty()) insert(std::move(next));
    next = {target.id(), *match, byte_use::read, {}};
  };
  flush();
  for (const byte_range& range : ranges) {
    const bool is_same =
        memory && memory->contains(range.first, range.bytes) && range.use == next.use;
    if (!is_same) {
      flush();
      memory = memory_at(range.first);
      next.use = range.use;
    }
    next.ranges.push_back(range);
  }
  flush();
}

bool hazards::precedes(const access& first, const access& second) {
  const clock& known = *second.by.before;
  const auto is_known = [&](const point& of) {
    const auto match = known.times.find(of.first);
    return match != known.times.end() && match->second >= of.second;
  };
  return known.knows_all || is_known({first.stream, first.by.time}) ||
         std::ranges::any_of(first.by.nodes, is_known);
}

void hazards::insert(access added) {
  const auto memory = memory_at(added.ranges.front().first);
  if (!memory) return;
  if (memory_.size() > max_allocations) forget_freed();
  accesses& known = memory_[key_of(*memory)];
  for (const access& before : known) compare(before, added, *memory);
  const auto is_replaced = [&](const access& before) {
    const bool is_as_strong = added.use == byte_use::write || added.use == before.use;
    return is_as_strong && precedes(before, added) && covers(added.ranges, before.ranges);
  };
  std::erase_if(known, is_replaced);
  known.push_back(std::move(added));
  if (known.size() > max_accesses) known.pop_front();
}

void hazards::forget_freed() {
  std::set<std::uint64_t> live;
  for (const auto& each : space_.live_allocations()) live.insert(key_of(each));
  std::erase_if(memory_, [&](const auto& each) { return !live.contains(each.first); });
}

void hazards::compare(const access& before, const access& added, const memory::allocation& memory) {
  const bool is_same = before.stream == added.stream && before.by.time == added.by.time;
  if (is_same || !conflict(before.use, added.use)) return;
  if (precedes(before, added) || precedes(added, before)) return;
  if (const auto* common = common_range(before.ranges, added.ranges)) {
    report(before, added, *common, memory);
  }
}

bool hazards::is_pending(const access& each) const {
  const auto source = streams_.at(each.stream).source.lock();
  return source && time_of(source->completed()) < each.by.time;
}

bool hazards::take_failure(stream& target) {
  return failing_.erase({target.id(), time_of(target.completed() + 1)}) != 0;
}

void hazards::report(const access& before, const access& added, const byte_range& common,
                     const memory::allocation& memory) {
  const bool is_later = added.by.sequence > before.by.sequence;
  const access &earlier = is_later ? before : added, &later = is_later ? added : before;
  const bool is_swapped = earlier.use == byte_use::release || later.use == byte_use::allocate;
  const access &first = is_swapped ? later : earlier, &second = is_swapped ? earlier : later;
  const auto text_of = [&](const access& each) {
    const std::uint64_t number = streams_.at(each.stream).number;
    return each.by.title + (each.by.site.empty() ? "" : " at " + each.by.site) + " on " +
           (number ? "stream " + std::to_string(number) : "the default stream");
  };
  const auto place_of = [](const access& each) { return each.by.title + each.by.site; };
  if (!reported_.insert({place_of(first), place_of(second), key_of(memory)}).second) return;
  report::fault f;
  f.kind = report::fault_kind::hazard;
  f.space = report::memory_space::global;
  f.address = common.first;
  f.nearest = memory;
  f.device = memory.device;
  f.stream = streams_.at(second.stream).number;
  f.detail = text_of(second) + " " + verb_of(second.use) + " bytes that " + text_of(first) + " " +
             verb_of(first.use) + ", and nothing orders the two operations";
  f.hint =
      first.use == byte_use::allocate
          ? "order the use after the allocation: the stream of the use waits for an event that "
            "is recorded after it"
          : "let the stream of the later operation wait for the earlier one: "
            "stream.wait(other.record())";
  if (!faults_.record(f)) return;
  const access& failing = is_pending(later) ? later : added;
  failing_.insert({failing.stream, failing.by.time});
}

}  // namespace halfwarp::emulator
