// SPDX-License-Identifier: Apache-2.0
// Calls that share memory with other processes, and the table of imported memory.
#include "core/memory/sharing.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace halfwarp::core {
namespace {

constexpr int most_attempts = 64;  // other threads may import and free the memory in between
constexpr auto descriptors = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

struct imported_memory {
  CUmemPoolPtrExportData export_data{};
  pool_handle pool;  // destroyed after the memory is freed
  unsigned users = 0;
  std::vector<free_order> earlier_orders;  // of released users, one per stream
};

// Serializes destruction and import of pools, which can crash a driver when concurrent. Must not be
// waited for with the GIL held, because driver calls under it may need the GIL.
constinit std::mutex sharing_lock;

// Never destroyed: buffers may outlive static objects.
std::map<CUdeviceptr, imported_memory>& imports() {
  static auto* const table = new std::map<CUdeviceptr, imported_memory>;
  return *table;
}

imported_memory* find_import(const CUmemPoolPtrExportData& data, CUdeviceptr& address) {
  for (auto& [pointer, each] : imports()) {
    if (std::memcmp(&each.export_data, &data, sizeof data) != 0) continue;
    address = pointer;
    return &each;
  }
  return nullptr;
}

void add_order(std::vector<free_order>& orders, const free_order& order) {
  for (free_order& each : orders) {
    if (!each.is_on_stream_of(order)) continue;
    each = order;
    return;
  }
  orders.push_back(order);
}

CUdeviceptr import_once(const pool_ref& pool, const CUmemPoolPtrExportData& data) {
  const std::lock_guard lock{sharing_lock};
  CUdeviceptr address = 0;
  if (auto* const match = find_import(data, address)) {
    ++match->users;
    return address;
  }
  imported_memory memory{data, pool.share(), 1, {}};
  driver::call(driver::table->cuMemPoolImportPointer, &address, pool.raw(), &memory.export_data);
  imports().insert_or_assign(address, std::move(memory));
  return address;
}

// A reference to physical memory. Its release is repeated once, because a failure leaks the memory.
class physical_reference {
 public:
  explicit physical_reference(CUdeviceptr address) {
    driver::call(driver::table->cuMemRetainAllocationHandle, &handle_,
                 reinterpret_cast<void*>(address));
  }
  physical_reference(const physical_reference&) = delete;  // owns the reference
  physical_reference& operator=(const physical_reference&) = delete;
  ~physical_reference() {
    if (driver::try_call(driver::table->cuMemRelease, handle_) != CUDA_SUCCESS) {
      driver::try_call(driver::table->cuMemRelease, handle_);
    }
  }
  CUmemGenericAllocationHandle raw() const noexcept { return handle_; }

 private:
  CUmemGenericAllocationHandle handle_{};
};

}  // namespace

CUresult destroy_shared_pool(CUmemoryPool raw) noexcept {
  const std::lock_guard lock{sharing_lock};
  return driver::try_call(driver::table->cuMemPoolDestroy, raw);
}

int export_pool(const pool_ref& pool) {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  int descriptor = -1;
  driver::call(driver::table->cuMemPoolExportToShareableHandle, &descriptor, pool.raw(),
               descriptors, 0ull);
  return descriptor;
}

pool_handle import_pool(int descriptor, CUdevice device) {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  pool_facts facts{device};
  facts.sharing = pool_sharing::imported;
  pool_handle pool;
  {
    const std::lock_guard lock{sharing_lock};
    pool = pool_handle::own({}, std::move(facts), [descriptor](CUmemoryPool* raw) {
      driver::call(driver::table->cuMemPoolImportFromShareableHandle, raw,
                   reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), descriptors,
                   0ull);
    });
  }
  if (device < 0) grant_device_access(pool);
  return pool;
}

CUmemPoolPtrExportData export_memory(CUdeviceptr pointer) {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  CUmemPoolPtrExportData bytes{};
  driver::call(driver::table->cuMemPoolExportPointer, &bytes, pointer);
  return bytes;
}

CUdeviceptr import_memory(const pool_ref& pool, const CUmemPoolPtrExportData& data) {
  free_deferred_if_any();  // a deferred free may keep the memory mapped
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  for (int attempt = 1;; ++attempt) {
    try {
      return import_once(pool, data);
    } catch (const driver::driver_error& error) {
      // The memory is mapped until the last user's free has completed on its stream.
      const bool may_retry = error.code == CUDA_ERROR_ALREADY_MAPPED && attempt < most_attempts &&
                             driver::try_call(driver::table->cuCtxSynchronize) == CUDA_SUCCESS;
      if (!may_retry) throw;
    }
  }
}

bool is_imported(CUdeviceptr pointer, CUmemPoolPtrExportData* export_data) noexcept {
  const gil_release_if_held released;
  const std::lock_guard lock{sharing_lock};
  const auto match = imports().find(pointer);
  if (match == imports().end()) return false;
  if (export_data) *export_data = match->second.export_data;
  return true;
}

free_result release_imported(CUdeviceptr pointer, const free_order& order) noexcept {
  if (!order.is_of_this_process()) return {};
  const gil_release_if_held released;
  imported_memory last;  // destroyed after the lock, since destroying its pool acquires the lock
  const std::lock_guard lock{sharing_lock};
  const auto match = imports().find(pointer);
  if (match == imports().end()) return order.free(pointer);
  if (--match->second.users > 0) {
    add_order(match->second.earlier_orders, order);
    return {};
  }
  last = std::move(match->second);
  imports().erase(match);
  free_result waited;
  for (const free_order& each : last.earlier_orders) {
    const free_result result = each.make_wait(order);
    if (result.code != CUDA_SUCCESS) waited = result;
  }
  const free_result freed = order.free(pointer);
  return freed.code != CUDA_SUCCESS ? freed : waited;
}

int export_mapping(CUdeviceptr address) {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  const physical_reference memory{address};
  int descriptor = -1;
  driver::call(driver::table->cuMemExportToShareableHandle, &descriptor, memory.raw(), descriptors,
               0ull);
  return descriptor;
}

// RANGE_SIZE is only a fallback: for a host pool it is the size of the reserved address range.
std::size_t extent_of(CUdeviceptr pointer) {
  const gil_release_if_held released;
  std::size_t size{};
  CUdeviceptr first{};
  const auto get_attribute = driver::table->cuPointerGetAttribute;
  if (driver::try_call(driver::table->cuMemGetAddressRange, &first, &size, pointer)) {
    driver::call(get_attribute, &size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, pointer);
    driver::call(get_attribute, &first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer);
  }
  return size - (pointer - first);
}

CUipcEventHandle export_event(const event_ref& event) {
  const gil_release_if_held released;
  CUipcEventHandle handle{};
  driver::call(driver::table->cuIpcGetEventHandle, &handle, event.raw());
  return handle;
}

event_handle import_event(const CUipcEventHandle& from, unsigned flags) {
  const gil_release_if_held released;
  return event_handle::own(
      context_instance{current_context()}, event_facts{flags, true},
      [&from](CUevent* raw) { driver::call(driver::table->cuIpcOpenEventHandle, raw, from); });
}

}  // namespace halfwarp::core
