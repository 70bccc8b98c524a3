// SPDX-License-Identifier: Apache-2.0
// Queries the version of the shared runtime library, which Python finds.
#include <dlfcn.h>

#include "driver/runtime_table.hpp"
#include "runtime/source.hpp"

namespace {

void* (*open_shared_runtime)();

}  // namespace

void runtime_connect(void* (*open_shared)()) { open_shared_runtime = open_shared; }

// On failure, a Python error is set; callers check for one if this value is returned.
cudaError_t getLocalRuntimeVersion(int* runtimeVersion) {
  void* const handle = open_shared_runtime();
  if (!handle) return cudaErrorCallRequiresNewerDriver;
  const auto get_version =
      reinterpret_cast<decltype(&cudaRuntimeGetVersion)>(dlsym(handle, "cudaRuntimeGetVersion"));
  return get_version ? get_version(runtimeVersion) : cudaErrorSharedObjectSymbolNotFound;
}
