// SPDX-License-Identifier: Apache-2.0
// Notes beginnings and ends of uses in the objects themselves.
#include "emulator/object/use.hpp"

#include <algorithm>

#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator {

void objects_in_use::add(std::shared_ptr<object> used) {
  const auto& call = this_call();
  used->users_.push_back({call.function, call.thread});
  if (count_ < usual) {
    first_[count_++] = std::move(used);
  } else {
    more_.push_back(std::move(used));
  }
}

void objects_in_use::end(object& used) noexcept {
  const auto& call = this_call();
  auto& users = used.users_;
  const auto own = std::ranges::find(users, call.thread, &object_user::thread);
  if (own == users.end()) return;
  used.last_user_ = *own;
  used.last_used_ = next_moment();
  users.erase(own);
}

objects_in_use::~objects_in_use() {
  for (std::size_t i = 0; i < count_; ++i) end(*first_[i]);
  for (const auto& each : more_) end(*each);
}

std::string overlapping_use(const object& of) {
  const auto& call = this_call();
  const auto text = [](const object_user& who) {
    return std::string{who.function} + " on thread " + std::to_string(who.thread);
  };
  for (const auto& each : of.users_) {
    if (each.thread != call.thread) return text(each);
  }
  if (call.function.empty()) return {};  // the control interface: no call of the program's
  const bool ended_meanwhile = of.last_used_ > call.entered && of.last_user_.thread != call.thread;
  return ended_meanwhile ? text(of.last_user_) : std::string{};
}

}  // namespace halfwarp::emulator
