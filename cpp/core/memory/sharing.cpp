// SPDX-License-Identifier: Apache-2.0
// The calls that give to, and take from, other processes, and the table of what was taken.
#include "core/memory/sharing.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace halfwarp::core {
namespace {

constexpr int most_attempts = 64;  // other threads may import and free it in between
constexpr auto descriptors = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

struct imported_memory {
  CUmemPoolPtrExportData by{};
  pool_handle pool;  // goes after the memory
  unsigned users = 0;
  std::vector<free_order> earlier;  // of users that have let go, one for each stream
};

// A driver that destroys a pool while another thread imports it may end the process. Never waited
// for with the interpreter's lock, which drivers' calls below may want back.
constinit std::mutex sharing_lock;

// Never destroyed: buffers may outlive the end of main.
std::map<CUdeviceptr, imported_memory>& imports() {
  static auto* const table = new std::map<CUdeviceptr, imported_memory>;
  return *table;
}

imported_memory* find_import(const CUmemPoolPtrExportData& by, CUdeviceptr& at) {
  for (auto& [pointer, each] : imports()) {
    if (std::memcmp(&each.by, &by, sizeof by) != 0) continue;
    at = pointer;
    return &each;
  }
  return nullptr;
}

void keep_order(std::vector<free_order>& earlier, const free_order& order) {
  for (free_order& each : earlier) {
    if (!each.is_on_stream_of(order)) continue;
    each = order;
    return;
  }
  earlier.push_back(order);
}

CUdeviceptr import_once(const pool_ref& into, const CUmemPoolPtrExportData& from) {
  const std::lock_guard lock{sharing_lock};
  CUdeviceptr at = 0;
  if (auto* const known = find_import(from, at)) {
    ++known->users;
    return at;
  }
  imported_memory made{from, into.share(), 1, {}};
  driver::call(driver::table->cuMemPoolImportPointer, &at, into.raw(), &made.by);
  imports().insert_or_assign(at, std::move(made));
  return at;
}

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
  if (device < 0) let_devices_use(pool);
  return pool;
}

CUmemPoolPtrExportData export_memory(CUdeviceptr pointer) {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  CUmemPoolPtrExportData bytes{};
  driver::call(driver::table->cuMemPoolExportPointer, &bytes, pointer);
  return bytes;
}

CUdeviceptr import_memory(const pool_ref& into, const CUmemPoolPtrExportData& from) {
  free_what_was_deferred();  // it may be what keeps the memory mapped
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  for (int attempt = 1;; ++attempt) {
    try {
      return import_once(into, from);
    } catch (const driver::driver_error& error) {
      // Mapped still: the free of the last user waits for work of its stream.
      const bool may_go = error.code == CUDA_ERROR_ALREADY_MAPPED && attempt < most_attempts &&
                          driver::try_call(driver::table->cuCtxSynchronize) == CUDA_SUCCESS;
      if (!may_go) throw;
    }
  }
}

bool is_imported(CUdeviceptr pointer, CUmemPoolPtrExportData* by) noexcept {
  const gil_release_if_held released;
  const std::lock_guard lock{sharing_lock};
  const auto found = imports().find(pointer);
  if (found == imports().end()) return false;
  if (by) *by = found->second.by;
  return true;
}

free_result let_go(CUdeviceptr pointer, const free_order& order) noexcept {
  if (!order.is_of_this_process()) return {};
  const gil_release_if_held released;
  imported_memory last;  // goes after the lock: with it the pool, which takes the lock
  const std::lock_guard lock{sharing_lock};
  const auto found = imports().find(pointer);
  if (found == imports().end()) return order.free(pointer);
  if (--found->second.users > 0) {
    keep_order(found->second.earlier, order);
    return {};
  }
  last = std::move(found->second);
  imports().erase(found);
  free_result waited;
  for (const free_order& each : last.earlier) {
    const free_result result = each.come_before(order);
    if (result.code != CUDA_SUCCESS) waited = result;
  }
  const free_result freed = order.free(pointer);
  return freed.code != CUDA_SUCCESS ? freed : waited;
}

// RANGE_SIZE alone would not do: for a pool of the host it is what addresses are reserved for.
std::size_t extent_of(CUdeviceptr pointer) {
  const gil_release_if_held released;
  std::size_t size = 0;
  CUdeviceptr first = 0;
  const auto ask = driver::table->cuPointerGetAttribute;
  if (driver::try_call(driver::table->cuMemGetAddressRange, &first, &size, pointer)) {
    driver::call(ask, &size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, pointer);
    driver::call(ask, &first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer);
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
