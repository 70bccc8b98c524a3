// SPDX-License-Identifier: Apache-2.0
// Converts handles to objects; refuses invalid handles with a message.
#include "emulator/api/call.hpp"

#include "emulator/api/entry_points.hpp"
#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/driver/findings/misuse.hpp"
#include "emulator/driver/pools.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

std::shared_ptr<stream> per_thread_stream(const std::shared_ptr<context>& owner) {
  auto& streams = this_thread().default_streams;
  auto& entry = streams[owner->unique_id()];
  if (!entry) {
    // A reset destroyed the streams of its earlier ids.
    std::erase_if(streams, [&](const auto& old) {
      return old.second && &old.second->owner() == owner.get();
    });
    entry = the_driver().objects.make<stream>(owner, stream_role::per_thread_default,
                                              CU_STREAM_DEFAULT, 0);
    entry->is_library_owned = true;
  }
  return entry;
}

void require_alive(const context& owner) {
  require(owner.is_alive, CUDA_ERROR_CONTEXT_IS_DESTROYED,
          "the context was destroyed, or its device's primary context was reset or released");
}

bool is_current_destroyed() {
  const auto& stack = this_thread().contexts;
  return !stack.empty() && !stack.back()->is_alive;
}

}  // namespace

device& call::device_of(CUdevice ordinal) const {
  const bool exists = ordinal >= 0 && static_cast<std::size_t>(ordinal) < d.devices.size();
  if (!exists) {
    refuse(CUDA_ERROR_INVALID_DEVICE, "there is no device " + std::to_string(ordinal) +
                                          "; the emulator has " + std::to_string(d.devices.size()));
  }
  return *d.devices[static_cast<std::size_t>(ordinal)];
}

const std::shared_ptr<context>& call::current() const {
  const auto& chosen = current_or_green();
  return chosen->is_green() ? chosen->shared_root() : chosen;
}

const std::shared_ptr<context>& call::current_or_green() const {
  const auto& stack = this_thread().contexts;
  require(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
  require_alive(*stack.back());
  return stack.back();
}

void call::require_current_alive() const {
  if (is_current_destroyed()) require_alive(*this_thread().contexts.back());
}

std::shared_ptr<context> call::context_of(CUcontext raw) const {
  const auto match = find<context>(raw, CUDA_ERROR_INVALID_CONTEXT);
  require_alive(*match);
  return match;
}

std::shared_ptr<stream> call::stream_of(CUstream raw) const {
  if (raw == nullptr)
    raw = per_thread_streams::are_default() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (raw == CU_STREAM_LEGACY) return current_or_green()->legacy().as_shared();
  if (raw == CU_STREAM_PER_THREAD) return per_thread_stream(current_or_green());
  const auto match = find<stream>(raw);
  require(!match->owner().is_green() || match->owner().is_alive, CUDA_ERROR_STREAM_DETACHED,
          "the green context of the stream was destroyed; the stream can only be destroyed too");
  require_alive(match->owner());
  return match;
}

stream_point call::submit(stream& target, std::shared_ptr<operation> work,
                          std::vector<stream_point> waits) {
  if (capture_of(target)) {
    CUgraphNodeParams params{};
    work->describe(params);
    add_captured(d, target, kind_of(params.type).capture(std::move(work)));
    return {};
  }
  require_no_implicit_wait(d, target);
  return d.streams.submit(guard, target, std::move(work), std::move(waits));
}

void call::record(event& recorded, stream& target) {
  if (auto* const state = capture_of(target)) {
    recorded.captured =
        std::make_shared<captured_event>(captured_event{state->capture, state->frontier});
    return;
  }
  require_no_implicit_wait(d, target);  // before the event is changed
  submit(target, std::make_shared<record_event>(
                     recorded.record_at({target.as_shared(), target.enqueued() + 1})));
}

CUresult call::wait(const stream_point& until, context& owner) {
  d.streams.wait(guard, until);
  trim_pools(d);
  owner.flush_prints();
  return owner.take_failure();
}

CUresult call::wait_for_all(context& owner) {
  d.streams.wait_for_all(guard, owner);
  trim_pools(d);
  owner.flush_prints();
  return owner.take_failure();
}

void call::refuse_handle(object_kind kind, std::uint64_t raw, CUresult code) const {
  const auto state = d.objects.classify(kind, raw);
  const std::string text = "this is " + d.objects.describe(kind, raw);
  if (state == handle_state::destroyed) {
    report_destroyed(d, kind, raw);
  } else if (state != handle_state::null) {
    d.report.note("handle", text);
  }
  // A device returns these codes until the context is created again.
  if (d.objects.ended_with_context(raw) && is_current_destroyed()) {
    if (kind == object_kind::stream) code = CUDA_ERROR_INVALID_CONTEXT;
    if (kind == object_kind::event) code = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  refuse(code, text);
}

}  // namespace halfwarp::emulator::api
