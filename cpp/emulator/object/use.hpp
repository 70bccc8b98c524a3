// SPDX-License-Identifier: Apache-2.0
// Which calls are using an object now, so that one that destroys it meanwhile is noticed.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

// The objects that one call was given handles of. Lives, and is filled, under the driver's lock;
// a call that waits lets go of the lock, but not of its objects.
class objects_in_use {
 public:
  objects_in_use() = default;
  ~objects_in_use();
  objects_in_use(const objects_in_use&) = delete;  // of one call
  objects_in_use& operator=(const objects_in_use&) = delete;

  void add(std::shared_ptr<object> used);

 private:
  void end(object& used) noexcept;

  static constexpr std::size_t usual = 4;
  std::array<std::shared_ptr<object>, usual> first_;
  std::size_t count_ = 0;
  std::vector<std::shared_ptr<object>> more_;
};

// What another thread did, or is doing, with an object while the calling thread's call lasts, as
// "cuEventRecord on thread 4711"; empty when there was nothing. The driver lets calls pass one by
// one; to the program they overlap all the same, and on hardware nothing keeps them apart.
std::string overlapping_use(const object& of);

}  // namespace halfwarp::emulator
