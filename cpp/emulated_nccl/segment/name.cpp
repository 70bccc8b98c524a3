// SPDX-License-Identifier: Apache-2.0
// Names of segments, and the removal of abandoned ones.
#include <dirent.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/segment/segment.hpp"

namespace halfwarp::emulated_nccl {
namespace {

constexpr std::uint64_t name_mark = 0x31'6c'63'63'6e'77'68;  // "hwnccl1"
constexpr const char* folder = "/dev/shm";
constexpr const char* pattern = "/dev/shm/halfwarp-nccl-%lld-%llx-%llx";
constexpr std::time_t abandoned_after = 60;  // seconds

// The finalizer of splitmix64.
std::uint64_t mixed(std::uint64_t z) noexcept {
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return z ^ z >> 31;
}

void remove_if_abandoned(const char* file) noexcept {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/%s", folder, file);
  long long process;
  unsigned long long started, number;
  if (std::sscanf(path, pattern, &process, &started, &number) != 3) return;
  if (driver()->process_start(static_cast<int>(process)) == started) return;
  struct stat status;
  const bool is_old =
      stat(path, &status) == 0 && status.st_mtime + abandoned_after < std::time(nullptr);
  if (is_old) ::unlink(path);
}

void remove_abandoned() noexcept {
  DIR* const files = opendir(folder);
  if (!files) return;
  while (const dirent* file = readdir(files)) remove_if_abandoned(file->d_name);
  closedir(files);
}

}  // namespace

segment_name segment_name::create() noexcept {
  remove_abandoned();
  segment_name name{name_mark, getpid(), driver()->process_start(getpid()), 0};
  if (getrandom(&name.number, sizeof name.number, 0) != sizeof name.number) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    name.number = mixed(static_cast<std::uint64_t>(now.tv_nsec) + name.started);
  }
  return name;
}

segment_name segment_name::from(const unique_id& id) noexcept {
  segment_name name;
  std::memcpy(&name, id.bytes, sizeof name);
  return name;
}

unique_id segment_name::as_id() const noexcept {
  unique_id id{};
  std::memcpy(id.bytes, this, sizeof *this);
  return id;
}

bool segment_name::is_valid() const noexcept { return mark == name_mark; }

segment_name segment_name::child(std::uint64_t index, std::uint64_t color) const noexcept {
  segment_name result = *this;
  result.number = mixed(number ^ mixed(index + 1) ^ mixed(mixed(color + 2)));
  return result;
}

std::string segment_name::path() const {
  char file[96];
  std::snprintf(file, sizeof file, pattern, static_cast<long long>(process),
                static_cast<unsigned long long>(started), static_cast<unsigned long long>(number));
  return file;
}

}  // namespace halfwarp::emulated_nccl
