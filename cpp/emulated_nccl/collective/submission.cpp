// SPDX-License-Identifier: Apache-2.0
// Orders operations of a communicator, and passes them to the emulated driver.
#include "emulated_nccl/collective/submission.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "emulated_nccl/call/kinds.hpp"
#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl {
namespace {

extern "C" {

void* begin_execution(void* data) { return new execution{*static_cast<batch*>(data)}; }

unsigned step_execution(void* running, unsigned char* const* views, int may_sleep, int* code) {
  result error = result::success;
  const auto state = static_cast<execution*>(running)->step(views, may_sleep != 0, error);
  *code = stream_code(error);
  return static_cast<unsigned>(state);
}

void end_execution(void* running, int is_complete) {
  auto* const ended = static_cast<execution*>(running);
  if (!is_complete) ended->give_up();
  delete ended;
}

void release_batch(void* data) { delete static_cast<batch*>(data); }

}  // extern "C"

using range = halfwarp_exchange_range;

range range_of(const void* address, std::uint64_t elements, data_type type, bool is_write) {
  return {reinterpret_cast<std::uint64_t>(address), elements * size_of(type), is_write};
}

// Appends the ranges of a task, in the order of the views of an execution.
void add_ranges(const task& each, const communicator& owner, std::vector<range>& ranges) {
  const auto& call = each.call;
  std::uint64_t sent = 0, received = 0;
  if (is_collective(call.kind)) {
    if (sends(call, owner.rank)) sent = sent_elements(call, owner.ranks);
    if (receives(call, owner.rank)) received = received_elements(call, owner.ranks);
  } else {
    (call.kind == call_kind::send ? sent : received) = call.count;
  }
  ranges.push_back(range_of(each.send, sent, call.type, false));
  ranges.push_back(range_of(each.receive, received, call.type, true));
  ranges.push_back({each.scalar.address, each.scalar.address ? size_of(call.type) : 0, 0});
}

result is_capturing(CUstream stream, bool& answer) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const auto code = check(driver()->is_capturing(stream, &status), "cuStreamIsCapturing");
  answer = status != CU_STREAM_CAPTURE_STATUS_NONE;
  return code;
}

// Makes `stream` wait for the work that is now in `earlier`.
result order_after(communicator& owner, CUstream stream, CUstream earlier) {
  const auto code = check(driver()->record_event(owner.last_operation, earlier), "cuEventRecord");
  if (code != result::success) return code;
  return check(driver()->stream_wait_event(stream, owner.last_operation, 0), "cuStreamWaitEvent");
}

result enqueue(const communicator_ref& owner, std::vector<task> tasks, CUstream stream) {
  std::vector<range> ranges;
  for (const auto& each : tasks) add_ranges(each, *owner, ranges);
  const char* const title = name_of(tasks[0].call.kind);
  auto* const data = new batch{owner, std::move(tasks)};
  const halfwarp_exchange work{title,           owner->device,  ranges.data(),
                               ranges.size(),   data,           &begin_execution,
                               &step_execution, &end_execution, &release_batch};
  const auto code = check(static_cast<CUresult>(driver()->enqueue(stream, &work)), title);
  if (code != result::success) delete data;
  return code;
}

// The streams that a submission uses, each once; the first one runs the operation.
std::vector<CUstream> distinct(const std::vector<CUstream>& streams) {
  std::vector<CUstream> result;
  for (CUstream each : streams) {
    if (std::ranges::find(result, each) == result.end()) result.push_back(each);
  }
  return result;
}

}  // namespace

// Operations of a communicator in several streams run in the order of their calls, as in NCCL. The
// operations of graphs are ordered by their graphs.
result submit(submission source) {
  auto& owner = *source.owner;
  const std::lock_guard guard{owner.mutex};
  if (!owner.context)
    return fail(result::invalid_usage, "another thread destroyed the communicator");
  const context_scope scope{owner.context};
  if (scope.code() != result::success) return scope.code();
  const auto streams = distinct(source.streams);
  const CUstream stream = streams[0];
  bool is_captured = false;
  if (const auto code = is_capturing(stream, is_captured); code != result::success) return code;
  if (owner.has_operation && owner.last_stream != stream && !is_captured) {
    const auto code =
        check(driver()->stream_wait_event(stream, owner.last_operation, 0), "cuStreamWaitEvent");
    if (code != result::success) return code;
  }
  for (std::size_t i = 1; i < streams.size(); ++i) {
    if (const auto code = order_after(owner, stream, streams[i]); code != result::success)
      return code;
  }
  auto code = enqueue(source.owner, std::move(source.tasks), stream);
  if (code != result::success) return code;
  if (streams.size() > 1 || !is_captured) {
    code = check(driver()->record_event(owner.last_operation, stream), "cuEventRecord");
  }
  for (std::size_t i = 1; i < streams.size() && code == result::success; ++i) {
    code = check(driver()->stream_wait_event(streams[i], owner.last_operation, 0),
                 "cuStreamWaitEvent");
  }
  if (!is_captured) {
    owner.has_operation = true;
    owner.last_stream = stream;
  } else if (streams.size() > 1) {
    owner.has_operation = false;  // the event belongs to the capture
  }
  return code;
}

}  // namespace halfwarp::emulated_nccl
