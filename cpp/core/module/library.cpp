// SPDX-License-Identifier: Apache-2.0
// Libraries of device code: loading, unloading and lookup.
#include "core/module/library.hpp"

#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace halfwarp::core {
namespace {

constexpr std::size_t log_capacity = 16 * 1024;

struct unused_library {
  CUlibrary raw;
  unused_library* next;
};
constinit std::atomic<unused_library*> unused{nullptr};
constinit std::atomic<std::size_t> unused_count{0};

CUresult unload(CUlibrary raw) noexcept {
  return driver::try_call(driver::table->cuLibraryUnload, raw);
}

// Call before loading a library: unloads the unused libraries if there are too many.
void limit_unused_libraries() noexcept {
  if (unused_count.load(std::memory_order_relaxed) >= most_unused_libraries) {
    unload_unused_libraries();
  }
}

library_handle adopt(CUlibrary raw, library_facts facts) {
  while (const library_handle unloaded = library_handle::find(raw)) mark_unloaded(unloaded);
  return library_handle::own({}, std::move(facts), [raw](CUlibrary* result) { *result = raw; });
}

}  // namespace

// At exit the driver frees all libraries itself, without waiting.
CUresult library_traits::destroy(CUlibrary raw, const library_facts& facts) noexcept {
  if (facts.stays_loaded || is_exiting.load(std::memory_order_relaxed)) return CUDA_SUCCESS;
  auto* const entry = new (std::nothrow) unused_library{raw, unused.load()};
  if (entry == nullptr) return unload(raw);
  unused_count.fetch_add(1, std::memory_order_relaxed);
  while (!unused.compare_exchange_weak(entry->next, entry)) continue;
  return CUDA_SUCCESS;
}

void unload_unused_libraries() noexcept {
  unused_library* next = unused.exchange(nullptr);
  while (next != nullptr) {
    unused_library* const each = std::exchange(next, next->next);
    unused_count.fetch_sub(1, std::memory_order_relaxed);
    const CUresult code = release([each] { return unload(each->raw); });
    if (code != CUDA_SUCCESS) {
      report_failed_destroy(library_traits::destroyer, reinterpret_cast<std::uintptr_t>(each->raw),
                            code);
    }
    delete each;
  }
}

void discard_unused_libraries() noexcept {
  unused.store(nullptr);
  unused_count.store(0);
}

// Loads without a log buffer: a driver that loads lazily would write to it long after the call.
library_handle load_library(const void* image, bool is_ptx, std::string_view declarations,
                            load_report& report) {
  library_facts facts{signatures_of_ptx(declarations)};
  CUlibrary raw = nullptr;
  limit_unused_libraries();
  report = {driver::table->cuLibraryLoadData(&raw, image, nullptr, nullptr, 0, nullptr, nullptr, 0),
            "cuLibraryLoadData",
            {}};
  if (report.code == CUDA_SUCCESS) return adopt(raw, std::move(facts));
  if (is_ptx) report.log = compiler_log(static_cast<const char*>(image));
  return {};
}

library_handle load_library_file(const char* path, std::string_view declarations,
                                 load_report& report) {
  library_facts facts{signatures_of_ptx(declarations)};
  CUlibrary raw = nullptr;
  limit_unused_libraries();
  report = {
      driver::table->cuLibraryLoadFromFile(&raw, path, nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cuLibraryLoadFromFile",
      {}};
  return report.code == CUDA_SUCCESS ? adopt(raw, std::move(facts)) : library_handle{};
}

std::string compiler_log(const char* ptx) {
  std::string text(log_capacity, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {text.data(), reinterpret_cast<void*>(log_capacity)};
  CUmodule module = nullptr;
  const CUresult code =
      driver::try_call(driver::table->cuModuleLoadDataEx, &module, ptx, 2u, options, values);
  if (code == CUDA_SUCCESS) {  // the load failed for another reason
    static_cast<void>(driver::try_call(driver::table->cuModuleUnload, module));
    return {};
  }
  return text.c_str();
}

global_variable find_global(const library_handle& library, const char* name) {
  global_variable result;
  driver::call(driver::table->cuLibraryGetGlobal, &result.address, &result.size, library.raw(),
               name);
  return result;
}

std::vector<std::string> kernel_symbols(const library_handle& library) {
  unsigned count = 0;
  driver::call(driver::table->cuLibraryGetKernelCount, &count, library.raw());
  if (count == 0) return {};  // the driver refuses to list none
  std::vector<CUkernel> kernels(count);
  driver::call(driver::table->cuLibraryEnumerateKernels, kernels.data(), count, library.raw());
  std::vector<std::string> result;
  for (CUkernel kernel : kernels) {
    const char* name = nullptr;
    driver::call(driver::table->cuKernelGetName, &name, kernel);
    result.emplace_back(name);
  }
  return result;
}

}  // namespace halfwarp::core
