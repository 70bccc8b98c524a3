// SPDX-License-Identifier: Apache-2.0
// Stream operations on single values in memory: writes, waits, barriers, reductions.
#pragma once

#include <cuda.h>

#include <string>
#include <utility>
#include <vector>

#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// A sequence of operations on values. The call that submitted them checked the addresses.
class value_operations final : public operation {
 public:
  value_operations(std::vector<CUstreamBatchMemOpParams> operations, int device)
      : operations_{std::move(operations)}, device_{device} {}
  failure execute(stream& target) override;
  void describe(CUgraphNodeParams& params) const override;
  std::string title() const override { return "a value operation"; }
  std::vector<byte_range> ranges() const override;
  bool waits_for_value() const noexcept override;

 private:
  failure execute_one(const CUstreamBatchMemOpParams& params, stream& target);
  failure wait_for(const CUstreamBatchMemOpParams& params, stream& target);
  failure unmet(const CUstreamBatchMemOpParams& params, const stream& target,
                report::fault_kind kind, std::string hint) const;
  failure check(const CUstreamBatchMemOpParams& params, stream& target) const;

  mutable std::vector<CUstreamBatchMemOpParams> operations_;  // describe() hands out a pointer
  int device_;
};

// Return the bytes that an operation accesses (0 for barriers), their address, and the access.
unsigned bytes_of(const CUstreamBatchMemOpParams& params) noexcept;
CUdeviceptr address_of(const CUstreamBatchMemOpParams& params) noexcept;
bool writes(const CUstreamBatchMemOpParams& params) noexcept;

}  // namespace halfwarp::emulator
