// SPDX-License-Identifier: Apache-2.0
// handle<Traits>: ownership, sharing, order of destruction, forks, reports.
#include "core/handle.hpp"

#include <sstream>
#include <thread>
#include <utility>

#include "core/event.hpp"
#include "core/fake_driver.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {
namespace {

using testing::fake;
using testing::raw_handle;

// Events that can be looked up by their raw value.
struct found_event_traits : event_traits {
  static constexpr bool is_registered = true;
};
using found_event = handle<found_event_traits>;

class handle_test : public testing::core_test {
 protected:
  static context_handle context() {
    return context_handle::borrow(raw_handle<CUcontext>(0x200), {},
                                  context_facts{0, context_kind::foreign});
  }
  static found_event event() {
    return found_event::own(
        context_instance{context()}, event_facts{CU_EVENT_DEFAULT},
        [](CUevent* raw) { driver::call(driver::table->cuEventCreate, raw, CU_EVENT_DEFAULT); });
  }
};

TEST_F(handle_test, a_null_handle_is_closed) {
  const found_event none;
  EXPECT_FALSE(none.is_open());
  EXPECT_FALSE(none.is_last());
  EXPECT_EQ(none.raw(), nullptr);
}

TEST_F(handle_test, the_last_copy_destroys_the_object_once) {
  found_event first = event();
  {
    const found_event second = first;
    EXPECT_EQ(second.raw(), first.raw());
    EXPECT_FALSE(first.is_last());
    first.reset();
    first.reset();
    EXPECT_EQ(fake().count("cuEventDestroy"), 0);
  }
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(handle_test, an_object_destroyed_with_its_context_is_not_destroyed_again) {
  context_handle primary = retain_primary_context(0);
  found_event of_primary =
      found_event::own(context_instance{primary}, event_facts{},
                       [](CUevent* raw) { *raw = raw_handle<CUevent>(0x300); });
  EXPECT_TRUE(found_event::find(raw_handle<CUevent>(0x300)).is_open());
  ++fake().context_id;
  EXPECT_FALSE(found_event::find(raw_handle<CUevent>(0x300)).is_open());
  of_primary.reset();
  EXPECT_EQ(fake().count("cuEventDestroy"), 0);
  primary.reset();  // the driver counts it
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRelease"), 1);
}

TEST_F(handle_test, a_context_is_released_in_relaxed_capture_mode_and_the_mode_is_restored) {
  retain_primary_context(0).reset();
  EXPECT_EQ(fake().mode_of_release, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(fake().mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_F(handle_test, nothing_is_released_while_a_host_function_is_stuck_at_exit) {
  is_stuck = true;
  event().reset();
  is_stuck = false;
  EXPECT_EQ(fake().count("cuEventDestroy"), 0);
}

TEST_F(handle_test, moving_and_assigning_keep_the_count) {
  found_event first = event();
  found_event second = std::move(first);
  EXPECT_FALSE(first.is_open());
  EXPECT_TRUE(second.is_last());
  second = event();
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
  found_event& same = second;
  second = same;
  EXPECT_TRUE(second.is_open());
  second = found_event{};
  EXPECT_EQ(fake().count("cuEventDestroy"), 2);
}

TEST_F(handle_test, a_failing_creation_leaves_nothing_to_destroy) {
  fake().failing = "cuEventCreate";
  EXPECT_THROW(static_cast<void>(event()), driver::driver_error);
  EXPECT_EQ(fake().count("cuEventDestroy"), 0);
}

TEST_F(handle_test, a_raw_value_finds_its_live_owner) {
  found_event first = event();
  found_event match = found_event::find(first.raw());
  EXPECT_EQ(match.raw(), first.raw());
  EXPECT_EQ(match.facts().flags, unsigned{CU_EVENT_DEFAULT});
  const CUevent raw = first.raw();
  first.reset();
  match.reset();
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
  EXPECT_FALSE(found_event::find(raw).is_open());
}

TEST_F(handle_test, kinds_do_not_mix) {
  const found_event created = event();
  EXPECT_FALSE(stream_handle::find(reinterpret_cast<CUstream>(created.raw())).is_open());
}

TEST_F(handle_test, a_borrowed_object_is_not_found_and_not_destroyed) {
  const auto raw = raw_handle<CUevent>(0x500);
  found_event borrowed = found_event::borrow(raw);
  EXPECT_FALSE(borrowed.is_owned());
  EXPECT_FALSE(found_event::find(raw).is_open());
  borrowed.reset();
  EXPECT_EQ(fake().count("cuEventDestroy"), 0);
}

TEST_F(handle_test, an_object_retained_by_a_handle_is_released_once) {
  int released = 0;
  keep_alive owner{&released, [](void* count) { ++*static_cast<int*>(count); }};
  found_event first = found_event::borrow(raw_handle<CUevent>(0x500), {}, {}, std::move(owner));
  found_event second = first;
  first.reset();
  EXPECT_EQ(released, 0);
  second.reset();
  EXPECT_EQ(released, 1);
}

using event_use = handle_use<event_traits>;

TEST_F(handle_test, an_object_released_during_a_use_is_destroyed_after_the_last_use) {
  event_handle first = create_event(context_instance{context()}, CU_EVENT_DEFAULT);
  event_handle second = first;
  const CUevent raw = first.raw();
  {
    const event_use outer{first};
    {
      const event_use inner{second};
      first.release();
      second.release();
      EXPECT_FALSE(first.is_open());
      EXPECT_FALSE(second.is_open());
      EXPECT_EQ(inner.raw(), raw);
    }
    EXPECT_EQ(fake().count("cuEventDestroy"), 0);
    EXPECT_EQ(outer.raw(), raw);
  }
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(handle_test, the_end_of_a_use_does_not_release_the_share) {
  event_handle held = create_event(context_instance{context()}, CU_EVENT_DEFAULT);
  { const event_use use{held}; }
  EXPECT_EQ(fake().count("cuEventDestroy"), 0);
  held.release();
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(handle_test, a_share_outlives_its_use) {
  event_handle held = create_event(context_instance{context()}, CU_EVENT_DEFAULT);
  event_handle survivor;
  {
    event_use use{held};
    const event_use copy = use;
    held.release();
    survivor = copy.share();
    use = event_use{};
  }
  EXPECT_EQ(fake().count("cuEventDestroy"), 0);
  survivor.reset();
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(handle_test, a_child_is_destroyed_before_its_parent) {
  context_handle primary = retain_primary_context(0);
  event_handle child = create_event(context_instance{primary}, CU_EVENT_DEFAULT);
  primary.reset();
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRelease"), 0);
  fake().calls.clear();
  child.reset();
  EXPECT_EQ(fake().calls,
            (std::vector<std::string>{"cuEventDestroy", "cuDevicePrimaryCtxRelease"}));
}

// An interpreter whose GIL this thread may hold; its events are recorded among the calls.
class locked_handle_test : public handle_test {
 protected:
  void SetUp() override {
    handle_test::SetUp();
    has_lock = true;
    gil_hooks = {[]() noexcept -> void* {
                   if (!std::exchange(has_lock, false)) return nullptr;
                   fake().calls.emplace_back("give back");
                   return &has_lock;
                 },
                 [](void*) noexcept {
                   has_lock = true;
                   fake().calls.emplace_back("take again");
                 }};
  }
  void TearDown() override { gil_hooks = {}; }
  static inline bool has_lock = true;
};

TEST_F(locked_handle_test, the_last_handle_is_destroyed_without_the_lock) {
  found_event first = event();
  found_event second = first;
  fake().calls.clear();
  first.reset();
  EXPECT_EQ(fake().calls, std::vector<std::string>{});
  second.reset();
  EXPECT_EQ(fake().calls, (std::vector<std::string>{"give back", "cuEventDestroy", "take again"}));
}

TEST_F(locked_handle_test, an_unlocked_object_stays_unlocked) {
  found_event created = event();
  fake().calls.clear();
  {
    const gil_release_if_held released;
    created.reset();
  }
  EXPECT_EQ(fake().calls, (std::vector<std::string>{"give back", "cuEventDestroy", "take again"}));
}

TEST_F(locked_handle_test, a_failure_acquires_the_lock_again) {
  fake().failing = "cuDevicePrimaryCtxRetain";
  EXPECT_THROW(static_cast<void>(retain_primary_context(0)), driver::driver_error);
  EXPECT_TRUE(has_lock);
}

TEST_F(handle_test, after_a_fork_nothing_of_the_parent_is_destroyed_or_found) {
  found_event parents = event();
  const CUevent raw = parents.raw();
  after_fork_in_child();
  EXPECT_FALSE(found_event::find(raw).is_open());
  parents.reset();
  EXPECT_EQ(fake().count("cuEventDestroy"), 0);
  event().reset();
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(handle_test, a_failing_destruction_is_one_line) {
  fake().failing = "cuEventDestroy";
  ::testing::internal::CaptureStderr();
  found_event created = event();
  std::ostringstream expected;
  expected << "halfwarp: cuEventDestroy failed during clean-up of 0x" << std::hex
           << reinterpret_cast<std::uintptr_t>(created.raw()) << ": CUDA_ERROR_UNKNOWN (999)\n";
  created.reset();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), expected.str());
}

TEST_F(handle_test, a_driver_that_has_shut_down_is_no_failure) {
  ::testing::internal::CaptureStderr();
  report_failed_destroy("cuEventDestroy", 0, CUDA_ERROR_DEINITIALIZED);
  report_failed_destroy("cuEventDestroy", 0, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  is_exiting = true;
  report_failed_destroy("cuEventDestroy", 0, CUDA_ERROR_UNKNOWN);
  is_exiting = false;
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(handle_test, many_threads_may_find_and_drop_one_object) {
  for (int round = 0; round < 50; ++round) {
    found_event shared = event();
    const CUevent raw = shared.raw();
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([raw] {
        for (int j = 0; j < 200; ++j) found_event::find(raw).reset();
      });
    }
    shared.reset();
    threads.clear();
  }
  EXPECT_EQ(fake().count("cuEventDestroy"), 50);
}

}  // namespace
}  // namespace halfwarp::core
