// SPDX-License-Identifier: Apache-2.0
// Making shared files, and knowing one again that came from elsewhere.
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

// The first page is never allocated: arenas begin with a red zone.
struct header {
  std::array<char, 16> mark;
  share_token token;
  share_origin origin;
};
constexpr std::array<char, 16> mark{"halfwarp-pool-1"};
constexpr std::uint64_t smallest_page = 4096, entry_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t file_bytes = arena_bytes + arena_bytes / smallest_page * entry_bytes;

off_t place_of(std::uint64_t offset) {
  return static_cast<off_t>(arena_bytes + offset / smallest_page * entry_bytes);
}

bool write_whole(int file, const void* from, std::size_t bytes, off_t at) {
  return pwrite(file, from, bytes, at) == static_cast<ssize_t>(bytes);
}

bool read_whole(int file, void* to, std::size_t bytes, off_t at) {
  return pread(file, to, bytes, at) == static_cast<ssize_t>(bytes);
}

}  // namespace

shared_file::~shared_file() { close(file_); }

std::shared_ptr<shared_file> shared_file::make(const share_origin& origin) {
  const int file = memfd_create("halfwarp-shared-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return nullptr;
  const auto made = std::shared_ptr<shared_file>{new shared_file{file}};
  header first{mark, {}, origin};
  // Sealed, since a file that another process cut short would end this one at the next access.
  const bool is_good = getrandom(first.token.data(), sizeof first.token, 0) == sizeof first.token &&
                       ftruncate(file, static_cast<off_t>(file_bytes)) == 0 &&
                       write_whole(file, &first, sizeof first, 0) &&
                       fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (!is_good) return nullptr;
  made->token_ = first.token;
  made->origin_ = origin;
  return made;
}

std::shared_ptr<shared_file> shared_file::open(int file) {
  header first;
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0) return nullptr;
  const bool is_ours = (seals & F_SEAL_SHRINK) && read_whole(file, &first, sizeof first, 0) &&
                       first.mark == mark &&
                       lseek(file, 0, SEEK_END) == static_cast<off_t>(file_bytes);
  if (!is_ours) {
    errno = EINVAL;
    return nullptr;
  }
  const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return nullptr;
  auto opened = std::shared_ptr<shared_file>{new shared_file{own}};
  opened->token_ = first.token;
  opened->origin_ = first.origin;
  return opened;
}

std::shared_ptr<shared_file> shared_file::adopt(int file) {
  return std::shared_ptr<shared_file>{new shared_file{file}};
}

void shared_file::enter(std::uint64_t offset, std::uint64_t sequence) const noexcept {
  // Fails only where the system is out of memory; then an import is refused.
  [[maybe_unused]] const bool is_entered =
      write_whole(file_, &sequence, sizeof sequence, place_of(offset));
}

std::uint64_t shared_file::entry(std::uint64_t offset) const noexcept {
  std::uint64_t sequence = 0;
  return read_whole(file_, &sequence, sizeof sequence, place_of(offset)) ? sequence : 0;
}

}  // namespace halfwarp::emulator::memory
