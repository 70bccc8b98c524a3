// SPDX-License-Identifier: Apache-2.0
// Operations of a stream on single values in memory: writing, waiting, barriers, reductions.
#pragma once

#include <cuda.h>

#include <utility>
#include <vector>

#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// Several of them, one after the other, whose addresses were checked when they were given.
class value_operations final : public operation {
 public:
  value_operations(std::vector<CUstreamBatchMemOpParams> what, int device)
      : what_{std::move(what)}, device_{device} {}
  failure execute(stream& in) override;

 private:
  failure execute_one(const CUstreamBatchMemOpParams& each, stream& in);
  failure wait_for(const CUstreamBatchMemOpParams& each, stream& in);
  failure check(const CUstreamBatchMemOpParams& each, stream& in) const;

  std::vector<CUstreamBatchMemOpParams> what_;
  int device_;
};

// Bytes that an operation accesses, 0 for barriers, and where.
unsigned bytes_of(const CUstreamBatchMemOpParams& each) noexcept;
CUdeviceptr address_of(const CUstreamBatchMemOpParams& each) noexcept;
bool writes(const CUstreamBatchMemOpParams& each) noexcept;

}  // namespace halfwarp::emulator
