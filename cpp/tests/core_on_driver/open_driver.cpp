// SPDX-License-Identifier: Apache-2.0
// Connects the emulator or the null driver to the table that cpp/core calls.
#include "core_on_driver/open_driver.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace halfwarp::core::testing {
namespace {

struct slot {
  const char* name;
  std::size_t offset;
};

// The functions that cpp/core and these tests call. The offset is that slot's to which the header's
// macro maps the name, as in calls.
using table_of = driver::driver_table;
constexpr slot slots[] = {
    {"cuInit", offsetof(table_of, cuInit)},
    {"cuCtxGetCurrent", offsetof(table_of, cuCtxGetCurrent)},
    {"cuCtxGetId", offsetof(table_of, cuCtxGetId)},
    {"cuCtxGetDevice", offsetof(table_of, cuCtxGetDevice)},
    {"cuCtxGetStreamPriorityRange", offsetof(table_of, cuCtxGetStreamPriorityRange)},
    {"cuCtxPopCurrent", offsetof(table_of, cuCtxPopCurrent)},
    {"cuCtxPushCurrent", offsetof(table_of, cuCtxPushCurrent)},
    {"cuCtxSetCurrent", offsetof(table_of, cuCtxSetCurrent)},
    {"cuCtxSynchronize", offsetof(table_of, cuCtxSynchronize)},
    {"cuDeviceGetAttribute", offsetof(table_of, cuDeviceGetAttribute)},
    {"cuDeviceGetMemPool", offsetof(table_of, cuDeviceGetMemPool)},
    {"cuDevicePrimaryCtxGetState", offsetof(table_of, cuDevicePrimaryCtxGetState)},
    {"cuDevicePrimaryCtxRelease", offsetof(table_of, cuDevicePrimaryCtxRelease)},
    {"cuDevicePrimaryCtxRetain", offsetof(table_of, cuDevicePrimaryCtxRetain)},
    {"cuDriverGetVersion", offsetof(table_of, cuDriverGetVersion)},
    {"cuEventCreate", offsetof(table_of, cuEventCreate)},
    {"cuEventDestroy", offsetof(table_of, cuEventDestroy)},
    {"cuEventQuery", offsetof(table_of, cuEventQuery)},
    {"cuEventRecord", offsetof(table_of, cuEventRecord)},
    {"cuGetErrorName", offsetof(table_of, cuGetErrorName)},
    {"cuKernelGetAttribute", offsetof(table_of, cuKernelGetAttribute)},
    {"cuKernelGetLibrary", offsetof(table_of, cuKernelGetLibrary)},
    {"cuKernelGetName", offsetof(table_of, cuKernelGetName)},
    {"cuKernelGetParamInfo", offsetof(table_of, cuKernelGetParamInfo)},
    {"cuKernelSetAttribute", offsetof(table_of, cuKernelSetAttribute)},
    {"cuLibraryEnumerateKernels", offsetof(table_of, cuLibraryEnumerateKernels)},
    {"cuLibraryGetGlobal", offsetof(table_of, cuLibraryGetGlobal)},
    {"cuLibraryGetKernel", offsetof(table_of, cuLibraryGetKernel)},
    {"cuLibraryGetKernelCount", offsetof(table_of, cuLibraryGetKernelCount)},
    {"cuLibraryLoadData", offsetof(table_of, cuLibraryLoadData)},
    {"cuLibraryLoadFromFile", offsetof(table_of, cuLibraryLoadFromFile)},
    {"cuLibraryUnload", offsetof(table_of, cuLibraryUnload)},
    {"cuMemAlloc", offsetof(table_of, cuMemAlloc)},
    {"cuMemAllocFromPoolAsync", offsetof(table_of, cuMemAllocFromPoolAsync)},
    {"cuMemFree", offsetof(table_of, cuMemFree)},
    {"cuMemFreeAsync", offsetof(table_of, cuMemFreeAsync)},
    {"cuMemGetInfo", offsetof(table_of, cuMemGetInfo)},
    {"cuMemPoolCreate", offsetof(table_of, cuMemPoolCreate)},
    {"cuMemPoolDestroy", offsetof(table_of, cuMemPoolDestroy)},
    {"cuMemPoolGetAttribute", offsetof(table_of, cuMemPoolGetAttribute)},
    {"cuMemPoolSetAttribute", offsetof(table_of, cuMemPoolSetAttribute)},
    {"cuMemPoolTrimTo", offsetof(table_of, cuMemPoolTrimTo)},
    {"cuModuleLoadDataEx", offsetof(table_of, cuModuleLoadDataEx)},
    {"cuModuleUnload", offsetof(table_of, cuModuleUnload)},
    {"cuThreadExchangeStreamCaptureMode", offsetof(table_of, cuThreadExchangeStreamCaptureMode)},
    {"cuStreamCreateWithPriority", offsetof(table_of, cuStreamCreateWithPriority)},
    {"cuStreamDestroy", offsetof(table_of, cuStreamDestroy)},
    {"cuStreamGetCtx", offsetof(table_of, cuStreamGetCtx)},
    {"cuStreamGetId", offsetof(table_of, cuStreamGetId)},
    {"cuStreamGetFlags", offsetof(table_of, cuStreamGetFlags)},
    {"cuStreamGetPriority", offsetof(table_of, cuStreamGetPriority)},
    {"cuStreamIsCapturing", offsetof(table_of, cuStreamIsCapturing)},
    {"cuStreamSynchronize", offsetof(table_of, cuStreamSynchronize)},
    {"cuStreamWaitEvent", offsetof(table_of, cuStreamWaitEvent)},
    {"cuThreadExchangeStreamCaptureMode", offsetof(table_of, cuThreadExchangeStreamCaptureMode)},
};

[[noreturn]] void stop() {
  std::fputs("cpp/core calls a driver function that is not in the list of these tests\n", stderr);
  std::abort();
}

const char* name_of(driver::library_id, const void*) { return "a driver function"; }

class open_library {
 public:
  open_library() {
    const char* const path = std::getenv("HALFWARP_TEST_DRIVER");
    handle_ = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      throw std::runtime_error{
          "HALFWARP_TEST_DRIVER must name libcuda_emulated.so, which "
          "`python setup.py build_ext --inplace` builds: " +
          std::string{path == nullptr ? "it is not set" : dlerror()}};
    }
    fill();
    api_.table = &table;
    api_.name_of = &name_of;
    driver::attach(&api_);
    driver::call(table_.cuInit, 0u);
  }
  open_library(const open_library&) = delete;  // the table of the process refers to it
  open_library& operator=(const open_library&) = delete;

  template <class Function>
  [[nodiscard]] Function symbol(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle_, name));
  }

 private:
  void fill() {
    using function = void (*)();
    std::fill_n(reinterpret_cast<function*>(&table_), sizeof table_ / sizeof(function), &stop);
    const auto ask = symbol<decltype(&::cuGetProcAddress)>("cuGetProcAddress_v2");
    for (const slot& each : slots) {
      void* function = nullptr;
      CUdriverProcAddressQueryResult status{};
      // The variant with a context parameter exists since CUDA 13.
      const bool is_older = each.name == std::string{"cuCtxSynchronize"};
      const int version = is_older ? 12000 : CUDA_VERSION;
      if (ask(each.name, &function, version, 0, &status) != CUDA_SUCCESS) {
        throw std::runtime_error{each.name};
      }
      std::memcpy(reinterpret_cast<std::byte*>(&table_) + each.offset, &function, sizeof function);
    }
  }

  // The table that the process attaches.
  static void* const* table(const char*) { return reinterpret_cast<void* const*>(&table_); }

  void* handle_ = nullptr;
  inline static driver::driver_table table_{};
  driver::loader_api api_{};
};

open_library& library() {
  static open_library opened;
  return opened;
}

std::string record(const char* name) {
  const auto read = library().symbol<std::size_t (*)(char*, std::size_t)>(name);
  std::string text(1 << 16, '\0');
  text.resize(read(text.data(), text.size()));
  return text;
}

int occurrences(const std::string& text, const std::string& pattern) {
  int count = 0;
  for (std::size_t at = text.find(pattern); at != std::string::npos;
       at = text.find(pattern, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

bool is_null_driver() {
  const char* const mode = std::getenv("HALFWARP_EMULATOR_MODE");
  return mode != nullptr && std::string{mode} == "null";
}

int live(const std::string& kind) {
  if (is_null_driver()) return 0;
  synchronize_all();
  const std::string name = kind.empty() ? std::string{} : "\"" + kind + "\"";
  return occurrences(record("halfwarp_emulator_leaks"), "\"kind\": " + name) +
         occurrences(record("halfwarp_emulator_leaks"), "\"kind\":" + name);
}

int primary_retains() {
  if (is_null_driver()) return 0;
  const std::string text = record("halfwarp_emulator_stats");
  const std::string key = "\"primary_retains\":";
  return std::atoi(text.c_str() + text.find(key) + key.size());
}

void synchronize_all() {
  if (!is_null_driver()) library().symbol<void (*)()>("halfwarp_emulator_settle")();
}

void driver_test::SetUp() {
  library();
  ASSERT_EQ(live(), 0);
  ASSERT_EQ(primary_retains(), 0);
}

void driver_test::TearDown() {
  EXPECT_EQ(live(), 0);
  EXPECT_EQ(primary_retains(), 0);
}

}  // namespace halfwarp::core::testing
