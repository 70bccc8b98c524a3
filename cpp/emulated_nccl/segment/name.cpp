// SPDX-License-Identifier: Apache-2.0
// Names of segments, and the removal of abandoned ones.
#include <dirent.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string_view>

#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/segment/segment.hpp"

namespace halfwarp::emulated_nccl {
namespace {

constexpr std::uint64_t name_mark = 0x31'6c'63'63'6e'77'68;  // "hwnccl1"
constexpr const char* folder = "/dev/shm";
constexpr const char* pattern = "/dev/shm/halfwarp-nccl-%lld-%llx-%llx";
constexpr std::time_t abandoned_after = 60;  // seconds

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
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  segment_name name{name_mark, getpid(), driver()->process_start(getpid()),
                    static_cast<std::uint64_t>(now)};
  // Without random numbers the time remains.
  [[maybe_unused]] const auto size = getrandom(&name.number, sizeof name.number, {});
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
  const std::uint64_t path[] = {number, index, color};
  const std::string_view bytes{reinterpret_cast<const char*>(path), sizeof path};
  result.number = std::hash<std::string_view>{}(bytes);
  return result;
}

std::string segment_name::path() const {
  char file[96];
  std::snprintf(file, sizeof file, pattern, static_cast<long long>(process),
                static_cast<unsigned long long>(started), static_cast<unsigned long long>(number));
  return file;
}

}  // namespace halfwarp::emulated_nccl
