// SPDX-License-Identifier: Apache-2.0
// Reads the state of a process from /proc.
#include "emulator/sharing/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace halfwarp::emulator::sharing {
namespace {

constexpr int fields_before_start = 19;  // of /proc/N/stat, counted from the field after the name

}  // namespace

std::uint64_t start_of(int number) noexcept {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", number);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const auto bytes = read(file, text, sizeof text - 1);
  close(file);
  if (bytes <= 0) return 0;
  text[bytes] = 0;
  const char* position = std::strrchr(text, ')');  // the name may contain any character
  char state = 0;
  if (!position || std::sscanf(position + 1, " %c", &state) != 1 || state == 'Z' || state == 'X')
    return 0;
  for (int skipped = 0; position && skipped <= fields_before_start; ++skipped)
    position = std::strchr(position + 1, ' ');
  unsigned long long started = 0;
  return position && std::sscanf(position, " %llu", &started) == 1 ? started : 0;
}

process_id this_process() noexcept {
  const int number = getpid();
  return {number, start_of(number)};
}

bool is_running(const process_id& process) noexcept {
  const auto started = start_of(process.number);
  return started != 0 && started == process.started;
}

int open_file_of(const process_id& owner, int descriptor) noexcept {
  if (!is_running(owner)) {
    errno = ESRCH;
    return -1;
  }
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", owner.number, descriptor);
  return open(path, O_RDWR | O_CLOEXEC);
}

}  // namespace halfwarp::emulator::sharing
