// SPDX-License-Identifier: Apache-2.0
// A page of a memory file, which processes update atomically, and a futex.
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
constexpr unsigned max_recordings = 64;  // concurrent recordings per event
constexpr long wait_nanoseconds = 20'000'000;

struct recording {
  std::atomic<std::uint64_t> completed;  // the newest completed recording in this slot
  std::atomic<std::uint64_t> started;    // start of the recording process, as in process_id
  std::atomic<std::int32_t> process;
};

void advance(std::atomic<std::uint64_t>& value, std::uint64_t target) noexcept {
  auto now = value.load();
  while (now < target && !value.compare_exchange_weak(now, target)) {
  }
}

}  // namespace

struct event_state::page {
  std::uint64_t mark;
  memory::share_token token;
  std::atomic<std::uint64_t> next, latest;
  std::atomic<std::uint32_t> changes;  // the futex of waiting processes
  recording recordings[max_recordings];

  recording& slot_of(std::uint64_t number) noexcept { return recordings[number % max_recordings]; }
};

std::shared_ptr<event_state> event_state::map(int file) {
  static_assert(sizeof(page) <= page_size);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  void* const view = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (view != MAP_FAILED)
    return std::shared_ptr<event_state>{new event_state{file, static_cast<page*>(view)}};
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
  auto result = map(file);
  if (!result) return nullptr;
  auto& token = result->at_->token;
  if (getrandom(token.data(), sizeof token, 0) != sizeof token) return nullptr;
  result->at_->mark = mark;
  return result;
}

std::shared_ptr<event_state> event_state::open(const event_handle& source) {
  if (source.mark != mark || source.reserved[0] != 0) {
    errno = EINVAL;
    return nullptr;
  }
  const int file = open_file_of(source.owner, source.descriptor);
  if (file < 0) return nullptr;
  // The owner may have closed the file and opened another one with the same descriptor.
  const bool is_sealed = fcntl(file, F_GET_SEALS) > 0 && lseek(file, 0, SEEK_END) == page_size;
  auto opened = is_sealed ? map(file) : nullptr;
  if (opened && opened->at_->mark == mark && opened->at_->token == source.token) return opened;
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
  static const process_id process = this_process();
  const std::uint64_t number = at_->next.fetch_add(1) + 1;
  auto& slot = at_->slot_of(number);
  slot.process = process.number;
  slot.started = process.started;
  advance(at_->latest, number);
  return number;
}

void event_state::complete(std::uint64_t recording_number) noexcept {
  advance(at_->slot_of(recording_number).completed, recording_number);
  at_->changes.fetch_add(1);
  syscall(SYS_futex, &at_->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint64_t event_state::latest() const noexcept { return at_->latest; }

progress event_state::of(std::uint64_t recording_number) const noexcept {
  const auto& slot = at_->slot_of(recording_number);
  const process_id recorder{slot.process, slot.started};
  if (slot.completed >= recording_number) return progress::completed;
  if (is_running(recorder)) return progress::pending;
  // The process may have completed the recording between the two checks.
  return slot.completed >= recording_number ? progress::completed : progress::lost;
}

void event_state::wait() const noexcept {
  const auto seen = at_->changes.load();
  const timespec limit{0, wait_nanoseconds};
  syscall(SYS_futex, &at_->changes, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

}  // namespace halfwarp::emulator::sharing
