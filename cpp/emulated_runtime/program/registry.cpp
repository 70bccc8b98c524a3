// SPDX-License-Identifier: Apache-2.0
// Kernels and variables that compiled programs registered, by the addresses of their host objects.
#include "emulated_runtime/program/registry.hpp"

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/process/errors.hpp"

namespace halfwarp::emulated_runtime::program {
namespace {

// Never destroyed: a program unregisters while the process exits. Registrations of one host address
// by two objects are kept apart by their code, and the last one is used.
struct registry {
  std::shared_mutex lock;
  std::unordered_map<const void*, std::unique_ptr<const kernel>> kernels;  // by host address
  std::unordered_map<const void*, const kernel*> handles;  // by the address of the record
  std::unordered_map<const void*, variable> variables;
  std::unordered_map<const void*, const void*> hosts;  // driver handle -> host address
};

registry& all() {
  static auto* const objects = new registry;
  return *objects;
}

// Returns whether an address is part of the program or of a library; handles of the driver are not.
bool is_host_address(const void* address) noexcept {
  Dl_info object;
  return dladdr(address, &object) != 0;
}

cudaError_t as_symbol_error(CUresult code) noexcept {
  return code == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : from_driver(code);
}

cudaError_t locate(const variable& source, CUdeviceptr* address, size_t* bytes) noexcept {
  CUlibrary library = nullptr;
  if (const cudaError_t code = source.code->library(&library)) return code;
  auto* const query = source.managed_slot ? table->cuLibraryGetManaged : table->cuLibraryGetGlobal;
  return as_symbol_error(query(address, bytes, library, source.name));
}

}  // namespace

void add(const kernel& fresh) {
  auto& objects = all();
  auto record = std::make_unique<const kernel>(fresh);
  const std::unique_lock guard{objects.lock};
  auto& slot = objects.kernels[fresh.host];
  if (slot) objects.handles.erase(slot.get());
  objects.handles.emplace(record.get(), record.get());
  slot = std::move(record);
}

void add(const void* host, const variable& fresh) {
  auto& objects = all();
  const std::unique_lock guard{objects.lock};
  objects.variables.insert_or_assign(host, fresh);
}

void remove(const device_code& code) noexcept {
  auto& objects = all();
  const std::unique_lock guard{objects.lock};
  std::erase_if(objects.handles, [&](const auto& each) { return each.second->code == &code; });
  std::erase_if(objects.hosts, [&](const auto& each) {
    const auto match = objects.kernels.find(each.second);
    return match != objects.kernels.end() && match->second->code == &code;
  });
  std::erase_if(objects.kernels, [&](const auto& each) { return each.second->code == &code; });
  std::erase_if(objects.variables, [&](const auto& each) { return each.second.code == &code; });
}

const kernel* find_kernel(const void* host_or_handle) noexcept {
  auto& objects = all();
  const std::shared_lock guard{objects.lock};
  const auto match = objects.kernels.find(host_or_handle);
  if (match != objects.kernels.end()) return match->second.get();
  const auto handle = objects.handles.find(host_or_handle);
  return handle == objects.handles.end() ? nullptr : handle->second;
}

const void* host_address_of(const void* driver_handle) noexcept {
  auto& objects = all();
  const std::shared_lock guard{objects.lock};
  const auto match = objects.hosts.find(driver_handle);
  return match == objects.hosts.end() ? nullptr : match->second;
}

void remember_host_address(const void* driver_handle, const void* host) {
  if (host_address_of(driver_handle) == host) return;
  auto& objects = all();
  const std::unique_lock guard{objects.lock};
  objects.hosts.insert_or_assign(driver_handle, host);
}

cudaError_t locate(const void* symbol, CUdeviceptr* address, size_t* bytes) noexcept {
  auto& objects = all();
  variable source{};
  {
    const std::shared_lock guard{objects.lock};
    const auto match = objects.variables.find(symbol);
    if (match == objects.variables.end()) return cudaErrorInvalidSymbol;
    source = match->second;
  }
  return locate(source, address, bytes);
}

cudaError_t resolve(const void* func, CUkernel* result) noexcept {
  const kernel* const record = find_kernel(func);
  *result = static_cast<CUkernel>(const_cast<void*>(func));
  if (!record && (!func || is_host_address(func))) return cudaErrorInvalidDeviceFunction;
  if (!record) return cudaSuccess;
  CUlibrary library = nullptr;
  if (const cudaError_t code = record->code->library(&library)) return code;
  const CUresult code = table->cuLibraryGetKernel(result, library, record->name);
  if (code == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidDeviceFunction;
  if (code == CUDA_SUCCESS) remember_host_address(*result, record->host);
  return from_driver(code);
}

cudaError_t fill_managed_slots(device_code& code) noexcept {
  auto& objects = all();
  std::vector<variable> managed;
  {
    const std::shared_lock guard{objects.lock};
    for (const auto& [host, each] : objects.variables) {
      if (each.code == &code && each.managed_slot) managed.push_back(each);
    }
  }
  for (const variable& each : managed) {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    if (const cudaError_t result = locate(each, &address, &bytes)) return result;
    *each.managed_slot = reinterpret_cast<void*>(address);
  }
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::program
