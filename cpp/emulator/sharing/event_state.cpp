// SPDX-License-Identifier: Apache-2.0
// One page in a memory file, words that processes change in it, and a futex.
#include "emulator/sharing/event_state.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <ctime>
#include <new>

namespace halfwarp::emulator::sharing {
namespace {

constexpr std::uint64_t mark = 0x31'74'6e'65'76'65'77'68;  // "hwevent1"
constexpr std::size_t page_size = 4096;
constexpr unsigned recordings_kept = 64;  // under way at once; of older ones the end counts
constexpr long rest_nanoseconds = 20'000'000;

struct recording {
  std::atomic<std::uint64_t> reached;  // the newest of those that use this place
  std::atomic<std::uint64_t> started;  // process_id of who recorded
  std::atomic<std::int32_t> process;
};

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) noexcept {
  auto now = value.load();
  while (now < to && !value.compare_exchange_weak(now, to)) {
  }
}

}  // namespace

struct event_state::page {
  std::uint64_t mark;
  memory::share_token token;
  std::atomic<std::uint64_t> next, latest;
  std::atomic<std::uint32_t> changes;  // what waiting processes sleep on
  recording recordings[recordings_kept];

  recording& place_of(std::uint64_t which) noexcept { return recordings[which % recordings_kept]; }
};

std::shared_ptr<event_state> event_state::map(int file) {
  static_assert(sizeof(page) <= page_size);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  void* const at = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at != MAP_FAILED)
    return std::shared_ptr<event_state>{new event_state{file, static_cast<page*>(at)}};
  const int error = errno;
  close(file);
  errno = error;
  return nullptr;
}

std::shared_ptr<event_state> event_state::make() {
  const int file = memfd_create("halfwarp-shared-event", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return nullptr;
  const bool is_sized = ftruncate(file, page_size) == 0 &&
                        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (!is_sized) {
    const int error = errno;
    close(file);
    errno = error;
    return nullptr;
  }
  auto made = map(file);
  if (!made) return nullptr;
  auto& token = made->at_->token;
  if (getrandom(token.data(), sizeof token, 0) != sizeof token) return nullptr;
  made->at_->mark = mark;
  return made;
}

std::shared_ptr<event_state> event_state::open(const event_handle& from) {
  if (from.mark != mark || from.reserved[0] != 0) {
    errno = EINVAL;
    return nullptr;
  }
  const int file = open_file_of(from.owner, from.descriptor);
  if (file < 0) return nullptr;
  // The owner may have closed it since, and opened another file under the same number.
  const bool is_sealed = fcntl(file, F_GET_SEALS) > 0 && lseek(file, 0, SEEK_END) == page_size;
  auto opened = is_sealed ? map(file) : nullptr;
  if (opened && opened->at_->mark == mark && opened->at_->token == from.token) return opened;
  if (!is_sealed) close(file);
  errno = EINVAL;
  return nullptr;
}

event_state::~event_state() {
  munmap(at_, page_size);
  close(file_);
}

event_handle event_state::handle(unsigned flags) const noexcept {
  return {mark, at_->token, this_process(), file_, flags, {}};
}

std::uint64_t event_state::begin() noexcept {
  static const process_id own = this_process();
  const std::uint64_t number = at_->next.fetch_add(1) + 1;
  auto& place = at_->place_of(number);
  place.process = own.number;
  place.started = own.started;
  raise(at_->latest, number);
  return number;
}

void event_state::reach(std::uint64_t which) noexcept {
  raise(at_->place_of(which).reached, which);
  at_->changes.fetch_add(1);
  syscall(SYS_futex, &at_->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint64_t event_state::latest() const noexcept { return at_->latest; }

progress event_state::of(std::uint64_t which) const noexcept {
  const auto& place = at_->place_of(which);
  const process_id by{place.process, place.started};
  if (place.reached >= which) return progress::reached;
  if (is_running(by)) return progress::pending;
  // It may have got there between the two questions.
  return place.reached >= which ? progress::reached : progress::lost;
}

void event_state::wait() const noexcept {
  const auto seen = at_->changes.load();
  const timespec limit{0, rest_nanoseconds};
  syscall(SYS_futex, &at_->changes, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

}  // namespace halfwarp::emulator::sharing
