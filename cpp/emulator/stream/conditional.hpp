// SPDX-License-Identifier: Apache-2.0
// A conditional handle: a value that kernels set and conditional nodes of graphs read.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

class conditional : public object {
 public:
  static constexpr object_kind kind_of = object_kind::conditional;

  conditional(std::uint64_t context, std::optional<unsigned> at_launch)
      : object{kind_of}, context_{context}, at_launch_{at_launch} {}

  // Of the context whose kernels may set it.
  std::uint64_t context() const noexcept { return context_; }
  // What each launch begins with; nothing: what the one before left.
  std::optional<unsigned> at_launch() const noexcept { return at_launch_; }

  std::atomic<unsigned> value{0};  // needs no lock
  bool has_node = false;           // a handle is of one node; guarded by the driver's lock

 private:
  std::uint64_t context_;
  std::optional<unsigned> at_launch_;
};

}  // namespace halfwarp::emulator
