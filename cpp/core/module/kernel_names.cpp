// SPDX-License-Identifier: Apache-2.0
// Names of the process's kernels, for messages about earlier launches.
#include "core/module/kernel_names.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace halfwarp::core {
namespace {

// Exceeds the default capacity of the flight recorder, so that its kernels still have names.
constexpr std::size_t max_retired_names = 1024;

struct name_table {
  std::mutex lock;
  std::unordered_map<std::uint32_t, std::string> names;
  std::deque<std::uint32_t> retired;
};

// Never destroyed: kernels may be destroyed after the static objects of this file.
constinit std::atomic<name_table*> known_names{nullptr};

name_table& table() {
  name_table* known = known_names.load(std::memory_order_acquire);
  if (known != nullptr) [[likely]]
    return *known;
  auto created = std::make_unique<name_table>();
  if (known_names.compare_exchange_strong(known, created.get(), std::memory_order_acq_rel)) {
    known = created.release();
  }
  return *known;
}

constinit std::atomic<std::uint32_t> last_number{0};

}  // namespace

std::uint32_t register_kernel_name(std::string name) {
  name_table& known = table();
  const std::scoped_lock held{known.lock};
  const std::uint32_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  known.names.emplace(number, std::move(name));
  return number;
}

void retire_kernel_name(std::uint32_t number) noexcept {
  name_table* const known = known_names.load(std::memory_order_acquire);
  if (known == nullptr) return;  // discarded in a child process
  const std::scoped_lock held{known->lock};
  if (known->retired.size() >= max_retired_names) {
    known->names.erase(known->retired.front());
    known->retired.pop_front();
  }
  try {
    known->retired.push_back(number);
  } catch (const std::bad_alloc&) {
    known->names.erase(number);
  }
}

void reset_kernel_names_after_fork() noexcept {
  name_table* const known = known_names.load(std::memory_order_acquire);
  if (known == nullptr) return;
  if (known->lock.try_lock()) {
    known->lock.unlock();
  } else {
    known_names.store(nullptr, std::memory_order_release);
  }
}

std::string name_of_kernel(std::uint32_t number) {
  name_table& known = table();
  const std::scoped_lock held{known.lock};
  const auto match = known.names.find(number);
  return match == known.names.end() ? std::string{} : match->second;
}

}  // namespace halfwarp::core
