// SPDX-License-Identifier: Apache-2.0
// Interprocess pools: a file descriptor names the pool, a 64-byte handle an allocation in it.
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

constexpr std::uint64_t signature = 0x31'72'74'70'6c'70'77'68;  // "hwplptr1"

struct exported_pointer {
  std::uint64_t signature;
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

// Returns whether another process may have the pool.
bool is_shared_with_processes(const call& c, std::uint64_t pool) {
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
  return run_locked([&](call& c) {
    require_outputs(handle_out);
    const auto exported = c.find<memory_pool>(pool, CUDA_ERROR_INVALID_VALUE);
    require_descriptor_type(handleType, flags);
    require(exported->file() != nullptr, CUDA_ERROR_INVALID_VALUE,
            "the pool was not created for handles of this type");
    const int descriptor = fcntl(exported->file()->file(), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) refuse_by_system("a handle of the pool");
    std::memcpy(handle_out, &descriptor, sizeof descriptor);
    exported->was_exported = true;
  });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle,
                                            CUmemAllocationHandleType handleType,
                                            unsigned long long flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pool_out);
    require_descriptor_type(handleType, flags);
    const int descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
    auto file = memory::shared_file::open(descriptor);
    const bool is_out_of_descriptors = !file && errno == EMFILE;
    if (is_out_of_descriptors) refuse_by_system("the pool");
    require(file != nullptr, CUDA_ERROR_INVALID_VALUE,
            "the file descriptor is closed, or does not refer to a pool");
    const auto& origin = file->origin();
    const sharing::process_id creator{origin.process, origin.process_started};
    require(creator != sharing::this_process(), CUDA_ERROR_INVALID_VALUE,
            "the pool was created in this process; only another process can import the handle");
    const auto properties = properties_from(origin);
    const bool is_device = properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (is_device) c.device_of(properties.location.id);
    const auto created = c.d.objects.make<memory_pool>(
        properties, is_device ? properties.location.id : 0, std::move(file), true);
    c.d.pools.push_back(created);
    *pool_out = created->handle_as<CUmemoryPool>();
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) noexcept {
  return run_locked([&](call& c) {
    require_outputs(shareData_out);
    const auto allocation = require_base(c, ptr);
    require(allocation.is_shared && allocation.pool != 0, CUDA_ERROR_INVALID_VALUE,
            "the memory does not belong to a shareable pool");
    require(is_shared_with_processes(c, allocation.pool), CUDA_ERROR_INVALID_VALUE,
            "the pool was not exported; call cuMemPoolExportToShareableHandle first");
    const auto file = c.d.memory.backing_of(allocation.base);
    *shareData_out =
        read_as<CUmemPoolPtrExportData>(exported_pointer{signature,
                                                         file->token(),
                                                         allocation.file_offset,
                                                         allocation.size,
                                                         file->entry(allocation.file_offset),
                                                         {}});
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool,
                                CUmemPoolPtrExportData* shareData) noexcept {
  return run_locked([&](call& c) {
    require_outputs(ptr_out, shareData);
    const auto target = c.find<memory_pool>(pool, CUDA_ERROR_INVALID_VALUE);
    const auto source = read_as<exported_pointer>(*shareData);
    require(target->is_imported(), CUDA_ERROR_INVALID_VALUE,
            "the pool was created in this process; pointers can only be imported into an imported "
            "pool");
    require(source.signature == signature && source.size > 0, CUDA_ERROR_INVALID_VALUE,
            "the data is not from cuMemPoolExportPointer");
    require(source.pool == target->file()->token(), CUDA_ERROR_INVALID_VALUE,
            "the pointer was exported from another pool");
    require(source.sequence != 0 && target->file()->entry(source.offset) == source.sequence,
            CUDA_ERROR_INVALID_VALUE, "the allocation was freed by the process that created it");
    require(!is_imported_already(c, *target, source.offset), CUDA_ERROR_ALREADY_MAPPED,
            "this process already imported the allocation and has not freed it");
    const auto address = target->import(c.d.memory, source.offset, source.size);
    require(address.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "the memory cannot be mapped");
    *ptr_out = *address;
  });
}

}  // namespace halfwarp::emulator::api
