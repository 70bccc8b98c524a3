// SPDX-License-Identifier: Apache-2.0
// Creates, maps and removes segments; their futex, error and descriptions.
#include "emulated_nccl/segment/segment.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "emulated_nccl/call/kinds.hpp"
#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl {
namespace {

constexpr std::uint64_t segment_mark = 0x31'67'65'73'77'68;  // "hwseg1"
constexpr long wait_nanoseconds = 5'000'000;

class descriptor {
 public:
  explicit descriptor(int file) noexcept : file_{file} {}
  ~descriptor() {
    if (file_ >= 0) close(file_);
  }
  descriptor(const descriptor&) = delete;  // owns the file
  descriptor& operator=(const descriptor&) = delete;
  int get() const noexcept { return file_; }

 private:
  int file_;
};

segment::attachment failed(const std::string& path, const char* call, int error) {
  const char* const hint =
      error == ENOSPC ? "; the ranks share memory there: increase the size of /dev/shm" : "";
  failf(result::system_error, "%s of %s: %s%s", call, path.c_str(), std::strerror(error), hint);
  return segment::attachment::failed;
}

unsigned char* map(int file, std::size_t bytes) noexcept {
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return base == MAP_FAILED ? nullptr : static_cast<unsigned char*>(base);
}

// Commits the memory, since a full file system would otherwise end the process by SIGBUS.
int commit(int file, std::size_t bytes) noexcept {
  int error;
  do {
    error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

}  // namespace

segment::attachment segment::attach(const segment_name& name, int ranks,
                                    std::shared_ptr<segment>& out) {
  const std::string path = name.path();
  const segment_layout layout{ranks};
  const descriptor created{open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (created.get() >= 0) {
    if (const int error = commit(created.get(), layout.bytes())) {
      ::unlink(path.c_str());
      return failed(path, "allocation", error);
    }
    unsigned char* const base = map(created.get(), layout.bytes());
    if (!base) return failed(path, "mapping", errno);
    out.reset(new segment{base, ranks, path});
    out->header().ranks = ranks;
    out->header().mark.store(segment_mark);
    return attachment::attached;
  }
  if (errno != EEXIST) return failed(path, "creation", errno);
  const descriptor opened{open(path.c_str(), O_RDWR | O_CLOEXEC)};
  struct stat status;
  if (opened.get() < 0 || fstat(opened.get(), &status) != 0) {
    return errno == ENOENT ? attachment::not_ready : failed(path, "opening", errno);
  }
  if (static_cast<std::size_t>(status.st_size) < sizeof(segment_header)) {
    return attachment::not_ready;
  }
  auto* const probe = map(opened.get(), sizeof(segment_header));
  if (!probe) return failed(path, "mapping", errno);
  const auto& header = *reinterpret_cast<const segment_header*>(probe);
  const bool is_ready = header.mark.load() == segment_mark;
  const int actual = header.ranks;
  munmap(probe, sizeof(segment_header));
  if (!is_ready) return attachment::not_ready;
  if (actual != ranks) {
    failf(result::invalid_usage,
          "this rank passed %d ranks, and another rank of the same communicator %d", ranks, actual);
    return attachment::failed;
  }
  unsigned char* const base = map(opened.get(), layout.bytes());
  if (!base) return failed(path, "mapping", errno);
  out.reset(new segment{base, ranks, path});
  return attachment::attached;
}

segment::~segment() { munmap(base_, layout_.bytes()); }

void segment::unlink() const noexcept { ::unlink(path_.c_str()); }

void segment::ring() const noexcept {
  header().bell.fetch_add(1);
  if (header().waiters.load() == 0) return;
  syscall(SYS_futex, &header().bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void segment::wait(std::uint32_t seen) const noexcept {
  const timespec limit{0, wait_nanoseconds};
  header().waiters.fetch_add(1);
  syscall(SYS_futex, &header().bell, FUTEX_WAIT, seen, &limit, nullptr, 0);
  header().waiters.fetch_sub(1);
}

bool segment::set_error(result code, const std::string& text) const noexcept {
  std::int32_t none = 0;
  if (!header().error.compare_exchange_strong(none, error_in_progress)) return false;
  const auto length = std::min(text.size(), sizeof header().error_text - 1);
  std::memcpy(header().error_text, text.data(), length);
  header().error_text[length] = '\0';
  header().error.store(static_cast<std::int32_t>(code));
  ring();
  return true;
}

result segment::error() const noexcept {
  const auto code = header().error.load();
  return code == error_in_progress ? result::success : static_cast<result>(code);
}

bool segment::is_dead(int index) const noexcept {
  const auto& entry = rank(index);
  if (entry.state.load() < presence::joined) return false;
  return driver()->process_start(entry.process) != entry.started;
}

std::string segment::describe(int index) const {
  const auto& entry = rank(index);
  const auto state = entry.state.load();
  if (state < presence::joined) return text_of("rank %d: has not joined", index);
  const char* end = nullptr;
  if (state == presence::destroyed) end = "has destroyed the communicator";
  if (state == presence::aborted) end = "has aborted the communicator";
  const message current = entry.current;
  const std::string call = current.kind == call_kind::none ? "" : describe_call(current);
  if (!end && !call.empty()) end = call.c_str();
  if (end) return text_of("rank %d (process %d): %s", index, entry.process, end);
  return text_of("rank %d (process %d): in no operation, after %llu completed ones", index,
                 entry.process, static_cast<unsigned long long>(entry.completed.load()));
}

std::string segment::describe_all() const {
  std::string text;
  for (int i = 0; i < ranks(); ++i) {
    text += "\n    ";
    text += describe(i);
  }
  return text;
}

}  // namespace halfwarp::emulated_nccl
