// SPDX-License-Identifier: Apache-2.0
// Searches the operations from the newest on.
#include "emulator/observation/write_log.hpp"

#include <algorithm>
#include <utility>

#include "emulator/memory/written_bytes.hpp"
#include "emulator/observation/json.hpp"

namespace halfwarp::emulator {
namespace {

std::size_t entries_of(const write_log::operation& each) {
  return each.writes ? each.writes->entries.size() : 1;
}

const report::launch_writes::entry* find(const report::launch_writes& writes, memory::address at) {
  const auto after =
      std::ranges::upper_bound(writes.entries, at, {}, &report::launch_writes::entry::first);
  if (after == writes.entries.begin()) return nullptr;
  const auto& match = *std::prev(after);
  return at - match.first < match.bytes ? &match : nullptr;
}

}  // namespace

void write_log::add(operation added) {
  const std::lock_guard lock{mutex_};
  entries_ += entries_of(added);
  operations_.push_front(std::move(added));
  while (entries_ > max_entries && operations_.size() > 1) {
    entries_ -= entries_of(operations_.back());
    operations_.pop_back();
  }
}

namespace {

std::array<std::uint32_t, 3> index_of(std::uint32_t number,
                                      const std::array<std::uint32_t, 3>& size) {
  return {number % size[0], number / size[0] % size[1], number / size[0] / size[1]};
}

void write_index(json_writer& json, std::string_view key,
                 const std::array<std::uint32_t, 3>& index) {
  json.key(key).open_array();
  for (const std::uint32_t each : index) json.value(each);
  json.close();
}

}  // namespace

// Returns the newest writer of a byte, from operation `from` on.
write_log::writer write_log::find_writer(const memory::allocation& memory, memory::address at,
                                         std::size_t from) const {
  writer result;
  const auto begin = operations_.begin() + static_cast<std::ptrdiff_t>(from);
  const auto match = std::find_if(begin, operations_.end(), [&](const operation& each) {
    if (each.sequence <= memory.sequence) return false;
    if (!each.writes) return at - each.first < each.bytes;
    return (result.part = find(*each.writes, at)) != nullptr;
  });
  if (match == operations_.end()) return {};
  result.by = &*match;
  result.index = static_cast<std::size_t>(match - operations_.begin());
  if (!match->writes || match->writes->places.empty()) return result;
  const report::launch_writes::entry& part = *result.part;
  const auto next = part.is_run ? static_cast<std::uint32_t>((at - part.first) / 4) : 0;
  result.place = match->writes->places[part.place];
  result.place.block_index = index_of(part.block, match->writes->grid);
  result.place.thread = index_of(part.thread + next, match->writes->block);
  return result;
}

std::string write_log::origins(const memory::address_space& space, memory::address first,
                               std::uint64_t bytes) const {
  constexpr std::uint64_t word = 4, max_words = 4096;
  const std::lock_guard lock{mutex_};
  json_writer json;
  json.open_array();
  const auto memory = space.find_live(first);
  const memory::address end = first + std::min(bytes, word * max_words);
  for (memory::address at = first; memory && at < end; at = at / word * word + word) {
    const writer last = find_writer(*memory, at);
    if (!last.by) continue;
    json.open_object()
        .member("offset", at - first)
        .member("operation", last.by->title)
        .member("created_at", last.by->site);
    write_index(json, "block_index", last.place.block_index);
    write_index(json, "thread", last.place.thread);
    json.member("ptx_line", last.place.ptx_line)
        .member("source_file", last.place.source_file)
        .member("source_line", last.place.source_line)
        .member("instruction", last.place.instruction)
        .close();
  }
  return json.close().text();
}

namespace {

std::string title_of(const write_log::operation& by) {
  return by.title + (by.site.empty() ? "" : " at " + by.site);
}

}  // namespace

std::string write_log::neighbors(const memory::address_space& space,
                                 const memory::allocation& memory,
                                 memory::address unwritten) const {
  constexpr std::uint64_t farthest = 1 << 20;
  const memory::written_bytes* const states = space.states();
  if (!states || !states->at(unwritten)) return {};
  const auto is_written = [&](memory::address at) { return *states->at(at) == memory::written; };
  memory::address before = unwritten, after = unwritten;
  const memory::address first = std::max(memory.base, unwritten - std::min(unwritten, farthest)),
                        last = std::min(memory.end(), unwritten + farthest) - 1;
  while (before > first && !is_written(--before)) {
  }
  while (after < last && !is_written(++after)) {
  }
  std::string text;
  for (const memory::address at : {before, after}) {
    const writer by = is_written(at) ? find_writer(memory, at) : writer{};
    if (!by.by) continue;
    text += "  neighbor, byte " + std::to_string(at - memory.base) + ": " +
            report::writer_text(title_of(*by.by), by.place, "stored") + "\n";
  }
  return text;
}

std::string write_log::history(const memory::address_space& space,
                               memory::address unwritten) const {
  constexpr int max_steps = 8;
  const std::lock_guard lock{mutex_};
  std::string text;
  std::size_t from = 0;
  memory::address at = unwritten;
  for (int n = 0; n < max_steps; ++n) {
    report::fault place;
    place.address = at;
    place.nearest = space.nearest(at);
    if (!place.nearest || !place.nearest->contains(at, 1)) return text;
    const writer last = find_writer(*place.nearest, at, from);
    const memory::address source = !last.by          ? 0
                                   : last.by->source ? last.by->source + (at - last.by->first)
                                                     : last.place.unwritten;
    if (!source || source == at) return text + neighbors(space, *place.nearest, at);
    from = last.index + (last.by->source ? 1 : 0);
    place.address = at = source;
    place.nearest = space.nearest(at);
    text +=
        report::origin_lines(place, report::writer_text(title_of(*last.by), last.place, "copied"));
  }
  return text;
}

}  // namespace halfwarp::emulator
