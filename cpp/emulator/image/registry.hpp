// SPDX-License-Identifier: Apache-2.0
// PTX texts of the cubins that were compiled in this process.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

using digest = std::array<std::uint64_t, 2>;

// 128 bits, well mixed but not cryptographic: the process hashes only what it compiled itself.
digest digest_of(bytes data) noexcept;

// Thread-safe. Keeps the texts that were used last, up to a limit in bytes.
class cubin_registry {
 public:
  static constexpr std::size_t default_limit = 256u << 20;

  explicit cubin_registry(std::size_t limit = default_limit) noexcept : limit_{limit} {}

  // Replaces the text of an equal cubin. The newest text is kept even when it is over the limit.
  void add(bytes cubin, std::string ptx);
  // Null when no equal cubin was added, or its text had to make room.
  std::shared_ptr<const std::string> find(bytes cubin);
  std::size_t size() const;
  void clear();

  // Nobody changes it in between.
  void hold() { mutex_.lock(); }
  void let_go() { mutex_.unlock(); }

 private:
  struct entry {
    digest key;
    std::shared_ptr<const std::string> ptx;
  };
  using entry_list = std::list<entry>;  // used last comes first

  void drop(entry_list::iterator which);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  entry_list entries_;
  std::map<digest, entry_list::iterator> index_;
  std::size_t bytes_ = 0;
};

// What this process compiled and linked, also before the driver began.
cubin_registry& known_cubins();

}  // namespace halfwarp::emulator::image
