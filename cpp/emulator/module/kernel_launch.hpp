// SPDX-License-Identifier: Apache-2.0
// The operation that launches a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "emulator/exec/schedule/run.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// A parameter block; large ones are allocated on the heap.
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
  kernel_launch(CUfunction function_handle, std::shared_ptr<exec::executable> code,
                const exec::launch_request& request, parameter_block parameters)
      : function_{function_handle},
        code_{std::move(code)},
        request_{request},
        parameters_{std::move(parameters)},
        site_{call_site()} {}
  failure execute(stream& target) override;
  void describe(CUgraphNodeParams& params) const override;
  std::string title() const override;

 private:
  CUfunction function_;
  std::shared_ptr<exec::executable> code_;  // owns the kernel
  exec::launch_request request_;
  mutable parameter_block parameters_;
  std::string site_;                     // of the launch, if sites are traced
  mutable std::vector<void*> pointers_;  // to each parameter; filled by describe
};

// Returns the name that fault rules use: "scale" for "void scale<float>(float*, int)".
std::string short_name(const std::string& kernel);

}  // namespace halfwarp::emulator
