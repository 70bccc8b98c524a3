// SPDX-License-Identifier: Apache-2.0
// Lets the kernel of the operating system read one byte of each page.
#include "emulator/image/readable.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace halfwarp::emulator::image {
namespace {

constexpr std::uint64_t max_image_bytes = std::uint64_t{4} << 30;

// A file that copies of single bytes are written to.
class scratch_file {
 public:
  scratch_file() noexcept : file_{memfd_create("halfwarp-image", MFD_CLOEXEC)} {}
  ~scratch_file() {
    if (file_ >= 0) close(file_);
  }
  scratch_file(const scratch_file&) = delete;  // closes the file once
  scratch_file& operator=(const scratch_file&) = delete;

  // Without a file, every address counts as readable.
  bool can_read(std::uintptr_t address) const noexcept {
    if (file_ < 0) return true;
    return pwrite(file_, reinterpret_cast<const void*>(address), 1, 0) == 1 || errno != EFAULT;
  }

 private:
  int file_;
};

}  // namespace

bytes readable_part(const std::byte* start, std::uint64_t size) noexcept {
  const scratch_file file;
  const auto first = reinterpret_cast<std::uintptr_t>(start);
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t limit = std::min({size, max_image_bytes, ~std::uint64_t{0} - first});
  std::uint64_t end = 0;  // relative to `start`
  while (end < limit && file.can_read(first + end)) end += page - (first + end) % page;
  return {start, static_cast<std::size_t>(std::min(end, limit))};
}

}  // namespace halfwarp::emulator::image
