// SPDX-License-Identifier: Apache-2.0
// Stores cubins with their PTX texts.
#include "emulator/image/registry.hpp"

#include <bit>
#include <span>
#include <utility>

#include "emulator/image/elf/elf.hpp"
#include "emulator/image/original.hpp"

namespace halfwarp::emulator::image {
namespace {

// The hash has two states with multiply and rotate per eight bytes, and a final avalanche.
constexpr std::uint64_t multiplier_a = 0x9e3779b97f4a7c15u, multiplier_b = 0xc2b2ae3d27d4eb4fu;

std::uint64_t avalanche(std::uint64_t x) noexcept {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

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
  std::uint64_t a = avalanche(data.size()), b = avalanche(~std::uint64_t{data.size()});
  while (!data.empty()) {
    const bytes chunk = data.first(data.size() < 8 ? data.size() : 8);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      value |= std::to_integer<std::uint64_t>(chunk[i]) << (8 * i);
    }
    a = std::rotl(a ^ value * multiplier_b, 29) * multiplier_a + b;
    b = std::rotl(b + value * multiplier_a, 33) * multiplier_b ^ a;
    data = data.subspan(chunk.size());
  }
  return {avalanche(a + b), avalanche(a ^ std::rotl(b, 17))};
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
