// SPDX-License-Identifier: Apache-2.0
// Collects the calls of groups and submits them.
#include "emulated_nccl/communicator/group.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "emulated_nccl/call/kinds.hpp"
#include "emulated_nccl/collective/submission.hpp"
#include "emulated_nccl/communicator/joining.hpp"
#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl::group {
namespace {

struct calls {
  int depth = 0;
  result error = result::success;
  std::vector<communicator_ref> initializations;
  std::vector<submission> submissions;  // one for each communicator
};

calls& of_thread() noexcept {
  thread_local calls open;
  return open;
}

submission& submission_of(calls& open, const communicator_ref& owner) {
  for (auto& each : open.submissions) {
    if (each.owner == owner) return each;
  }
  return open.submissions.emplace_back(submission{owner, {}, {}});
}

result run_initializations(const std::vector<communicator_ref>& all) {
  constexpr std::chrono::microseconds poll_interval{200};
  result first = result::success;
  std::vector<communicator_ref> pending;
  for (const auto& each : all) {
    if (each->is_blocking) {
      pending.push_back(each);
    } else if (const auto code = each->initializing->step(); code && *code != result::success) {
      first = *code;
    }
  }
  while (!pending.empty()) {
    std::erase_if(pending, [&](const communicator_ref& each) {
      const auto code = each->initializing->step();
      if (code && first == result::success) first = *code;
      return code.has_value();
    });
    if (!pending.empty()) std::this_thread::sleep_for(poll_interval);
  }
  return first;
}

// A send to the own rank completes only with a receive of the same group.
result check_own_pairs(const submission& each) {
  int balance = 0;
  for (const auto& task : each.tasks) {
    if (is_collective(task.call.kind) || task.call.root != each.owner->rank) continue;
    balance += task.call.kind == call_kind::send ? 1 : -1;
  }
  if (balance == 0) return result::success;
  return failf(
      result::invalid_usage,
      "rank %d sends to itself or receives from itself, without the other call in the same group",
      each.owner->rank);
}

result run(calls taken) {
  if (taken.error != result::success) return taken.error;
  if (const auto code = run_initializations(taken.initializations); code != result::success)
    return code;
  for (const auto& each : taken.submissions) {
    if (const auto code = check_own_pairs(each); code != result::success) return code;
  }
  for (auto& each : taken.submissions) {
    if (const auto code = submit(std::move(each)); code != result::success) return code;
  }
  return result::success;
}

// Returns the calls of the outermost group, or none if an outer one is open.
result close(calls& taken) {
  auto& open = of_thread();
  if (open.depth == 0) {
    return fail(result::invalid_usage, "a group ends that ncclGroupStart did not begin");
  }
  if (--open.depth == 0) taken = std::exchange(open, {});
  return result::success;
}

}  // namespace

void start() noexcept { ++of_thread().depth; }

bool is_open() noexcept { return of_thread().depth > 0; }

result note(result code) noexcept {
  auto& open = of_thread();
  if (open.depth > 0 && open.error == result::success) open.error = code;
  return code;
}

result add(const communicator_ref& owner, const task& each, CUstream stream) {
  calls single;
  auto& open = is_open() ? of_thread() : single;
  auto& target = submission_of(open, owner);
  target.tasks.push_back(each);
  target.streams.push_back(stream);
  return is_open() ? result::success : run(std::move(single));
}

result add_initialization(const communicator_ref& target) {
  if (is_open()) {
    of_thread().initializations.push_back(target);
    return result::success;
  }
  return run_initializations({target});
}

result end() {
  calls taken;
  if (const auto code = close(taken); code != result::success) return code;
  return run(std::move(taken));
}

result end_without_calls(std::uint64_t& bytes) {
  calls taken;
  if (const auto code = close(taken); code != result::success) return code;
  for (const auto& each : taken.submissions) {
    for (const auto& task : each.tasks) bytes += task.call.count * size_of(task.call.type);
  }
  return taken.error;
}

}  // namespace halfwarp::emulated_nccl::group
