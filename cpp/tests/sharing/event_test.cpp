// SPDX-License-Identifier: Apache-2.0
// The state of an event between processes, and which handles open it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "emulator/sharing/event_state.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::sharing;

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files{"/proc/self/fd"};
  return std::distance(begin(files), end(files));
}

TEST(events, recordings_complete_each_for_itself) {
  const auto state = event_state::make();
  ASSERT_TRUE(state);
  for (std::uint64_t n = 1; n <= 70; ++n) {
    EXPECT_EQ(state->begin(), n);
    EXPECT_EQ(state->latest(), n);
  }
  state->complete(70);
  EXPECT_EQ(state->of(70), progress::completed);
  EXPECT_EQ(state->of(6), progress::completed) << "64 recordings before it";
  EXPECT_EQ(state->of(69), progress::pending);
  EXPECT_EQ(state->of(5), progress::pending);
  state->complete(6);
  EXPECT_EQ(state->of(70), progress::completed);
  EXPECT_EQ(state->latest(), 70u);
}

TEST(events, a_handle_opens_the_same_state) {
  const auto state = event_state::make();
  ASSERT_TRUE(state);
  const event_handle handle = state->handle(5);
  EXPECT_EQ(handle.flags, 5u);
  EXPECT_EQ(handle.owner, this_process());
  const std::ptrdiff_t before = open_files();
  {
    const auto other = event_state::open(handle);
    ASSERT_TRUE(other);
    EXPECT_EQ(open_files(), before + 1);
    state->begin();
    EXPECT_EQ(other->latest(), 1u);
    other->complete(1);
    EXPECT_EQ(state->of(1), progress::completed);
  }
  EXPECT_EQ(open_files(), before);
}

// A copy of the page of a state, in a file that may be sealed or longer.
int copied_page(const event_handle& of, bool is_sealed, off_t bytes) {
  char page[4096];
  const int file = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(pread(of.descriptor, page, sizeof page, 0), 4096);
  EXPECT_EQ(pwrite(file, page, sizeof page, 0), 4096);
  EXPECT_EQ(ftruncate(file, bytes), 0);
  if (is_sealed) {
    EXPECT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  }
  return file;
}

TEST(events, a_damaged_handle_opens_none) {
  const auto state = event_state::make();
  ASSERT_TRUE(state);
  const event_handle good = state->handle(0);
  const std::ptrdiff_t before = open_files();
  const auto error_of = [&](auto damage) {
    event_handle handle = good;
    damage(handle);
    errno = 0;
    return event_state::open(handle) ? 0 : errno;
  };
  EXPECT_EQ(error_of([](event_handle&) {}), 0);
  EXPECT_EQ(error_of([](event_handle& h) { h.mark ^= 1; }), EINVAL);
  EXPECT_EQ(error_of([](event_handle& h) { h.reserved[0] = 1; }), EINVAL);
  EXPECT_EQ(error_of([](event_handle& h) { h.token[0] ^= std::decay_t<decltype(h.token[0])>{1}; }),
            EINVAL);
  EXPECT_EQ(error_of([](event_handle& h) { ++h.owner.started; }), ESRCH);
  EXPECT_EQ(error_of([](event_handle& h) { h.descriptor = 1'000'000; }), ENOENT);
  for (const bool is_sealed : {true, false}) {
    for (const off_t bytes : {4096, 8192}) {
      const int file = copied_page(good, is_sealed, bytes);
      const bool is_good = is_sealed && bytes == 4096;
      EXPECT_EQ(error_of([&](event_handle& h) { h.descriptor = file; }), is_good ? 0 : EINVAL);
      close(file);
    }
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace halfwarp::tests
