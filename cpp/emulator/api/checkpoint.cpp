// SPDX-License-Identifier: Apache-2.0
// Checkpoints of the calling process. Only its state changes: no memory is moved, since the memory
// of emulated devices is host memory. Other processes cannot be checkpointed.
#include <unistd.h>

#include <algorithm>
#include <span>

#include "emulator/api/call.hpp"

namespace halfwarp::emulator::api {
namespace {

void require_own(int pid) {
  if (pid == static_cast<int>(::getpid())) return;
  refuse(CUDA_ERROR_INVALID_VALUE, "process " + std::to_string(pid) +
                                       " is not this one, the only one that the emulator can " +
                                       "checkpoint: " + std::to_string(::getpid()));
}

void require_state(const call& c, CUprocessState expected, const char* text) {
  require(c.d.process_state == expected, CUDA_ERROR_ILLEGAL_STATE, text);
}

template <class Number>
bool is_zero(std::span<const Number> reserved) {
  return std::all_of(reserved.begin(), reserved.end(), [](Number each) { return each == 0; });
}

bool is_device(const call& c, const CUuuid& uuid) {
  return std::any_of(c.d.devices.begin(), c.d.devices.end(), [&](const auto& each) {
    const CUuuid device_uuid = each->uuid();
    return std::equal(std::begin(device_uuid.bytes), std::end(device_uuid.bytes),
                      std::begin(uuid.bytes));
  });
}

// Checks the device pairs of a migration: every device and its target must exist.
void require_pairs(const call& c, const CUcheckpointRestoreArgs& args) {
  if (args.gpuPairsCount == 0) return;
  require(args.gpuPairs != nullptr, CUDA_ERROR_INVALID_VALUE, "the list of GPU pairs is null");
  require(args.gpuPairsCount == c.d.devices.size(), CUDA_ERROR_INVALID_VALUE,
          "a migration must name every GPU in exactly one pair");
  for (const auto& pair : std::span{args.gpuPairs, args.gpuPairsCount}) {
    require(is_device(c, pair.oldUuid) && is_device(c, pair.newUuid), CUDA_ERROR_INVALID_VALUE,
            "a pair names a GPU that does not exist");
  }
}

}  // namespace

CUresult cuCheckpointProcessGetState(int pid, CUprocessState* state) noexcept {
  return run_locked([&](call& c) {
    require_outputs(state);
    require_own(pid);
    *state = c.d.process_state;
  });
}

CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int* tid) noexcept {
  return run_unlocked([&] {
    require_outputs(tid);
    require_own(pid);
    *tid = pid;  // the first thread of a process has its number
  });
}

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs* args) noexcept {
  return run_locked([&](call& c) {
    require_own(pid);
    require(
        !args || (args->reserved0 == 0 && is_zero(std::span<const cuuint64_t>{args->reserved1})),
        CUDA_ERROR_INVALID_VALUE, "reserved members of the arguments must be 0");
    require_state(c, CU_PROCESS_STATE_RUNNING, "only a running process can be locked");
    c.d.process_state = CU_PROCESS_STATE_LOCKED;
  });
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs* args) noexcept {
  return run_locked([&](call& c) {
    require_own(pid);
    require(!args || !args->customStorageInfo_out, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator does not support custom storage for checkpoints");
    require_state(c, CU_PROCESS_STATE_LOCKED, "only a locked process can be checkpointed");
    c.d.process_state = CU_PROCESS_STATE_CHECKPOINTED;
  });
}

CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs* args) noexcept {
  return run_locked([&](call& c) {
    require_own(pid);
    require(!args || !args->customStorageInfo_out, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator does not support custom storage for checkpoints");
    require_state(c, CU_PROCESS_STATE_CHECKPOINTED, "only a checkpointed process can be restored");
    if (args) require_pairs(c, *args);
    c.d.process_state = CU_PROCESS_STATE_LOCKED;
  });
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs*) noexcept {
  return run_locked([&](call& c) {
    require_own(pid);
    require_state(c, CU_PROCESS_STATE_LOCKED, "only a locked process can be unlocked");
    c.d.process_state = CU_PROCESS_STATE_RUNNING;
  });
}

}  // namespace halfwarp::emulator::api
