// SPDX-License-Identifier: Apache-2.0
// Stream operations of a communication library, which exchange data with other ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// The functions of the library. See halfwarp_exchange in control/control.h.
struct exchange_functions {
  enum outcome : unsigned { done, waits, failed };

  void* data = nullptr;
  void* (*begin)(void* data) = nullptr;
  unsigned (*step)(void* execution, unsigned char* const* views, int may_sleep,
                   int* code) = nullptr;
  void (*end)(void* execution, int is_complete) = nullptr;
  void (*release)(void* data) = nullptr;
};

class exchange final : public operation {
 public:
  exchange(std::string title, int device, std::vector<byte_range> ranges,
           const exchange_functions& functions)
      : operation{operation_kind::exchange},
        title_{std::move(title)},
        device_{device},
        ranges_{std::move(ranges)},
        functions_{functions} {}
  ~exchange() override {
    if (functions_.release) functions_.release(functions_.data);
  }

  failure execute(stream& target) override;
  void drop() noexcept override { functions_.end(functions_.begin(functions_.data), 0); }
  std::string title() const override { return title_; }
  std::vector<byte_range> ranges() const override { return ranges_; }
  // Called if the operation was refused: its data stays with the library.
  void disown() noexcept { functions_.release = nullptr; }

 private:
  std::optional<failure> check_ranges(stream& target) const;
  failure run(void* execution, stream& target, bool& is_complete);
  void note_writes() const;

  std::string title_;
  int device_;
  std::vector<byte_range> ranges_;
  exchange_functions functions_;
};

}  // namespace halfwarp::emulator
