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

  conditional(std::uint64_t context, std::optional<unsigned> launch_value)
      : object{kind_of}, context_{context}, launch_value_{launch_value} {}

  // Returns the id of the context whose kernels may set the value.
  std::uint64_t context() const noexcept { return context_; }
  // Returns the value that each launch assigns; without one, the value of the last launch persists.
  std::optional<unsigned> launch_value() const noexcept { return launch_value_; }

  std::atomic<unsigned> value{0};  // needs no lock
  bool has_node = false;           // a handle serves one node; guarded by the driver's lock

 private:
  std::uint64_t context_;
  std::optional<unsigned> launch_value_;
};

}  // namespace halfwarp::emulator
