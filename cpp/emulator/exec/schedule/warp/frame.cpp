// SPDX-License-Identifier: Apache-2.0
// Allocates frames, passes parameters and checks for stack overflow.
#include "emulator/exec/schedule/warp/frame.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/init/init_checker.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t return_address_bytes = 16;  // overhead of a call
constexpr std::uint32_t line = 64;

std::uint32_t register_file_bytes(const function_code& f) {
  return (f.register_bytes + line - 1) / line * line;
}

struct place {
  frame* owner;
  parameter_copy::place kind;
  std::int32_t at;  // offset in the frame, or operand_slot
};

std::byte* address_of(warp& view, const place& p, int lane, std::uint32_t bytes) {
  if (p.kind == parameter_copy::place::memory) {
    return view.local + static_cast<std::size_t>(lane) * view.local_stride + p.owner->base + p.at;
  }
  std::byte* first = p.at >= 0
                         ? p.owner->values.data() + p.at
                         : const_cast<std::byte*>(p.owner->function->constants.data()) + ~p.at;
  return first + static_cast<std::size_t>(lane) * bytes;
}

void copy_parameter(warp& view, const place& from, const place& to, std::uint32_t bytes,
                    lane_mask lanes) {
  if (auto* definedness = view.block->launch->definedness) [[unlikely]] {
    const auto place_of = [](const place& p) {
      return init_checker::place{p.owner, p.kind == parameter_copy::place::memory, p.at};
    };
    definedness->copy(view, place_of(from), place_of(to), bytes, lanes);
  }
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    std::memcpy(address_of(view, to, lane, bytes), address_of(view, from, lane, bytes), bytes);
  }
}

[[noreturn]] void raise_stack_overflow(const warp& view, const instruction& instr, lane_mask lanes,
                                       std::uint32_t depth) {
  report::fault f = describe_fault(view, instr, __builtin_ctz(lanes));
  f.kind = report::fault_kind::stack_overflow;
  f.other_threads = lanes_in(lanes) - 1;
  f.detail = "call depth " + std::to_string(depth) + " needs more than the " +
             std::to_string(view.block->launch->stack_bytes) + " bytes of stack of a thread";
  f.hint = "bound the recursion, or raise CU_LIMIT_STACK_SIZE";
  throw kernel_fault{f};
}

bool accepts(const function_code& callee, const call_site& site) {
  const auto fits = [](const std::vector<ptx::variable>& formal, const auto& copies, auto place) {
    return std::ranges::equal(formal, copies, [&](const auto& v, const parameter_copy& c) {
      const bool is_register = v.space == ptx::state_space::reg;
      const std::uint64_t bytes = v.size ? v.size : ptx::size_in_bytes(v.type);
      return bytes == c.bytes && is_register == (c.*place == parameter_copy::place::slot);
    });
  };
  return fits(callee.source->parameters, site.arguments, &parameter_copy::to_place) &&
         fits(callee.source->return_parameters, site.results, &parameter_copy::from_place);
}

[[noreturn]] void raise_bad_target(const warp& view, const instruction& instr, lane_mask lanes,
                                   std::uint64_t target, bool is_function) {
  report::fault f = describe_fault(view, instr, __builtin_ctz(lanes));
  f.kind = report::fault_kind::bad_call_target;
  f.other_threads = lanes_in(lanes) - 1;
  f.detail = report::hexadecimal(target) +
             (is_function ? " is a function with other parameters" : " is no function");
  f.hint = "the pointer was not set, or an object was overwritten or came from another module";
  throw kernel_fault{f};
}

}  // namespace

const function_code& callee_of(warp_state& w, const warp_split& caller, const instruction& instr,
                               lane_mask& lanes) {
  const kernel_code& code = w.view.block->launch->code;
  const call_site& site = caller.top_frame->function->calls[instr.target];
  if (!site.is_indirect) return code.functions[site.callee];
  const std::uint64_t* targets = w.view.at<std::uint64_t>(instr.operand[0]);
  std::uint64_t target = targets[__builtin_ctz(lanes)];
  for (lane_mask remaining = lanes; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    if (targets[lane] != target) lanes &= ~(1u << lane);
  }
  for (const function_code& f : code.functions) {
    if (f.address != target || f.source->is_entry) continue;
    if (!accepts(f, site)) raise_bad_target(w.view, instr, lanes, target, true);
    return f;
  }
  raise_bad_target(w.view, instr, lanes, target, false);
}

frame* make_frame(warp_state& w, const function_code& function) {
  std::unique_ptr<frame> result;
  for (auto& unused : w.unused_frames) {
    if (unused->function != &function) continue;
    result = std::move(unused);
    unused = std::move(w.unused_frames.back());
    w.unused_frames.pop_back();
    break;
  }
  if (!result) result = std::make_unique<frame>();
  std::size_t bytes = register_file_bytes(function) + function.predicates * sizeof(lane_mask);
  if (result->values.size() < bytes) result->values.resize(bytes);
  result->function = &function;
  result->users = 0;
  result->undefined.reset();
  result->stack_ends.clear();
  w.view.current = nullptr;  // its frame may be this one, as it was before
  w.frames.push_back(std::move(result));
  return w.frames.back().get();
}

frame* make_entry_frame(warp_state& w, const function_code& function) {
  reclaim_frames(w);
  if (w.unused_frames.empty() || w.unused_frames.back()->function != &function) {
    return make_frame(w, function);
  }
  w.frames.push_back(std::move(w.unused_frames.back()));
  w.unused_frames.pop_back();
  frame& entry = *w.frames.back();
  entry.undefined.reset();
  if (!entry.stack_ends.empty()) {
    entry.stack_ends.clear();
    w.view.current = nullptr;
  }
  return &entry;
}

void release_frame(warp_state& w, frame* released) {
  while (released && --released->users == 0) {
    frame* parent = released->parent;
    for (auto& owned : w.frames) {
      if (owned.get() != released) continue;
      w.unused_frames.push_back(std::move(owned));
      owned = std::move(w.frames.back());
      w.frames.pop_back();
      break;
    }
    released = parent;
  }
}

void reclaim_frames(warp_state& w) {
  for (auto& released : w.frames) w.unused_frames.push_back(std::move(released));
  w.frames.clear();
}

std::uint32_t stack_end(const frame& f) {
  std::uint32_t end = f.base + f.function->frame_bytes;
  for (const std::uint32_t each : f.stack_ends) end = std::max(end, each);
  return end;
}

void change_frame(warp& view, frame& f) {
  view.function = f.function;
  view.current = &f;
  view.registers = f.values.data();
  view.constants = f.function->constants.data();
  view.predicates =
      reinterpret_cast<lane_mask*>(f.values.data() + register_file_bytes(*f.function));
  view.frame_base = f.base;
  view.stack_top = stack_end(f);
}

void enter_function(warp_state& w, warp_split& caller, const instruction& instr,
                    const function_code& callee) {
  frame* from = caller.top_frame;
  const call_site& site = from->function->calls[instr.target];
  std::uint32_t base = (stack_end(*from) + 15) / 16 * 16 + return_address_bytes;
  if (base + callee.frame_bytes > w.view.block->launch->stack_bytes) {
    raise_stack_overflow(w.view, instr, caller.lanes, from->depth + 1);
  }
  frame* to = make_frame(w, callee);
  to->parent = from;
  to->site = &site;
  to->return_index = caller.next + 1;
  to->depth = from->depth + 1;
  to->base = base;
  to->users = 1;
  if (auto* definedness = w.view.block->launch->definedness) {
    definedness->enter(w.view, *to, caller.lanes);
  }
  for (const parameter_copy& p : site.arguments) {
    auto offset = static_cast<std::int32_t>(callee.parameter_offsets[p.to]);
    copy_parameter(w.view, {from, p.from_place, p.from}, {to, p.to_place, offset}, p.bytes,
                   caller.lanes);
  }
  caller.top_frame = to;
  caller.next = 0;
}

void leave_function(warp_state& w, warp_split& f) {
  frame* from = f.top_frame;
  frame* to = from->parent;
  for (const parameter_copy& p : from->site->results) {
    auto offset = static_cast<std::int32_t>(from->function->result_offsets[p.from]);
    copy_parameter(w.view, {from, p.from_place, offset}, {to, p.to_place, p.to}, p.bytes, f.lanes);
  }
  f.top_frame = to;
  f.next = from->return_index;
  ++to->users;
  release_frame(w, from);
}

}  // namespace halfwarp::emulator::exec
