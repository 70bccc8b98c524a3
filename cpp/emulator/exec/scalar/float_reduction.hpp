// SPDX-License-Identifier: Apache-2.0
// The minimum or maximum of floats by redux.sync and tcgen05.ld.red.
#pragma once

#include <cstdint>

namespace halfwarp::emulator::exec {

class float_reduction {
 public:
  float_reduction(bool is_highest, bool is_absolute, bool keeps_nan) noexcept
      : is_highest_{is_highest}, is_absolute_{is_absolute}, keeps_nan_{keeps_nan} {}

  void add(std::uint32_t bits) noexcept;
  std::uint32_t result() const noexcept;  // NaN without a number

 private:
  bool is_highest_, is_absolute_, keeps_nan_;
  bool has_nan_ = false, has_number_ = false;
  std::uint32_t extreme_ = 0;
};

}  // namespace halfwarp::emulator::exec
