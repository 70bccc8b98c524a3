// SPDX-License-Identifier: Apache-2.0
// For the libraries that lie in one folder with the emulated driver: how they open it.
#pragma once

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace halfwarp {

// Null, with a line on stderr that begins with `who`, where there is none. By the folder of the
// file itself, which has `own`: a program may have found it through a link of another name.
inline void* open_emulator_beside(const void* own, const char* who) noexcept {
  Dl_info self;
  char path[PATH_MAX + 32];
  if (!dladdr(own, &self) || !realpath(self.dli_fname, path)) return nullptr;
  strcpy(strrchr(path, '/') + 1, "libcuda_emulated.so");
  void* const emulator = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!emulator) fprintf(stderr, "halfwarp: %s finds no emulated driver: %s\n", who, dlerror());
  return emulator;
}

}  // namespace halfwarp
