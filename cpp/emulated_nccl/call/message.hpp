// SPDX-License-Identifier: Apache-2.0
// The arguments of a call that the ranks compare.
#pragma once

#include <cstdint>

#include "emulated_nccl/interface.hpp"

namespace halfwarp::emulated_nccl {

enum class call_kind : std::int32_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  send,
  receive,
  none,
};

// The call of one rank. All ranks of a collective must make the same call.
struct message {
  std::uint64_t count = 0;
  call_kind kind = call_kind::none;
  data_type type = data_type::int8;
  reduction operation = reduction::sum;  // first_created for all operations of the program
  std::int32_t root = -1;                // or the other rank of a send or receive

  bool operator==(const message&) const = default;
};

}  // namespace halfwarp::emulated_nccl
