// SPDX-License-Identifier: Apache-2.0
// How a library in the folder of the emulated driver opens it.
#pragma once

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace halfwarp {

// Opens the emulated driver in the folder of the library that defines `symbol`. Returns null and
// writes a line on stderr if there is none. Resolves links, since a program may load the library
// by a link in another folder.
inline void* load_emulator(const void* symbol, const char* caller) noexcept {
  Dl_info self;
  char path[PATH_MAX + 32];
  if (!dladdr(symbol, &self) || !realpath(self.dli_fname, path)) return nullptr;
  strcpy(strrchr(path, '/') + 1, "libcuda_emulated.so");
  void* const emulator = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!emulator) fprintf(stderr, "halfwarp: %s finds no emulated driver: %s\n", caller, dlerror());
  return emulator;
}

}  // namespace halfwarp
