// SPDX-License-Identifier: Apache-2.0
// The collectives and the data types as tables.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "emulated_nccl/call/message.hpp"

namespace halfwarp::emulated_nccl {

enum class combination : std::uint8_t {
  reduce,     // the reduction of the parts of all ranks
  copy_root,  // the part of the root
  copy_each,  // the parts of all ranks, one after another
};

// A collective: each chunk of the input has one part for all ranks, or one for each rank.
struct collective {
  const char* name;
  bool root_sends_only, root_receives_only;
  bool has_parts;
  combination combine;
};

const collective& collective_of(call_kind kind) noexcept;

constexpr bool is_collective(call_kind kind) noexcept { return kind < call_kind::send; }

bool sends(const message& call, int rank) noexcept;
bool receives(const message& call, int rank) noexcept;
// Return the elements of the buffers for `ranks` ranks.
std::uint64_t sent_elements(const message& call, int ranks) noexcept;
std::uint64_t received_elements(const message& call, int ranks) noexcept;

std::size_t size_of(data_type type) noexcept;
const char* name_of(data_type type) noexcept;

const char* name_of(call_kind kind) noexcept;

// Returns "ncclAllReduce(count 4, ncclFloat32, ncclSum)".
std::string describe_call(const message& call);

}  // namespace halfwarp::emulated_nccl
