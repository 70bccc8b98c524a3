// SPDX-License-Identifier: Apache-2.0
// Counting, and what follows the last reference.
#include "emulator/graph/user_object.hpp"

#include <utility>

namespace halfwarp::emulator {

void user_object::release(std::uint64_t count) {
  by_program_ -= count;
  end_if_unused();
}

void user_object::move_to_graph(std::uint64_t count) noexcept {
  by_program_ -= count;
  by_graphs_ += count;
}

void user_object::release_by_graph(std::uint64_t count) {
  by_graphs_ -= count;
  end_if_unused();
}

void user_object::end_if_unused() {
  if (by_program_ + by_graphs_ > 0) return;
  auto& d = the_driver();
  d.callbacks.call(destroy_, data_);
  d.objects.remove(*this);
}

user_references& user_references::operator=(const user_references& other) {
  if (this == &other) return *this;
  other.retain_all();  // before what both hold could go
  clear();
  held_ = other.held_;
  return *this;
}

void user_references::add(const std::shared_ptr<user_object>& to, std::uint64_t count) {
  auto& held = held_[to->id()];
  held.of = to;
  held.count += count;
}

void user_references::add(const user_references& more) {
  more.retain_all();
  for (const auto& [id, held] : more.held_) add(held.of, held.count);
}

void user_references::retain_all() const {
  for (const auto& [id, held] : held_) held.of->retain_for_graph(held.count);
}

bool user_references::remove(const user_object& to, std::uint64_t count) {
  const auto found = held_.find(to.id());
  if (found == held_.end() || found->second.count < count) return false;
  const auto of = found->second.of;
  if (found->second.count -= count; found->second.count == 0) held_.erase(found);
  of->release_by_graph(count);
  return true;
}

void user_references::clear() {
  for (const auto& [id, held] : std::exchange(held_, {})) held.of->release_by_graph(held.count);
}

}  // namespace halfwarp::emulator
