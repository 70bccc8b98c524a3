// SPDX-License-Identifier: Apache-2.0
// The identity of a process, also after its end.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "emulator/sharing/event_state.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::sharing;

// Runs a function in another process, which ends; it stays a zombie until `wait`.
template <class Function>
pid_t run_and_end(Function&& function) {
  const pid_t child = fork();
  if (child == 0) {
    function();
    _exit(0);
  }
  siginfo_t ended;
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  return child;
}

// Returns field 22 of /proc/self/stat.
std::uint64_t own_start() {
  std::ifstream file{"/proc/self/stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::istringstream fields{text.substr(text.rfind(')') + 2)};
  std::string word;
  for (int field = 3; field <= 22; ++field) fields >> word;
  return std::stoull(word);
}

TEST(processes, are_known_by_number_and_start) {
  const process_id own = this_process();
  EXPECT_EQ(own.number, getpid());
  EXPECT_EQ(own.started, own_start());
  EXPECT_TRUE(is_running(own));
  EXPECT_FALSE(is_running({own.number, own.started + 1}));
  EXPECT_FALSE(is_running({own.number, 0}));
  char name[16];
  ASSERT_EQ(prctl(PR_GET_NAME, name), 0);
  ASSERT_EQ(prctl(PR_SET_NAME, "a) Z (b 1 2 3"), 0);
  EXPECT_EQ(this_process(), own) << "a name may have any character";
  prctl(PR_SET_NAME, name);
}

TEST(processes, end_before_their_parent_waits) {
  process_id child{};
  child.number = run_and_end([] {});
  EXPECT_EQ(start_of(child.number), 0u) << "a zombie";
  waitpid(child.number, nullptr, 0);
  EXPECT_EQ(start_of(child.number), 0u);
  EXPECT_FALSE(is_running(child));
  errno = 0;
  EXPECT_EQ(open_file_of(child, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

// This process begins no recording, since its identity would pass to the other one.
TEST(events, a_recording_is_lost_if_its_process_ends) {
  const auto state = event_state::make();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->latest(), 0u);
  const pid_t child = run_and_end([&] { state->complete(state->begin()), state->begin(); });
  EXPECT_EQ(state->latest(), 2u);
  EXPECT_EQ(state->of(1), progress::completed);
  EXPECT_EQ(state->of(2), progress::lost);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(state->of(1), progress::completed);
  EXPECT_EQ(state->of(2), progress::lost);
}

}  // namespace
}  // namespace halfwarp::tests
