// SPDX-License-Identifier: Apache-2.0
// SIGINT during a wait of the main thread: it is counted, and the handler of the program runs.
#include "emulator/stream/schedule/interruption.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

namespace halfwarp::emulator {
namespace {

volatile sig_atomic_t plain_calls = 0, other_calls = 0, informed_number = 0, informed_code = 0;

void plain(int) { plain_calls = plain_calls + 1; }
void other(int) { other_calls = other_calls + 1; }
void informed(int number, siginfo_t* info, void* context) {
  informed_number = number;
  informed_code = info && context ? info->si_code : 0;
}

class interruption : public testing::Test {
 protected:
  interruption() {
    sigaction(SIGINT, nullptr, &original_);
    plain_calls = other_calls = informed_number = informed_code = 0;
    before_ = interruptions;
  }
  ~interruption() override { sigaction(SIGINT, &original_, nullptr); }

  static void set(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    ASSERT_EQ(sigaction(SIGINT, &action, nullptr), 0);
  }
  static struct sigaction current() {
    struct sigaction action;
    EXPECT_EQ(sigaction(SIGINT, nullptr, &action), 0);
    return action;
  }
  std::uint64_t counted() const { return interruptions - before_; }

 private:
  struct sigaction original_;
  std::uint64_t before_ = 0;
};

TEST_F(interruption, is_counted_during_a_wait_alone) {
  set(&plain);
  raise(SIGINT);
  EXPECT_EQ(counted(), 0u);
  for (unsigned wait = 1; wait <= 2; ++wait) {
    {
      const interruptible_wait scope;
      raise(SIGINT);
      EXPECT_EQ(counted(), wait);
    }
    EXPECT_EQ(current().sa_handler, &plain);
    EXPECT_EQ(current().sa_flags & SA_SIGINFO, 0);
    raise(SIGINT);
    EXPECT_EQ(counted(), wait);
  }
  EXPECT_EQ(plain_calls, 5);
}

TEST_F(interruption, is_counted_until_the_outer_wait_ends) {
  set(&plain);
  {
    const interruptible_wait outer;
    {
      const interruptible_wait inner;
      raise(SIGINT);
    }
    raise(SIGINT);
  }
  EXPECT_EQ(counted(), 2u);
  EXPECT_EQ(plain_calls, 2);
  EXPECT_EQ(current().sa_handler, &plain);
}

TEST_F(interruption, passes_its_information_on) {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  action.sa_sigaction = &informed;
  ASSERT_EQ(sigaction(SIGINT, &action, nullptr), 0);
  {
    const interruptible_wait scope;
    EXPECT_NE(current().sa_flags & SA_RESTART, 0);
    raise(SIGINT);
  }
  EXPECT_EQ(counted(), 1u);
  EXPECT_EQ(informed_number, SIGINT);
  EXPECT_EQ(informed_code, SI_TKILL);
  EXPECT_EQ(current().sa_sigaction, &informed);
}

TEST_F(interruption, leaves_a_process_without_a_handler_alone) {
  for (const auto handler : {SIG_DFL, SIG_IGN}) {
    set(handler);
    const interruptible_wait scope;
    EXPECT_EQ(current().sa_handler, handler);
    EXPECT_EQ(current().sa_flags & SA_SIGINFO, 0);
  }
}

TEST_F(interruption, keeps_a_handler_that_the_program_installs_during_the_wait) {
  set(&plain);
  {
    const interruptible_wait scope;
    set(&other);
  }
  EXPECT_EQ(current().sa_handler, &other);
  raise(SIGINT);
  EXPECT_EQ(other_calls, 1);
  EXPECT_EQ(plain_calls, 0);
  EXPECT_EQ(counted(), 0u);
}

// A program may save the handler of a wait, and restore it later.
TEST_F(interruption, does_not_follow_its_own_handler) {
  set(&plain);
  struct sigaction saved;
  {
    const interruptible_wait scope;
    saved = current();
  }
  ASSERT_EQ(sigaction(SIGINT, &saved, nullptr), 0);
  {
    const interruptible_wait scope;
    raise(SIGINT);
  }
  EXPECT_EQ(plain_calls, 1);
  EXPECT_EQ(counted(), 1u);
}

TEST_F(interruption, concerns_the_main_thread) {
  set(&plain);
  std::thread{[] {
    const interruptible_wait scope;
    EXPECT_EQ(current().sa_handler, &plain);
  }}.join();
  EXPECT_EQ(current().sa_handler, &plain);
  const interruptible_wait scope;
  EXPECT_NE(current().sa_handler, &plain);
  std::thread{[] { const interruptible_wait other_scope; }}.join();
  EXPECT_NE(current().sa_handler, &plain) << "the wait of another thread ended";
}

}  // namespace
}  // namespace halfwarp::emulator
