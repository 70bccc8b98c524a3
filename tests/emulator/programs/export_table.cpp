// SPDX-License-Identifier: Apache-2.0
// Asks the driver for tables, as NVIDIA's runtime does when it is part of a program; with an
// argument, only for a table that the runtime can do without; with two, loads code without PTX, of
// the file that the second names, if any.
#include <dlfcn.h>

#include <cstdio>
#include <fstream>

int main(int count, char** arguments) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto* const start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto* const find =
      reinterpret_cast<int (*)(const void**, const void*)>(dlsym(driver, "cuGetExportTable"));
  const unsigned char needed[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                  0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
  const unsigned char other[16] = {0xda, 0x91};
  const void* table = nullptr;
  start(0);
  if (count == 3) {
    using load_function = int (*)(void**, const void*, void*, void*, int, void*, void*, int);
    const bool is_file = std::ifstream{arguments[2]}.good();
    void* library = nullptr;
    auto* const load = reinterpret_cast<load_function>(
        dlsym(driver, is_file ? "cuLibraryLoadFromFile" : "cuLibraryLoadData"));
    const char link_time_code[] = "\xed\x43\x4e\x7f\x01\x02\x03";
    const char* const image = is_file ? arguments[2] : link_time_code;
    return load(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0) != 209;
  }
  const int of_other = find(&table, other);
  if (count == 2) return of_other != 500;
  const int of_needed = find(&table, needed);
  std::printf("%d %d %d\n", of_other, of_needed, find(&table, needed));
}
