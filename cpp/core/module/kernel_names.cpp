// SPDX-License-Identifier: Apache-2.0
// The names of the process's kernels, for messages about launches that happened earlier.
#include "core/module/kernel_names.hpp"

#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace halfwarp::core {
namespace {

// More than the flight recorder holds by default, so that its kernels have names still.
constexpr std::size_t kept_after_retirement = 1024;

struct name_table {
  std::mutex lock;
  std::uint32_t last_number = 0;
  std::unordered_map<std::uint32_t, std::string> names;
  std::deque<std::uint32_t> retired;
};

// Never destroyed: kernels may go after the static objects of this file.
name_table& table() {
  static auto* const made = new name_table;
  return *made;
}

}  // namespace

std::uint32_t register_kernel_name(std::string name) {
  name_table& known = table();
  const std::scoped_lock held{known.lock};
  const std::uint32_t number = ++known.last_number;
  known.names.emplace(number, std::move(name));
  return number;
}

void retire_kernel_name(std::uint32_t number) noexcept {
  name_table& known = table();
  const std::scoped_lock held{known.lock};
  if (known.retired.size() >= kept_after_retirement) {
    known.names.erase(known.retired.front());
    known.retired.pop_front();
  }
  try {
    known.retired.push_back(number);
  } catch (const std::bad_alloc&) {
    known.names.erase(number);
  }
}

std::string name_of_kernel(std::uint32_t number) {
  name_table& known = table();
  const std::scoped_lock held{known.lock};
  const auto found = known.names.find(number);
  return found == known.names.end() ? std::string{} : found->second;
}

}  // namespace halfwarp::core
