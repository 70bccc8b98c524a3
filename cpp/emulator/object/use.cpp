// SPDX-License-Identifier: Apache-2.0
// Records the beginning and end of each use in the object itself.
#include "emulator/object/use.hpp"

#include <algorithm>

#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator {

void objects_in_use::add(std::shared_ptr<object> used) {
  const auto& call = this_call();
  used->users_.push_back({call.function, call.thread});
  if (count_ < inline_count) {
    first_[count_++] = std::move(used);
  } else {
    overflow_.push_back(std::move(used));
  }
}

void objects_in_use::end(object& used) noexcept {
  const auto& call = this_call();
  auto& users = used.users_;
  const auto entry = std::ranges::find(users, call.thread, &object_user::thread);
  if (entry == users.end()) return;
  used.last_user_ = *entry;
  used.last_used_ = next_moment();
  users.erase(entry);
}

objects_in_use::~objects_in_use() {
  for (std::size_t i = 0; i < count_; ++i) end(*first_[i]);
  for (const auto& each : overflow_) end(*each);
}

std::string overlapping_use(const object& subject) {
  const auto& call = this_call();
  const auto text = [](const object_user& user) {
    return std::string{user.function} + " on thread " + std::to_string(user.thread);
  };
  for (const auto& each : subject.users_) {
    if (each.thread != call.thread) return text(each);
  }
  if (call.function.empty()) return {};  // the control interface is no call of the program
  const bool ended_during_call =
      subject.last_used_ > call.entered && subject.last_user_.thread != call.thread;
  return ended_during_call ? text(subject.last_user_) : std::string{};
}

}  // namespace halfwarp::emulator
