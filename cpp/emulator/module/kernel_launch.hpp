// SPDX-License-Identifier: Apache-2.0
// The operation that runs a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "emulator/exec/schedule/run.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// Parameter blocks are small; the few that are not go to the heap.
class parameter_block {
 public:
  explicit parameter_block(std::size_t bytes)
      : size_{bytes}, large_{bytes > small_bytes ? new std::byte[bytes] : nullptr} {}

  std::byte* data() noexcept { return large_ ? large_.get() : small_.data(); }
  std::span<const std::byte> bytes() noexcept { return {data(), size_}; }

 private:
  static constexpr std::size_t small_bytes = 192;
  std::size_t size_;
  std::unique_ptr<std::byte[]> large_;
  alignas(16) std::array<std::byte, small_bytes> small_;
};

class kernel_launch final : public operation {
 public:
  kernel_launch(CUfunction what, std::shared_ptr<exec::executable> code,
                const exec::launch_request& request, parameter_block parameters)
      : what_{what},
        code_{std::move(code)},
        request_{request},
        parameters_{std::move(parameters)} {}
  failure execute(stream& in) override;
  void describe(CUgraphNodeParams& as) const override;

 private:
  CUfunction what_;
  std::shared_ptr<exec::executable> code_;  // the kernel lives in it
  exec::launch_request request_;
  mutable parameter_block parameters_;
  mutable std::vector<void*> pointers_;  // to each parameter, once they were asked for
};

// "scale" of "void scale<float>(float*, int)": the name that people, and fault rules, use.
std::string short_name(const std::string& kernel);

}  // namespace halfwarp::emulator
