// SPDX-License-Identifier: Apache-2.0
// Scopes as a stack of declarations, with two tables of visible names.
#include "emulator/ptx/body/scope.hpp"

#include <charconv>

namespace halfwarp::emulator::ptx::syntax {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

struct numbered_name {
  std::string_view prefix;
  std::uint32_t number = 0;
};

// Splits "%r17" into "%r" and 17. Returns nullopt for "%r", "%r01" and numbers above 32 bits.
std::optional<numbered_name> split(std::string_view name) noexcept {
  std::size_t start = name.size();
  while (start > 0 && is_digit(name[start - 1])) --start;
  const std::size_t digits = name.size() - start;
  if (start == 0 || digits == 0 || (digits > 1 && name[start] == '0')) return std::nullopt;
  numbered_name result{name.substr(0, start)};
  const auto parsed =
      std::from_chars(name.data() + start, name.data() + name.size(), result.number);
  if (parsed.ec != std::errc{}) return std::nullopt;
  return result;
}

}  // namespace

symbol_kind as_symbol_kind(name_kind kind) noexcept {
  switch (kind) {
    case name_kind::local_variable:
      return symbol_kind::local_variable;
    case name_kind::parameter:
      return symbol_kind::parameter;
    case name_kind::return_parameter:
      return symbol_kind::return_parameter;
    case name_kind::label:
      return symbol_kind::label;
    case name_kind::target_list:
      return symbol_kind::target_list;
    case name_kind::prototype:
      return symbol_kind::prototype;
    case name_kind::register_:
      break;
  }
  return symbol_kind::unresolved;
}

void scopes::open() { starts_.push_back(entries_.size()); }

void scopes::close() {
  while (entries_.size() > starts_.back()) {
    const entry& last = entries_.back();
    table& names = last.is_range ? ranges_ : names_;
    if (last.hidden == no_index) {
      names.erase(last.name);
    } else {
      names[last.name] = last.hidden;
    }
    entries_.pop_back();
  }
  starts_.pop_back();
}

bool scopes::insert(table& names, entry added) {
  added.ref.depth = depth();
  const auto [place, is_new] =
      names.try_emplace(added.name, static_cast<std::uint32_t>(entries_.size()));
  if (!is_new) {
    if (entries_[place->second].ref.depth == added.ref.depth) return false;
    added.hidden = place->second;
    place->second = static_cast<std::uint32_t>(entries_.size());
  }
  entries_.push_back(added);
  return true;
}

bool scopes::declare(std::string_view name, name_kind kind, std::uint32_t index) {
  if (name.front() == '%' && is_digit(name.back())) has_single_numbered_ = true;
  entry added;
  added.ref = {kind, index, 0};
  added.name = name;
  return insert(names_, added);
}

bool scopes::declare_range(std::string_view prefix, std::uint32_t count,
                           std::uint32_t declaration) {
  entry added;
  added.ref = {name_kind::register_, declaration, 0};
  added.name = prefix;
  added.is_range = true;
  added.count = count;
  return insert(ranges_, added);
}

const scopes::entry* scopes::look_up(const table& names, std::string_view name) const noexcept {
  const auto match = names.find(name);
  return match == names.end() ? nullptr : &entries_[match->second];
}

std::optional<declaration_ref> scopes::find(std::string_view name) const noexcept {
  const entry* const match = look_up(names_, name);
  if (match == nullptr) return std::nullopt;
  return match->ref;
}

std::optional<scopes::register_name> scopes::find_register(std::string_view name) const noexcept {
  // Most names belong to a range, so the table of ranges is searched first.
  const entry* ranged = nullptr;
  const auto parts = split(name);
  if (parts) {
    ranged = look_up(ranges_, parts->prefix);
    while (ranged != nullptr && parts->number >= ranged->count) {
      ranged = ranged->hidden == no_index ? nullptr : &entries_[ranged->hidden];
    }
  }
  const entry* single = nullptr;
  if (ranged == nullptr || has_single_numbered_ || name.front() != '%') {
    single = look_up(names_, name);
  }
  if (single != nullptr && (ranged == nullptr || single->ref.depth >= ranged->ref.depth)) {
    if (single->ref.kind != name_kind::register_) return std::nullopt;
    return register_name{single->ref.index, 0};
  }
  if (ranged == nullptr) return std::nullopt;
  return register_name{ranged->ref.index, parts->number};
}

}  // namespace halfwarp::emulator::ptx::syntax
