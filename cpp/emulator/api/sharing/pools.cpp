// SPDX-License-Identifier: Apache-2.0
// Pools between processes: a descriptor names the pool, 64 bytes an allocation in it.
#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/api/sharing/sharing_call.hpp"
#include "emulator/device/memory_pool.hpp"
#include "emulator/memory/shared_file.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr std::uint64_t mark = 0x31'72'74'70'6c'70'77'68;  // "hwplptr1"

struct exported_pointer {
  std::uint64_t mark;
  memory::share_token pool;
  std::uint64_t offset, size, sequence;
  std::uint64_t reserved[2];
};

void require_descriptor_type(CUmemAllocationHandleType type, unsigned long long flags) {
  require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are 0");
  require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE,
          "the emulator shares pools by file descriptors only");
}

CUmemPoolProps properties_from(const memory::share_origin& origin) {
  CUmemPoolProps properties{};
  properties.allocType = static_cast<CUmemAllocationType>(origin.allocation_type);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {static_cast<CUmemLocationType>(origin.location_type),
                         {origin.location_id}};
  return properties;
}

// Whether another process can have the pool that the memory is to be imported from.
bool is_known_outside(const call& c, std::uint64_t pool) {
  for (const auto& each : c.d.pools) {
    if (each->id() == pool) return each->was_exported || each->is_imported();
  }
  return false;
}

bool is_imported_already(const call& c, const memory_pool& pool, std::uint64_t offset) {
  for (const auto& each : c.d.memory.live_allocations()) {
    if (each.pool == pool.id() && each.file_offset == offset) return true;
  }
  return false;
}

}  // namespace

CUresult cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool pool,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags) noexcept {
  return answer([&](call& c) {
    require_outputs(handle_out);
    const auto exported = c.find<memory_pool>(pool, CUDA_ERROR_INVALID_VALUE);
    require_descriptor_type(handleType, flags);
    require(exported->file() != nullptr, CUDA_ERROR_INVALID_VALUE,
            "the pool was not made for handles of this type");
    const int descriptor = fcntl(exported->file()->file(), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) refuse_by_system("a handle of the pool");
    std::memcpy(handle_out, &descriptor, sizeof descriptor);
    exported->was_exported = true;
  });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle,
                                            CUmemAllocationHandleType handleType,
                                            unsigned long long flags) noexcept {
  return answer([&](call& c) {
    require_outputs(pool_out);
    require_descriptor_type(handleType, flags);
    const int descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
    auto file = memory::shared_file::open(descriptor);
    const bool is_out_of_descriptors = !file && errno == EMFILE;
    if (is_out_of_descriptors) refuse_by_system("the pool");
    require(file != nullptr, CUDA_ERROR_INVALID_VALUE,
            "the file descriptor is closed, or is none of a pool");
    const auto& origin = file->origin();
    const sharing::process_id maker{origin.process, origin.process_started};
    require(maker != sharing::this_process(), CUDA_ERROR_INVALID_VALUE,
            "the pool was made in this process; another one imports the handle");
    const auto properties = properties_from(origin);
    const bool is_device = properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (is_device) c.device_of(properties.location.id);
    const auto made = c.d.objects.make<memory_pool>(
        properties, is_device ? properties.location.id : 0, std::move(file), true);
    c.d.pools.push_back(made);
    *pool_out = made->handle_as<CUmemoryPool>();
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) noexcept {
  return answer([&](call& c) {
    require_outputs(shareData_out);
    const auto found = require_base(c, ptr);
    require(found.is_shared && found.pool != 0, CUDA_ERROR_INVALID_VALUE,
            "the memory is of no pool that was made for handles");
    require(is_known_outside(c, found.pool), CUDA_ERROR_INVALID_VALUE,
            "the pool was not exported yet: cuMemPoolExportToShareableHandle comes first");
    const auto file = c.d.memory.backing_of(found.base);
    *shareData_out = read_as<CUmemPoolPtrExportData>(exported_pointer{
        mark, file->token(), found.file_offset, found.size, file->entry(found.file_offset), {}});
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool,
                                CUmemPoolPtrExportData* shareData) noexcept {
  return answer([&](call& c) {
    require_outputs(ptr_out, shareData);
    const auto into = c.find<memory_pool>(pool, CUDA_ERROR_INVALID_VALUE);
    const auto given = read_as<exported_pointer>(*shareData);
    require(into->is_imported(), CUDA_ERROR_INVALID_VALUE,
            "the pool was made in this process; pointers are imported into an imported pool");
    require(given.mark == mark && given.size > 0, CUDA_ERROR_INVALID_VALUE,
            "these are no bytes of cuMemPoolExportPointer");
    require(given.pool == into->file()->token(), CUDA_ERROR_INVALID_VALUE,
            "the pointer was exported from another pool");
    require(given.sequence != 0 && into->file()->entry(given.offset) == given.sequence,
            CUDA_ERROR_INVALID_VALUE, "the allocation was freed by the process that made it");
    require(!is_imported_already(c, *into, given.offset), CUDA_ERROR_ALREADY_MAPPED,
            "this process has imported the allocation already, and not freed it");
    const auto at = into->import(c.d.memory, given.offset, given.size);
    require(at.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "the memory cannot be mapped");
    *ptr_out = *at;
  });
}

}  // namespace halfwarp::emulator::api
