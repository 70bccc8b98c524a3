// SPDX-License-Identifier: Apache-2.0
// Queries and the end of communicators; errors.
#include "emulated_nccl/api/entry.hpp"
#include "emulated_nccl/communicator/joining.hpp"
#include "emulated_nccl/process/driver.hpp"

namespace halfwarp::emulated_nccl::api {
namespace {

// Queries of `ncclCommMemStats`: the emulation uses no device memory of its own.
constexpr int memory_statistics = 4;

template <class Field>
result query(const void* handle, int* out, const char* call, Field field) {
  return run([&] {
    if (const auto code = require(out, call); code != result::success) return code;
    const auto match = find_communicator(handle);
    if (!match) return result::invalid_argument;
    if (const auto code = match->initializing->complete(); code != result::success) return code;
    *out = field(*match);
    return result::success;
  });
}

void mark(communicator& target, presence state) {
  if (!target.shared) return;
  target.shared->rank(target.rank).state.store(state);
  target.shared->ring();
}

result finalize(communicator& target) {
  if (const auto code = target.initializing->complete(); code != result::success) return code;
  if (target.is_aborted || target.is_revoked) return result::success;
  return finish_operations(target);
}

// Ends the operations of this rank. Other ranks that wait for it fail.
result stop(const void* handle, std::atomic<bool> communicator::*flag, bool is_last) {
  const auto match = find_communicator(handle);
  if (!match) return result::invalid_argument;
  (*match).*flag = true;
  mark(*match, presence::aborted);
  if (match->shared) match->shared->unlink();
  if (is_last) retract(handle);
  return result::success;
}

}  // namespace

extern "C" {

result halfwarp_ncclGetVersion(int* number) {
  return run([&] {
    if (const auto code = require(number, "ncclGetVersion"); code != result::success) return code;
    *number = version;
    return result::success;
  });
}

result halfwarp_ncclCommCount(const void* comm, int* count) {
  return query(comm, count, "ncclCommCount", [](const auto& c) { return c.ranks; });
}

result halfwarp_ncclCommCuDevice(const void* comm, int* device) {
  return query(comm, device, "ncclCommCuDevice", [](const auto& c) { return c.device; });
}

result halfwarp_ncclCommUserRank(const void* comm, int* rank) {
  return query(comm, rank, "ncclCommUserRank", [](const auto& c) { return c.rank; });
}

result halfwarp_ncclCommGetAsyncError(const void* comm, result* error) {
  return run([&] {
    if (const auto code = require(error, "ncclCommGetAsyncError"); code != result::success)
      return code;
    const auto match = find_communicator(comm);
    if (!match) return result::invalid_argument;
    advance_initializations();
    const auto state = match->initializing->step();
    *error = state ? match->error() : result::in_progress;
    return result::success;
  });
}

result halfwarp_ncclCommFinalize(const void* comm) {
  return run([&] {
    const auto match = find_communicator(comm);
    if (!match) return result::invalid_argument;
    if (match->is_revoked) {
      return fail(result::invalid_usage, "ncclCommFinalize of a revoked communicator");
    }
    return finalize(*match);
  });
}

result halfwarp_ncclCommDestroy(const void* comm) {
  return run([&] {
    const auto match = find_communicator(comm);
    if (!match) return result::invalid_argument;
    finalize(*match);  // an error was reported before, and the communicator is freed anyway
    mark(*match, presence::destroyed);
    retract(comm);
    return result::success;
  });
}

result halfwarp_ncclCommAbort(const void* comm) {
  return run([&] { return stop(comm, &communicator::is_aborted, true); });
}

result halfwarp_ncclCommRevoke(const void* comm, int flags) {
  return run([&] {
    if (flags != 0) return fail(result::invalid_argument, "ncclCommRevoke: flags must be 0");
    return stop(comm, &communicator::is_revoked, false);
  });
}

result halfwarp_ncclCommMemStats(const void* comm, int statistic, std::uint64_t* value) {
  return run([&] {
    if (const auto code = require(value, "ncclCommMemStats"); code != result::success) return code;
    if (!find_communicator(comm)) return result::invalid_argument;
    if (statistic < 0 || statistic >= memory_statistics) {
      return failf(result::invalid_argument, "ncclCommMemStats: there is no statistic %d",
                   statistic);
    }
    *value = 0;
    return result::success;
  });
}

const char* halfwarp_ncclGetErrorString(result code) { return meaning(code); }

const char* halfwarp_ncclGetLastError(const void* comm) {
  if (!comm) return last_error();
  thread_local std::string text;
  const auto match = find_communicator(comm);
  text = match ? match->error_text() : "";
  return text.empty() ? last_error() : text.c_str();
}

void halfwarp_ncclResetDebugInit() {}  // the emulation has no debug log

}  // extern "C"

}  // namespace halfwarp::emulated_nccl::api
