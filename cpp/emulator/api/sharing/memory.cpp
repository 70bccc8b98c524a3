// SPDX-License-Identifier: Apache-2.0
// Interprocess memory of cuMemAlloc. A 64-byte handle is valid while the exporting process lives.
#include <algorithm>
#include <cstring>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/api/sharing/sharing_call.hpp"
#include "emulator/memory/shared_file.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/sharing/process.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr std::uint64_t signature = 0x31'72'64'6e'68'6d'77'68;  // "hwmhndr1"

struct memory_handle {
  std::uint64_t signature;
  sharing::process_id owner;
  std::int32_t descriptor, device;
  std::uint64_t offset, size, sequence, reserved;
};

// Finds an open mapping of a handle. Removes mappings that were destroyed with their context.
opened_handle* find_opened(call& c, const CUipcMemHandle& handle) {
  std::erase_if(c.d.opened_handles, [&](const auto& each) {
    const auto live = c.d.memory.find_live(each.first);
    return !live || !live->is_imported;
  });
  for (auto& [address, each] : c.d.opened_handles) {
    if (std::memcmp(&each.handle, &handle, sizeof handle) == 0) return &each;
  }
  return nullptr;
}

memory::address map_memory(call& c, const memory_handle& from) {
  const int file = sharing::open_file_of(from.owner, from.descriptor);
  if (file < 0) refuse_by_system("the memory of this handle cannot be opened");
  memory::allocation_request request;
  request.size = from.size;
  request.kind = memory::allocation_kind::device;
  request.device = from.device;
  request.context = c.current()->id();
  request.created_at = call_site();
  request.backing = memory::shared_file::adopt(file);
  request.imported_from = from.offset;
  const auto address = c.d.memory.allocate(request);
  require(address.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "the memory cannot be mapped");
  return *address;
}

}  // namespace

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pHandle);
    const auto match = c.d.memory.find_live(dptr);
    require(match && match->kind == memory::allocation_kind::device && !match->is_imported,
            CUDA_ERROR_INVALID_VALUE, "only memory of cuMemAlloc can be shared by such handles");
    *pHandle = read_as<CUipcMemHandle>(
        memory_handle{signature, sharing::this_process(), c.d.memory.arena_file(match->device),
                      match->device, match->base - c.d.memory.device_arena_base(match->device),
                      match->size, match->sequence, 0});
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pdptr, CUipcMemHandle handle,
                            unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pdptr);
    require(Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE,
            "the flags are CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS");
    const int here = c.current()->device().ordinal();
    const auto source = read_as<memory_handle>(handle);
    const bool is_valid = source.signature == signature && source.reserved == 0 &&
                          source.size > 0 && source.size <= memory::arena_bytes &&
                          source.offset <= memory::arena_bytes - source.size;
    require(is_valid, CUDA_ERROR_INVALID_HANDLE, "the handle is not from cuIpcGetMemHandle");
    require(source.owner != sharing::this_process(), CUDA_ERROR_INVALID_CONTEXT,
            "the memory was allocated in this process; only another process can open the handle");
    c.device_of(source.device);
    if (here != source.device) c.d.memory.set_peer_access(here, source.device, true);
    if (auto* const opened = find_opened(c, handle)) {
      ++opened->references;
      *pdptr = opened->address;
      return;
    }
    *pdptr = map_memory(c, source);
    c.d.opened_handles[*pdptr] = {handle, *pdptr, 1};
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) noexcept {
  return run_locked([&](call& c) {
    c.require_current_alive();
    const auto match = c.d.opened_handles.find(dptr);
    require(match != c.d.opened_handles.end(), CUDA_ERROR_INVALID_VALUE,
            "no open handle is mapped at this address");
    if (--match->second.references > 0) return;
    c.d.opened_handles.erase(match);
    c.d.streams.wait_for_all(c.guard, *c.current());
    c.d.memory.release(dptr, {0, call_site()});
  });
}

}  // namespace halfwarp::emulator::api
