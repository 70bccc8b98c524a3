// SPDX-License-Identifier: Apache-2.0
// clusterlaunchcontrol: a running block takes the work of a cluster that has not started.
#include <array>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/bulk_start.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/schedule/order.hpp"

namespace halfwarp::emulator::exec {
namespace {

// The response: the index of the first block in x, y, z; and 1 if the request was granted.
using response = std::array<std::uint32_t, 4>;

response take_cluster(launch_state& launch) {
  const auto start = next_cluster(launch);
  if (!start) return {};
  const auto index = first_block(launch.request, start->number);
  return {index[0], index[1], index[2], 1};
}

}  // namespace

void run_try_cancel(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) {
    const response taken = take_cluster(*w.block->launch);
    for (const bulk_target& target : targets_of(w, instr, lane)) {
      bulk_copy copy;
      copy.contents = std::make_shared<std::byte[]>(sizeof taken);
      std::memcpy(copy.contents.get(), taken.data(), sizeof taken);
      if (target.to % sizeof taken) {
        raise_copy(w, instr, lane, report::fault_kind::misaligned,
                   "the address of the response is no multiple of 16 bytes",
                   "align the response to 16 bytes");
      }
      copy.pieces.push_back(
          {copy.contents.get(),
           shared_range(w, instr, lane, target.to, sizeof taken, report::access_kind::store),
           sizeof taken});
      start_to_barrier(w, instr, lane, target, sizeof taken, std::move(copy));
    }
  });
}

void run_is_canceled(warp& w, const instruction& instr) {
  const auto* flags = w.at<std::uint32_t>(instr.operand[1]);
  lane_mask& result = w.predicates[instr.operand[0]];
  for_each_lane(w.active, [&](int lane) {
    result = (result & ~(1u << lane)) | static_cast<lane_mask>(flags[lane] & 1) << lane;
  });
}

}  // namespace halfwarp::emulator::exec
