// SPDX-License-Identifier: Apache-2.0
// Opens the runtime library at the path in its argument, as packages do that know where it is.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  void* const runtime = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!runtime) {
    std::puts(dlerror());
    return 1;
  }
  auto* const get_version =
      reinterpret_cast<int (*)(int*)>(dlsym(runtime, "cudaRuntimeGetVersion"));
  auto* const get_count = reinterpret_cast<int (*)(int*)>(dlsym(runtime, "cudaGetDeviceCount"));
  int version = 0, count = 0;
  get_version(&version);
  get_count(&count);
  std::printf("%d %d\n", version, count);
}
