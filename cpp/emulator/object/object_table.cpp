// SPDX-License-Identifier: Apache-2.0
// Numbers and looks up handles, and records destroyed objects.
#include "emulator/object/object_table.hpp"

#include <algorithm>
#include <cstdio>

#include "emulator/object/use.hpp"

namespace halfwarp::emulator {

std::string_view name(object_kind kind) noexcept {
  constexpr std::string_view names[] = {"nothing",
                                        "context",
                                        "stream",
                                        "event",
                                        "module",
                                        "library",
                                        "kernel",
                                        "function",
                                        "memory pool",
                                        "graph",
                                        "graph node",
                                        "executable graph",
                                        "user object",
                                        "conditional handle",
                                        "link state",
                                        "physical memory",
                                        "address reservation",
                                        "green context",
                                        "resource descriptor",
                                        "array",
                                        "mipmapped array",
                                        "texture object",
                                        "surface object",
                                        "graphics resource"};
  static_assert(std::size(names) == static_cast<std::size_t>(object_kind::count_));
  return names[static_cast<std::size_t>(kind)];
}

void object_table::insert(const std::shared_ptr<object>& created) {
  auto& kind = slot(created->kind());
  created->id_ = kind.next++;
  created->created_at = call_site();
  kind.live.emplace(created->id_, created);
}

std::shared_ptr<object> object_table::lookup(object_kind kind, std::uint64_t raw) const {
  if (!handle::is_ours(raw) || handle::kind_of(raw) != kind) return nullptr;
  const auto& live = slot(kind).live;
  const auto match = live.find(handle::id_of(raw));
  return match == live.end() ? nullptr : match->second;
}

handle_state object_table::classify(object_kind expected, std::uint64_t raw) const {
  if (raw == 0) return handle_state::null;
  if (!handle::is_ours(raw)) return handle_state::garbage;
  const auto kind = handle::kind_of(raw);
  const auto id = handle::id_of(raw);
  if (kind == object_kind::none || id == 0 || id >= slot(kind).next) return handle_state::garbage;
  if (kind != expected) return handle_state::other_kind;
  return slot(kind).live.contains(id) ? handle_state::live : handle_state::destroyed;
}

void object_table::mark_library_owned(std::uint64_t raw) {
  if (const auto match = lookup(handle::kind_of(raw), raw)) match->is_library_owned = true;
}

namespace {

// Returns the call that destroys an object: a driver call or the control interface.
std::string destroyer() {
  const auto& call = this_call();
  if (call.function.empty()) return "a reset";
  const std::string by{call.function};
  return (call.site.empty() ? by : by + " at " + call.site) + " on thread " +
         std::to_string(call.thread);
}

}  // namespace

void object_table::destroy(const object& target, bool with_context) {
  if (slot(target.kind()).live.erase(target.id()) == 0) return;
  std::string by = destroyer();
  const auto user = overlapping_use(target);
  if (on_conflict && !user.empty()) on_conflict(target, by, user);
  tombstones_.push_back(
      {target.kind(), target.id(), target.created_at, std::move(by), next_moment(), with_context});
  if (tombstones_.size() > max_tombstones) tombstones_.pop_front();
}

void object_table::remove_context_objects(std::uint64_t context_id) {
  std::vector<std::shared_ptr<object>> destroyed;  // destructors may access the table
  for (auto& kind : kinds_) {
    for (const auto& [id, live] : kind.live) {
      if (live->context_id() == context_id) destroyed.push_back(live);
    }
  }
  for (const auto& each : destroyed) destroy(*each, true);
}

std::string object_table::describe(object_kind expected, std::uint64_t raw) const {
  const std::string expected_name{name(expected)};
  const auto state = classify(expected, raw);
  if (state == handle_state::null) return "a null " + expected_name + " handle";
  const std::string article = expected_name[0] == 'e' ? "an " : "a ";
  if (state == handle_state::garbage) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(raw));
    return std::string{digits} + ", which was never " + article + expected_name + " handle";
  }
  const auto kind = handle::kind_of(raw);
  const auto id = handle::id_of(raw);
  std::string text = "the handle of " + std::string{name(kind)} + " " + std::to_string(id);
  if (state == handle_state::other_kind)
    return text + " where " + article + expected_name + " is needed";
  const auto* const entry = find_tombstone(raw);
  if (entry && !entry->created_at.empty()) text += ", created at " + entry->created_at;
  return text + ", which was destroyed" + (entry ? " by " + entry->destroyed_by : "");
}

const tombstone* object_table::find_tombstone(std::uint64_t raw) const {
  const auto kind = handle::kind_of(raw);
  const auto id = handle::id_of(raw);
  const auto entry = std::find_if(tombstones_.rbegin(), tombstones_.rend(),
                                  [&](const tombstone& t) { return t.kind == kind && t.id == id; });
  return entry == tombstones_.rend() ? nullptr : &*entry;
}

bool object_table::was_destroyed_during_call(std::uint64_t raw) const {
  const auto* const entry = find_tombstone(raw);
  return entry && entry->destroyed > this_call().entered;
}

bool object_table::ended_with_context(std::uint64_t raw) const {
  const auto* const entry = find_tombstone(raw);
  return entry && entry->ended_with_context;
}

void object_table::for_each(object_kind kind,
                            const std::function<void(const object&)>& visit) const {
  std::vector<const object*> ordered;
  for (const auto& [id, live] : slot(kind).live) ordered.push_back(live.get());
  std::ranges::sort(ordered, {}, &object::id);
  for (const auto* each : ordered) visit(*each);
}

}  // namespace halfwarp::emulator
