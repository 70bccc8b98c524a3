// SPDX-License-Identifier: Apache-2.0
// Memory of cuMemAlloc between processes: 64 bytes name it as long as its process lives.
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

constexpr std::uint64_t mark = 0x31'72'64'6e'68'6d'77'68;  // "hwmhndr1"

struct memory_handle {
  std::uint64_t mark;
  sharing::process_id owner;
  std::int32_t descriptor, device;
  std::uint64_t offset, size, sequence, reserved;
};

// An open of the same handle that is not closed yet; what went with its context is forgotten.
opened_handle* find_opened(call& c, const CUipcMemHandle& handle) {
  std::erase_if(c.d.opened_handles, [&](const auto& each) {
    const auto live = c.d.memory.find_live(each.first);
    return !live || !live->is_imported;
  });
  for (auto& [at, each] : c.d.opened_handles) {
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
  const auto at = c.d.memory.allocate(request);
  require(at.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "the memory cannot be mapped");
  return *at;
}

}  // namespace

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) noexcept {
  return answer([&](call& c) {
    require_outputs(pHandle);
    const auto found = c.d.memory.find_live(dptr);
    require(found && found->kind == memory::allocation_kind::device && !found->is_imported,
            CUDA_ERROR_INVALID_VALUE, "memory of cuMemAlloc is shared by such handles");
    *pHandle = read_as<CUipcMemHandle>(
        memory_handle{mark, sharing::this_process(), c.d.memory.arena_file(found->device),
                      found->device, found->base - c.d.memory.device_arena_base(found->device),
                      found->size, found->sequence, 0});
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pdptr, CUipcMemHandle handle,
                            unsigned int Flags) noexcept {
  return answer([&](call& c) {
    require_outputs(pdptr);
    require(Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE,
            "the flags are CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS");
    static_cast<void>(c.current());
    const auto given = read_as<memory_handle>(handle);
    const bool is_ours = given.mark == mark && given.reserved == 0 && given.size > 0 &&
                         given.size <= memory::arena_bytes &&
                         given.offset <= memory::arena_bytes - given.size;
    require(is_ours, CUDA_ERROR_INVALID_HANDLE, "these are no bytes of cuIpcGetMemHandle");
    require(given.owner != sharing::this_process(), CUDA_ERROR_INVALID_CONTEXT,
            "the memory was allocated in this process; another one opens the handle");
    c.device_of(given.device);
    if (auto* const opened = find_opened(c, handle)) {
      ++opened->references;
      *pdptr = opened->at;
      return;
    }
    *pdptr = map_memory(c, given);
    c.d.opened_handles[*pdptr] = {handle, *pdptr, 1};
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) noexcept {
  return answer([&](call& c) {
    c.require_current_alive();
    const auto found = c.d.opened_handles.find(dptr);
    require(found != c.d.opened_handles.end(), CUDA_ERROR_INVALID_VALUE,
            "no open handle has its memory at this address");
    if (--found->second.references > 0) return;
    c.d.opened_handles.erase(found);
    c.d.streams.wait_for_all(c.guard, *c.current());
    c.d.memory.release(dptr, {0, call_site()});
  });
}

}  // namespace halfwarp::emulator::api
