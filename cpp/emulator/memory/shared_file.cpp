// SPDX-License-Identifier: Apache-2.0
// Creates shared files and opens the files of other processes.
#include "emulator/memory/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::memory {
namespace {

// The header lies in the first page, which no allocation uses: arenas begin with a red zone.
struct header {
  std::array<char, 16> mark;
  share_token token;
  share_origin origin;
};
constexpr std::array<char, 16> mark{"halfwarp-pool-1"};
constexpr std::uint64_t smallest_page = 4096, entry_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t file_bytes = arena_bytes + arena_bytes / smallest_page * entry_bytes;

off_t entry_offset(std::uint64_t offset) {
  return static_cast<off_t>(arena_bytes + offset / smallest_page * entry_bytes);
}

bool write_all(int file, const void* data, std::size_t bytes, off_t at) {
  return pwrite(file, data, bytes, at) == static_cast<ssize_t>(bytes);
}

bool read_all(int file, void* data, std::size_t bytes, off_t at) {
  return pread(file, data, bytes, at) == static_cast<ssize_t>(bytes);
}

}  // namespace

shared_file::~shared_file() { close(file_); }

std::shared_ptr<shared_file> shared_file::make(const share_origin& origin) {
  const int file = memfd_create("halfwarp-shared-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return nullptr;
  const auto result = std::shared_ptr<shared_file>{new shared_file{file}};
  header file_header{mark, {}, origin};
  // Sealed: a process that truncates the file would crash the others at their next access.
  const bool is_valid = getrandom(file_header.token.data(), sizeof file_header.token, 0) ==
                            sizeof file_header.token &&
                        ftruncate(file, static_cast<off_t>(file_bytes)) == 0 &&
                        write_all(file, &file_header, sizeof file_header, 0) &&
                        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (!is_valid) return nullptr;
  result->token_ = file_header.token;
  result->origin_ = origin;
  return result;
}

std::shared_ptr<shared_file> shared_file::open(int file) {
  header file_header;
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0) return nullptr;
  const bool is_ours =
      (seals & F_SEAL_SHRINK) && read_all(file, &file_header, sizeof file_header, 0) &&
      file_header.mark == mark && lseek(file, 0, SEEK_END) == static_cast<off_t>(file_bytes);
  if (!is_ours) {
    errno = EINVAL;
    return nullptr;
  }
  const int duplicate = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) return nullptr;
  auto opened = std::shared_ptr<shared_file>{new shared_file{duplicate}};
  opened->token_ = file_header.token;
  opened->origin_ = file_header.origin;
  return opened;
}

std::shared_ptr<shared_file> shared_file::adopt(int file) {
  return std::shared_ptr<shared_file>{new shared_file{file}};
}

void shared_file::set_entry(std::uint64_t offset, std::uint64_t sequence) const noexcept {
  // A write fails only if the system is out of memory; a later import is refused then.
  [[maybe_unused]] const bool is_written =
      write_all(file_, &sequence, sizeof sequence, entry_offset(offset));
}

std::uint64_t shared_file::entry(std::uint64_t offset) const noexcept {
  std::uint64_t sequence = 0;
  return read_all(file_, &sequence, sizeof sequence, entry_offset(offset)) ? sequence : 0;
}

}  // namespace halfwarp::emulator::memory
