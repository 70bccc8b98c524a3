// SPDX-License-Identifier: Apache-2.0
// Kernels and variables that compiled programs registered, by the addresses of their host objects.
#include "emulated_runtime/program/registry.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/process/errors.hpp"

namespace halfwarp::emulated_runtime::program {
namespace {

// Never destroyed: a program unregisters while the process exits. Shared objects with symbols of
// one name register one host address. The last registration is used until its object is closed. The
// records of the others stay, since the programs have their addresses.
struct registry {
  std::shared_mutex lock;
  std::unordered_map<const void*, std::vector<std::unique_ptr<const kernel>>> kernels;  // by host
  std::unordered_map<const void*, const kernel*> handles;  // by the address of the record
  std::unordered_map<const void*, std::vector<variable>> variables;
  std::unordered_map<const void*, const void*> hosts;  // driver handle -> host address
  std::vector<device_code*> codes;
  std::size_t loaded_codes = 0;  // the first codes, which load_registered has loaded
};

registry& all() {
  static auto* const objects = new registry;
  return *objects;
}

// Removes the records of the code, and addresses that have no other record.
template <class Map, class Predicate>
void erase_records(Map& map, Predicate is_of_code) {
  for (auto& [host, records] : map) std::erase_if(records, is_of_code);
  std::erase_if(map, [](const auto& entry) { return entry.second.empty(); });
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
  objects.handles.emplace(record.get(), record.get());
  objects.kernels[fresh.host].push_back(std::move(record));
}

void add(const void* host, const variable& fresh) {
  auto& objects = all();
  const std::unique_lock guard{objects.lock};
  objects.variables[host].push_back(fresh);
}

void add(device_code& code) {
  auto& objects = all();
  const std::unique_lock guard{objects.lock};
  objects.codes.push_back(&code);
}

void remove(const device_code& code) noexcept {
  auto& objects = all();
  const std::unique_lock guard{objects.lock};
  const auto position = std::ranges::find(objects.codes, &code);
  const auto index = static_cast<std::size_t>(position - objects.codes.begin());
  if (index < objects.loaded_codes) --objects.loaded_codes;
  objects.codes.erase(position);
  std::erase_if(objects.handles, [&](const auto& each) { return each.second->code == &code; });
  std::erase_if(objects.hosts, [&](const auto& each) {
    const auto match = objects.kernels.find(each.second);
    return match != objects.kernels.end() && match->second.back()->code == &code;
  });
  erase_records(objects.kernels, [&](const auto& each) { return each->code == &code; });
  erase_records(objects.variables, [&](const variable& each) { return each.code == &code; });
}

const kernel* find_kernel(const void* host_or_handle) noexcept {
  auto& objects = all();
  const std::shared_lock guard{objects.lock};
  const auto match = objects.kernels.find(host_or_handle);
  if (match != objects.kernels.end()) return match->second.back().get();
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
    source = match->second.back();
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
    for (const auto& [host, records] : objects.variables) {
      std::ranges::copy_if(records, std::back_inserter(managed), [&](const variable& each) {
        return each.code == &code && each.managed_slot;
      });
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

void load_registered() noexcept {
  static const char* const loading = std::getenv("CUDA_MODULE_LOADING");
  static const bool is_eager = loading && std::strcmp(loading, "EAGER") == 0;
  if (!is_eager) return;
  auto& objects = all();
  const std::unique_lock guard{objects.lock};
  for (; objects.loaded_codes < objects.codes.size(); ++objects.loaded_codes) {
    CUlibrary library = nullptr;
    objects.codes[objects.loaded_codes]->library(&library);  // reports a failure
  }
}

}  // namespace halfwarp::emulated_runtime::program
