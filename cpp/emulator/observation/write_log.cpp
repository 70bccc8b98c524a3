// SPDX-License-Identifier: Apache-2.0
// Searches the operations from the newest on.
#include "emulator/observation/write_log.hpp"

#include <algorithm>
#include <utility>

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

void write_index(json_writer& json, std::string_view key, std::uint32_t number,
                 const std::array<std::uint32_t, 3>& size) {
  json.key(key).open_array().value(number % size[0]).value(number / size[0] % size[1]);
  json.value(number / size[0] / size[1]).close();
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

std::string write_log::origins(const memory::address_space& space, memory::address first,
                               std::uint64_t bytes) const {
  constexpr std::uint64_t word = 4, max_words = 4096;
  const std::lock_guard lock{mutex_};
  json_writer json;
  json.open_array();
  const auto memory = space.find_live(first);
  const memory::address end = first + std::min(bytes, word * max_words);
  for (memory::address at = first; memory && at < end; at = at / word * word + word) {
    const report::launch_writes::entry* by = nullptr;
    const auto writer = std::ranges::find_if(operations_, [&](const operation& each) {
      if (each.sequence <= memory->sequence) return false;
      if (!each.writes) return at - each.first < each.bytes;
      return (by = find(*each.writes, at)) != nullptr;
    });
    if (writer == operations_.end()) continue;
    json.open_object()
        .member("offset", at - first)
        .member("operation", writer->title)
        .member("created_at", writer->site);
    const bool has_place = by && !writer->writes->places.empty();
    const auto place = has_place ? writer->writes->places[by->place] : report::earlier_access{};
    const auto next = by && by->is_run ? static_cast<std::uint32_t>((at - by->first) / word) : 0;
    const std::array<std::uint32_t, 3> none{1, 1, 1};
    write_index(json, "block_index", by ? by->block : 0, by ? writer->writes->grid : none);
    write_index(json, "thread", by ? by->thread + next : 0, by ? writer->writes->block : none);
    json.member("ptx_line", place.ptx_line)
        .member("source_file", place.source_file)
        .member("source_line", place.source_line)
        .member("instruction", place.instruction)
        .close();
  }
  return json.close().text();
}

}  // namespace halfwarp::emulator
