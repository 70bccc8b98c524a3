// SPDX-License-Identifier: Apache-2.0
// Counts references and destroys user objects.
#include "emulator/graph/user_object.hpp"

#include <utility>

namespace halfwarp::emulator {

void user_object::release(std::uint64_t count) {
  by_program_ -= count;
  destroy_if_unused();
}

void user_object::move_to_graph(std::uint64_t count) noexcept {
  by_program_ -= count;
  by_graphs_ += count;
}

void user_object::release_by_graph(std::uint64_t count) {
  by_graphs_ -= count;
  destroy_if_unused();
}

void user_object::destroy_if_unused() {
  if (by_program_ + by_graphs_ > 0) return;
  auto& d = the_driver();
  d.callbacks.call(destroy_, data_);
  d.objects.remove(*this);
}

user_references& user_references::operator=(const user_references& other) {
  if (this == &other) return *this;
  other.retain_all();  // first, so that shared objects are not destroyed
  clear();
  held_ = other.held_;
  return *this;
}

void user_references::add(const std::shared_ptr<user_object>& target, std::uint64_t count) {
  auto& held = held_[target->id()];
  held.object = target;
  held.count += count;
}

void user_references::add(const user_references& other) {
  other.retain_all();
  for (const auto& [id, held] : other.held_) add(held.object, held.count);
}

void user_references::retain_all() const {
  for (const auto& [id, held] : held_) held.object->retain_for_graph(held.count);
}

bool user_references::remove(const user_object& target, std::uint64_t count) {
  const auto match = held_.find(target.id());
  if (match == held_.end() || match->second.count < count) return false;
  const auto object = match->second.object;
  if (match->second.count -= count; match->second.count == 0) held_.erase(match);
  object->release_by_graph(count);
  return true;
}

void user_references::clear() {
  for (const auto& [id, held] : std::exchange(held_, {})) held.object->release_by_graph(held.count);
}

}  // namespace halfwarp::emulator
