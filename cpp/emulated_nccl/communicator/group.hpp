// SPDX-License-Identifier: Apache-2.0
// The calls of a thread between ncclGroupStart and ncclGroupEnd.
#pragma once

#include <cuda.h>

#include "emulated_nccl/collective/execution.hpp"

namespace halfwarp::emulated_nccl::group {

void start() noexcept;
bool is_open() noexcept;

// Each runs at once, or at the end of the open group.
result add(const communicator_ref& owner, const task& each, CUstream stream);
result add_initialization(const communicator_ref& target);

// Notes the error of a call in the open group, which the end of the group returns.
result note(result code) noexcept;

// Ends a group; the outermost one runs its calls.
result end();
// Ends a group without running its calls; returns the bytes of their buffers.
result end_without_calls(std::uint64_t& bytes);

}  // namespace halfwarp::emulated_nccl::group
