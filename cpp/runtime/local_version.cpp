// SPDX-License-Identifier: Apache-2.0
// The version of the shared runtime library, which Python finds.
#include <dlfcn.h>

#include "driver/runtime_table.hpp"
#include "runtime/source.hpp"

namespace {

void* (*open_shared_runtime)();

}  // namespace

void runtime_connect(void* (*open_shared)()) { open_shared_runtime = open_shared; }

// A Python error is set where the value is returned at which clients look for one.
cudaError_t getLocalRuntimeVersion(int* runtimeVersion) {
  void* const handle = open_shared_runtime();
  if (!handle) return cudaErrorCallRequiresNewerDriver;
  const auto ask =
      reinterpret_cast<decltype(&cudaRuntimeGetVersion)>(dlsym(handle, "cudaRuntimeGetVersion"));
  return ask ? ask(runtimeVersion) : cudaErrorSharedObjectSymbolNotFound;
}
