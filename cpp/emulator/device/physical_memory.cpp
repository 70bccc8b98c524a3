// SPDX-License-Identifier: Apache-2.0
// Creates memory files and opens the files of other processes.
#include "emulator/device/physical_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace halfwarp::emulator {
namespace {

// The file name records the location of its memory.
constexpr const char* name_format = "halfwarp-physical:%d:%d";
constexpr const char* link_format = "/memfd:halfwarp-physical:%d:%d";
constexpr std::uint64_t filled_bytes = 32u << 20;  // bytes after these are zero

void fill_fresh(int file, std::uint64_t size, std::uint32_t pattern) {
  const std::uint64_t bytes = std::min(size, filled_bytes);
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return;
  std::fill_n(static_cast<std::uint32_t*>(at), bytes / sizeof pattern, pattern);
  munmap(at, bytes);
}

}  // namespace

memory_file::~memory_file() {
  close(file_);
  if (is_charged_) space_.discharge(location().id, size_);
}

std::shared_ptr<memory_file> make_memory_file(memory::address_space& space, std::uint64_t size,
                                              const CUmemAllocationProp& properties) {
  const CUmemLocation& location = properties.location;
  const bool is_charged = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (is_charged && !space.charge(location.id, size)) return nullptr;
  char name[64];
  std::snprintf(name, sizeof name, name_format, static_cast<int>(location.type), location.id);
  const int file = memfd_create(name, MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    if (file >= 0) close(file);
    if (is_charged) space.discharge(location.id, size);
    return nullptr;
  }
  fill_fresh(file, size, memory::fresh_pattern(space.seed(), size));
  return std::make_shared<memory_file>(space, file, size, properties, is_charged);
}

std::shared_ptr<memory_file> open_memory_file(memory::address_space& space, int file) {
  char target[128] = {};
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  int type = 0, id = 0;
  struct stat status;
  if (readlink(path.c_str(), target, sizeof target - 1) < 0 ||
      std::sscanf(target, link_format, &type, &id) != 2 || fstat(file, &status) != 0) {
    return nullptr;
  }
  const int duplicate = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) return nullptr;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {static_cast<CUmemLocationType>(type), {id}};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return std::make_shared<memory_file>(space, duplicate, static_cast<std::uint64_t>(status.st_size),
                                       properties, false);
}

}  // namespace halfwarp::emulator
