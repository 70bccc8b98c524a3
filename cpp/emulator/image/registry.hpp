// SPDX-License-Identifier: Apache-2.0
// Stores the PTX texts of cubins that this process compiled.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// A hash and the number of bytes. It is not cryptographic: a process hashes only its own cubins.
using digest = std::pair<std::size_t, std::size_t>;
digest digest_of(bytes data) noexcept;

// A thread-safe cache of the most recently used texts, up to a limit in bytes.
class cubin_registry {
 public:
  static constexpr std::size_t default_limit = 256u << 20;

  explicit cubin_registry(std::size_t limit = default_limit) noexcept : limit_{limit} {}

  // Adds a text, or replaces the text of an equal cubin. The newest text may exceed the limit.
  void add(bytes cubin, std::string ptx);
  // Returns null if no equal cubin was added or its text was evicted.
  std::shared_ptr<const std::string> find(bytes cubin);
  std::size_t size() const;
  void clear();

  // Blocks changes between the calls, such as during a fork.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct entry {
    digest key;
    std::shared_ptr<const std::string> ptx;
  };
  using entry_list = std::list<entry>;  // most recently used first

  void remove(entry_list::iterator entry_position);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  entry_list entries_;
  std::map<digest, entry_list::iterator> index_;
  std::size_t bytes_ = 0;
};

// Cubins that this process compiled or linked, also before driver initialization.
cubin_registry& compiled_cubins();

// The texts that modules execute instead of the text with their key.
cubin_registry& ptx_substitutes();
// Makes modules of one PTX text execute another one. Line breaks and NULs at the end are ignored.
void substitute_ptx(std::string_view text, std::string substitute);
// Returns the text that a module of `text` executes: the substitute if there is one.
std::string executed_ptx(std::string text);

}  // namespace halfwarp::emulator::image
