// SPDX-License-Identifier: Apache-2.0
// Reads special registers.
#include "emulator/exec/special.hpp"

#include "emulator/exec/lanes/lanes.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

// The immediate is the axis.
void thread_index(warp& w, const instruction& instr) {
  const uint32_t* index = w.thread[instr.immediate].data();
  assign(w, w.at<uint32_t>(instr.operand[0]), [=](int l) { return index[l]; });
}
void lane_index(warp& w, const instruction& instr) {
  assign(w, w.at<uint32_t>(instr.operand[0]), [](int l) { return static_cast<uint32_t>(l); });
}

struct mask_equal {
  static lane_mask of(int l) { return lanes.bit[l]; }
};
struct mask_less {
  static lane_mask of(int l) { return lanes.bit[l] - 1; }
};
struct mask_less_equal {
  static lane_mask of(int l) { return lanes.bit[l] | (lanes.bit[l] - 1); }
};
struct mask_greater {
  static lane_mask of(int l) { return ~(lanes.bit[l] | (lanes.bit[l] - 1)); }
};
struct mask_greater_equal {
  static lane_mask of(int l) { return ~(lanes.bit[l] - 1); }
};
template <class Mask>
void lane_mask_of(warp& w, const instruction& instr) {
  assign(w, w.at<uint32_t>(instr.operand[0]), [](int l) { return Mask::of(l); });
}

// Reads a value that all lanes share. The immediate is its uniform_value.
template <class T>
void uniform(warp& w, const instruction& instr) {
  T value = static_cast<T>(uniform_special(w, static_cast<uniform_value>(instr.immediate)));
  assign(w, w.at<T>(instr.operand[0]), [=](int) { return value; });
}

constexpr handler_entry entries[] = {
    {"special.laneid", &lane_index},
    {"special.lanemask_eq", &lane_mask_of<mask_equal>},
    {"special.lanemask_ge", &lane_mask_of<mask_greater_equal>},
    {"special.lanemask_gt", &lane_mask_of<mask_greater>},
    {"special.lanemask_le", &lane_mask_of<mask_less_equal>},
    {"special.lanemask_lt", &lane_mask_of<mask_less>},
    {"special.tid", &thread_index},
    {"special.uniform.b32", &uniform<uint32_t>},
    {"special.uniform.b64", &uniform<uint64_t>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family special_handlers;
const handler_family special_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
