// SPDX-License-Identifier: Apache-2.0
// Stores cubins with their PTX texts.
#include "emulator/image/registry.hpp"

#include <functional>
#include <span>
#include <utility>

#include "emulator/image/elf/elf.hpp"
#include "emulator/image/original.hpp"

namespace halfwarp::emulator::image {
namespace {

// Returns equal keys for a cubin of known length and one at a bare pointer.
digest key_of(bytes cubin) noexcept {
  return digest_of(is_cubin(cubin) ? without_padding(cubin) : cubin);
}

bytes without_end(std::string_view text) noexcept {
  const auto last = text.find_last_not_of(std::string_view{"\0\n", 2});
  return std::as_bytes(std::span{text.substr(0, last + 1)});
}

}  // namespace

digest digest_of(bytes data) noexcept {
  return {std::hash<std::string_view>{}(as_text(data)), data.size()};
}

void cubin_registry::add(bytes cubin, std::string ptx) {
  entry added{key_of(cubin), std::make_shared<const std::string>(std::move(ptx))};
  const std::lock_guard lock{mutex_};
  if (const auto match = index_.find(added.key); match != index_.end()) remove(match->second);
  bytes_ += added.ptx->size();
  const digest key = added.key;
  entries_.push_front(std::move(added));
  index_.emplace(key, entries_.begin());
  while (bytes_ > limit_ && entries_.size() > 1) remove(std::prev(entries_.end()));
}

std::shared_ptr<const std::string> cubin_registry::find(bytes cubin) {
  const digest key = key_of(cubin);
  const std::lock_guard lock{mutex_};
  const auto match = index_.find(key);
  if (match == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, match->second);
  return match->second->ptx;
}

std::size_t cubin_registry::size() const {
  const std::lock_guard lock{mutex_};
  return entries_.size();
}

void cubin_registry::clear() {
  const std::lock_guard lock{mutex_};
  entries_.clear();
  index_.clear();
  bytes_ = 0;
}

void cubin_registry::remove(entry_list::iterator entry_position) {
  bytes_ -= entry_position->ptx->size();
  index_.erase(entry_position->key);
  entries_.erase(entry_position);
}

cubin_registry& compiled_cubins() {
  static auto* const registry = new cubin_registry;  // never destroyed: used until process exit
  return *registry;
}

cubin_registry& ptx_substitutes() {
  static auto* const registry = new cubin_registry;  // never destroyed: used until process exit
  return *registry;
}

namespace {

cubin_registry& originals() {
  static auto* const registry = new cubin_registry;  // never destroyed: used until process exit
  return *registry;
}

}  // namespace

void substitute_ptx(std::string_view text, std::string substitute) {
  originals().add(without_end(substitute), std::string{text});
  ptx_substitutes().add(without_end(text), std::move(substitute));
}

std::shared_ptr<const std::string> original_ptx(std::string_view substitute) {
  return originals().size() == 0 ? nullptr : originals().find(without_end(substitute));
}

std::string executed_ptx(std::string text) {
  if (ptx_substitutes().size() == 0) return text;
  const auto match = ptx_substitutes().find(without_end(text));
  return match == nullptr ? text : *match;
}

}  // namespace halfwarp::emulator::image
