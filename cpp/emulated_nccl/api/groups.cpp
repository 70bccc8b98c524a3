// SPDX-License-Identifier: Apache-2.0
// Groups, operations that the program creates, memory, and what the emulation refuses.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "emulated_nccl/api/entry.hpp"
#include "emulated_nccl/call/kinds.hpp"
#include "emulated_nccl/process/driver.hpp"

namespace halfwarp::emulated_nccl::api {
namespace {

// The estimate of a simulated group: a copy in host memory, in bytes per microsecond.
constexpr float assumed_rate = 10'000;

// The target of handles of ncclCommRegister and windows.
struct registered_memory {
  communicator_ref owner;
  void* address;
  std::size_t bytes;
};

// Live registrations; the handle of another library or a freed one is refused.
struct registrations {
  std::mutex mutex;
  std::vector<registered_memory*> live;
};

registrations& all_registrations() noexcept {
  static auto& all = *new registrations;  // used until the process ends
  return all;
}

result register_memory(const void* comm, void* address, std::size_t bytes, void** handle,
                       const char* call) {
  if (const auto code = require(handle, call); code != result::success) return code;
  communicator_ref owner;
  if (const auto code = find_usable(comm, owner); code != result::success) return code;
  if (!address || bytes == 0) {
    return failf(result::invalid_argument, "%s: the buffer is empty", call);
  }
  auto* const created = new registered_memory{owner, address, bytes};
  const std::lock_guard guard{all_registrations().mutex};
  all_registrations().live.push_back(created);
  *handle = created;
  return result::success;
}

result deregister_memory(void* handle, const char* call) {
  const std::lock_guard guard{all_registrations().mutex};
  auto& live = all_registrations().live;
  const auto match = std::ranges::find(live, handle);
  if (match == live.end()) {
    return failf(result::invalid_argument, "%s: the handle is not registered", call);
  }
  delete *match;
  live.erase(match);
  return result::success;
}

result no_parameter(const char* key) {
  return failf(result::invalid_argument, "the emulated NCCL has no parameter %s",
               (key ? key : "(null)"));
}

result create_operation(int* handle, const void* scalar, data_type type, scalar_residence residence,
                        const void* comm) {
  if (const auto code = require(handle, "ncclRedOpCreatePreMulSum"); code != result::success)
    return code;
  communicator_ref owner;
  if (const auto code = find_usable(comm, owner); code != result::success) return code;
  const auto number = static_cast<int>(type);
  const bool is_known =
      residence == scalar_residence::device || residence == scalar_residence::host_immediate;
  if (!scalar || number < 0 || number >= type_count || !is_known) {
    return fail(result::invalid_argument,
                "ncclRedOpCreatePreMulSum: the scalar, its type or its residence is invalid");
  }
  created_operation created;
  created.type = type;
  if (residence == scalar_residence::device) {
    created.address = reinterpret_cast<CUdeviceptr>(scalar);
  } else {
    std::memcpy(created.bytes, scalar, size_of(type));
  }
  const std::lock_guard guard{owner->mutex};
  const auto unused = std::ranges::find(owner->created, true, &created_operation::is_destroyed);
  const auto index = unused - owner->created.begin();
  if (unused == owner->created.end()) {
    owner->created.push_back(created);
  } else {
    *unused = created;
  }
  *handle = static_cast<int>(index) + static_cast<int>(reduction::first_created);
  return result::success;
}

result destroy_operation(int handle, const void* comm) {
  const auto owner = find_communicator(comm);
  if (!owner) return result::invalid_argument;
  const std::lock_guard guard{owner->mutex};
  const auto index = static_cast<std::size_t>(handle) - 5;
  if (handle < 5 || index >= owner->created.size() || owner->created[index].is_destroyed) {
    return fail(result::invalid_argument, "ncclRedOpDestroy: the operation does not exist");
  }
  owner->created[index].is_destroyed = true;
  return result::success;
}

}  // namespace

extern "C" {

result halfwarp_ncclGroupStart() {
  group::start();
  return result::success;
}

result halfwarp_ncclGroupEnd() {
  return run([] { return group::end(); });
}

result halfwarp_ncclGroupSimulateEnd(simulation* estimate) {
  return run([&] {
    if (estimate && estimate->magic != simulation_magic) {
      return fail(result::invalid_argument,
                  "the argument was not initialized by NCCL_SIM_INFO_INITIALIZER");
    }
    std::uint64_t bytes = 0;
    const auto code = group::end_without_calls(bytes);
    if (estimate && code == result::success) {
      estimate->estimated_time = static_cast<float>(bytes) / assumed_rate;
    }
    return code;
  });
}

result halfwarp_ncclRedOpCreatePreMulSum(int* handle, const void* scalar, data_type type,
                                         scalar_residence residence, const void* comm) {
  return run([&] { return create_operation(handle, scalar, type, residence, comm); });
}

result halfwarp_ncclRedOpDestroy(int handle, const void* comm) {
  return run([&] { return destroy_operation(handle, comm); });
}

result halfwarp_ncclMemAlloc(void** address, std::size_t bytes) {
  return run([&] {
    if (const auto code = require(address, "ncclMemAlloc"); code != result::success) return code;
    if (!initialize()) return result::cuda_error;
    CUdeviceptr allocated = 0;
    const auto code = check(driver()->allocate(&allocated, bytes), "cuMemAlloc");
    *address = reinterpret_cast<void*>(allocated);
    return code;
  });
}

result halfwarp_ncclMemFree(void* address) {
  return run([&] {
    if (!address) return result::success;
    if (!initialize()) return result::cuda_error;
    return check(driver()->free(reinterpret_cast<CUdeviceptr>(address)), "cuMemFree");
  });
}

result halfwarp_ncclCommRegister(const void* comm, void* address, std::size_t bytes,
                                 void** handle) {
  return run([&] { return register_memory(comm, address, bytes, handle, "ncclCommRegister"); });
}

result halfwarp_ncclCommDeregister(const void*, void* handle) {
  return run([&] { return deregister_memory(handle, "ncclCommDeregister"); });
}

// The flags choose transports, which the emulation does not have.
result halfwarp_ncclCommWindowRegister(const void* comm, void* address, std::size_t bytes,
                                       void** window, int) {
  return run(
      [&] { return register_memory(comm, address, bytes, window, "ncclCommWindowRegister"); });
}

result halfwarp_ncclCommWindowDeregister(const void*, void* window) {
  return run([&] { return deregister_memory(window, "ncclCommWindowDeregister"); });
}

result halfwarp_ncclWinGetUserPtr(const void*, void* window, void** address) {
  return run([&] {
    if (const auto code = require(address, "ncclWinGetUserPtr"); code != result::success)
      return code;
    const std::lock_guard guard{all_registrations().mutex};
    const auto& live = all_registrations().live;
    const auto match = std::ranges::find(live, window);
    if (match == live.end()) {
      return fail(result::invalid_argument, "ncclWinGetUserPtr: the window is not registered");
    }
    *address = (*match)->address;
    return result::success;
  });
}

// `options`: after size, magic and version the mode, of which 0 is plain text.
result halfwarp_ncclSetEncryption(const config* options) {
  return run([&] {
    if (options && options->magic == magic && options->blocking == 0) return result::success;
    return fail(
        result::invalid_usage,
        "ncclSetEncryption: the ranks of the emulated NCCL share memory, without a network");
  });
}

result halfwarp_ncclParamBind(void** out, const char* key) {
  if (out) *out = nullptr;
  return run([&] { return no_parameter(key); });
}

result halfwarp_ncclParamGetParameter(const char* key, const char** value, int* length) {
  if (value) *value = nullptr;
  if (length) *length = 0;
  return run([&] { return no_parameter(key); });
}

result halfwarp_ncclParamGetAllParameterKeys(const char*** table, int* length) {
  static const char* none[] = {nullptr};
  if (table) *table = none;
  if (length) *length = 0;
  return result::success;
}

void halfwarp_ncclParamDumpAll() { std::puts("the emulated NCCL has no parameters"); }

result halfwarp_nccl_refuse(const char* name) {
  return run([&] {
    return failf(result::invalid_usage,
                 "%s is not emulated: it needs the hardware of GPUs or a network", name);
  });
}

}  // extern "C"

}  // namespace halfwarp::emulated_nccl::api
