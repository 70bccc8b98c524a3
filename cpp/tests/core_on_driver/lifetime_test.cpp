// SPDX-License-Identifier: Apache-2.0
// Reference counts, sharing and the order of release on a driver.
#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "core/lifetime/process.hpp"
#include "core/stream.hpp"
#include "core_on_driver/open_driver.hpp"

namespace halfwarp::core {
namespace {

using testing::counted_as;
using testing::is_null_driver;
using testing::live;
using testing::primary_retains;

class lifetime_test : public testing::driver_test {};

TEST_F(lifetime_test, parents_live_as_long_as_their_children_in_every_order_of_release) {
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    context_handle context = retain_primary_context(0);
    stream_handle stream = create_stream(context, CU_STREAM_NON_BLOCKING, 0);
    event_handle event = record_event(stream, CU_EVENT_DISABLE_TIMING);
    context_handle copy = context;
    for (const int index : order) {
      if (index == 0) context.reset();
      if (index == 1) stream.reset();
      if (index == 2) event.reset();
      if (index == 3) copy.reset();
      const bool is_needed = context || stream || event || copy;
      ASSERT_EQ(primary_retains(), counted_as(is_needed ? 1 : 0));
      ASSERT_EQ(live("stream"), counted_as(stream ? 1 : 0));
      ASSERT_EQ(live("event"), counted_as(event ? 1 : 0));
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(lifetime_test, each_retained_context_counts_once) {
  const context_handle first = retain_primary_context(0);
  {
    const context_handle second = retain_primary_context(0);
    EXPECT_EQ(primary_retains(), counted_as(2));
    const context_handle shared = context_of(second.raw());
    EXPECT_EQ(primary_retains(), counted_as(2));
    EXPECT_TRUE(shared.is_owned());
  }
  EXPECT_EQ(primary_retains(), counted_as(1));
}

TEST_F(lifetime_test, a_stream_found_by_its_address_retains_the_owner) {
  stream_handle owner = create_stream(retain_primary_context(0), CU_STREAM_DEFAULT, 0);
  stream_handle match = stream_of(owner.raw());
  EXPECT_TRUE(match.is_owned());
  owner.reset();
  EXPECT_EQ(live("stream"), counted_as(1));
  driver::call(driver::table->cuStreamSynchronize, match.raw());
  match.reset();
  EXPECT_EQ(live("stream"), 0);
}

TEST_F(lifetime_test, a_foreign_stream_is_used_and_not_destroyed) {
  const context_handle context = retain_primary_context(0);
  const current_scope scope{context.raw()};
  CUstream raw = nullptr;
  driver::call(driver::table->cuStreamCreateWithPriority, &raw, CU_STREAM_NON_BLOCKING, 0);
  {
    const stream_handle borrowed = stream_of(raw);
    EXPECT_FALSE(borrowed.is_owned());
    wait_for_stream(borrowed, create_stream(context, CU_STREAM_NON_BLOCKING, 0));
  }
  EXPECT_EQ(live("stream"), counted_as(1));
  driver::call(driver::table->cuStreamDestroy, raw);
}

TEST_F(lifetime_test, a_reused_address_is_a_new_object) {
  const context_handle context = retain_primary_context(0);
  for (int round = 0; round < 100; ++round) {
    const stream_handle stream = create_stream(context, CU_STREAM_NON_BLOCKING, 0);
    const stream_handle match = stream_handle::find(stream.raw());
    ASSERT_TRUE(match);
    ASSERT_FALSE(match.is_last());
  }
  EXPECT_EQ(live("stream"), 0);
}

TEST_F(lifetime_test, a_foreign_destruction_is_reported_once) {
  if (is_null_driver()) GTEST_SKIP() << "the null driver refuses nothing";
  stream_handle stream = create_stream(retain_primary_context(0), CU_STREAM_NON_BLOCKING, 0);
  driver::call(driver::table->cuStreamDestroy, stream.raw());
  ::testing::internal::CaptureStderr();
  stream.reset();
  const std::string output = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("cuStreamDestroy failed during clean-up of 0x"), std::string::npos)
      << output;
  EXPECT_EQ(output.find("cuStreamDestroy failed"), output.rfind("cuStreamDestroy failed"));
}

TEST_F(lifetime_test, threads_share_one_parent) {
  context_handle context = retain_primary_context(0);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([mine = context] {
      for (int round = 0; round < 200; ++round) {
        const stream_handle stream = create_stream(mine, CU_STREAM_NON_BLOCKING, 0);
        const event_handle event = record_event(stream, CU_EVENT_DISABLE_TIMING);
        const stream_handle shared = stream_of(stream.raw());
      }
    });
  }
  context.reset();
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(live("stream") + live("event"), 0);
}

}  // namespace
}  // namespace halfwarp::core
