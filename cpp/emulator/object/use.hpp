// SPDX-License-Identifier: Apache-2.0
// Records the calls that use an object, to detect its destruction during a call.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

// The objects whose handles one call received. Created, filled and destroyed under the driver's
// lock; a call that waits releases the lock but retains its objects.
class objects_in_use {
 public:
  objects_in_use() = default;
  ~objects_in_use();
  objects_in_use(const objects_in_use&) = delete;  // belongs to one call
  objects_in_use& operator=(const objects_in_use&) = delete;

  void add(std::shared_ptr<object> used);

 private:
  void end(object& used) noexcept;

  static constexpr std::size_t inline_count = 4;
  std::array<std::shared_ptr<object>, inline_count> first_;
  std::size_t count_ = 0;
  std::vector<std::shared_ptr<object>> overflow_;
};

// Returns the use of an object by another thread during the calling thread's call, as
// "cuEventRecord on thread 4711", or an empty text. The driver serializes calls; for the program
// they overlap, and hardware does not serialize them.
std::string overlapping_use(const object& subject);

}  // namespace halfwarp::emulator
