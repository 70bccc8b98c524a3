// SPDX-License-Identifier: Apache-2.0
// Streams: values known at creation, cached queries and repeated queries.
#include "core/stream.hpp"

#include "core/fake_driver.hpp"

namespace halfwarp::core {
namespace {

using testing::fake;
using testing::primary_context;
using testing::raw_handle;

class stream_test : public testing::core_test {
 protected:
  void SetUp() override {
    core_test::SetUp();
    context = retain_primary_context(0);
    fake().current = context.raw();
  }
  void TearDown() override { context.reset(); }

  stream_handle make() { return create_stream(context, CU_STREAM_NON_BLOCKING, -2); }

  context_handle context;
};

TEST_F(stream_test, a_created_stream_knows_its_options) {
  const stream_handle stream = make();
  EXPECT_TRUE(is_nonblocking(stream));
  EXPECT_EQ(priority_of(stream), -2);
  EXPECT_EQ(context_of(stream).raw(), context.raw());
  EXPECT_EQ(fake().count("cuStreamGetFlags"), 0);
  EXPECT_EQ(fake().count("cuStreamGetPriority"), 0);
  EXPECT_EQ(fake().count("cuStreamGetCtx"), 0);
}

TEST_F(stream_test, a_foreign_stream_is_queried_once) {
  const stream_handle stream = stream_of(raw_handle<CUstream>(0x500));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_nonblocking(stream));
    EXPECT_EQ(priority_of(stream), -1);
  }
  EXPECT_EQ(fake().count("cuStreamGetFlags"), 1);
  EXPECT_EQ(fake().count("cuStreamGetPriority"), 1);
}

TEST_F(stream_test, a_default_stream_is_queried_each_time) {
  const stream_handle stream = stream_of(CU_STREAM_LEGACY);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(priority_of(stream), -1);
  EXPECT_EQ(fake().count("cuStreamGetPriority"), 2);
  EXPECT_EQ(context_of(stream).raw(), context.raw());
  fake().current = nullptr;
  EXPECT_FALSE(context_of(stream).is_open());
}

TEST_F(stream_test, a_live_owned_stream_is_shared) {
  stream_handle stream = make();
  stream_handle wrapper = stream_of(stream.raw());
  stream.reset();
  EXPECT_EQ(fake().count("cuStreamDestroy"), 0);
  EXPECT_TRUE(wrapper.is_owned());
  wrapper.reset();
  EXPECT_EQ(fake().count("cuStreamDestroy"), 1);
}

TEST_F(stream_test, a_shared_stream_needs_no_owner) {
  int released = 0;
  keep_alive owner{&released, [](void* count) { ++*static_cast<int*>(count); }};
  const stream_handle stream = make();
  const stream_handle wrapper = stream_of(stream.raw(), std::move(owner));
  EXPECT_EQ(released, 1);
}

TEST_F(stream_test, work_is_created_in_the_streams_own_context) {
  const stream_handle stream = make();
  fake().current = raw_handle<CUcontext>(0x900);
  const event_handle event = record_event(stream, CU_EVENT_DEFAULT);
  EXPECT_EQ(event.parent().raw(), raw_handle<CUcontext>(primary_context));
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), 1);
  EXPECT_EQ(fake().count("cuCtxPopCurrent"), 1);
}

TEST_F(stream_test, waiting_for_itself_does_nothing) {
  const stream_handle stream = make();
  wait_for_stream(stream, stream);
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 0);
}

TEST_F(stream_test, waits_for_a_stream_record_one_event_again) {
  {
    const stream_handle later = make(), earlier = make();
    wait_for_stream(later, earlier);
    wait_for_stream(later, earlier);
    EXPECT_EQ(fake().count("cuEventCreate"), 1);
    EXPECT_EQ(fake().count("cuEventRecord"), 2);
    EXPECT_EQ(fake().count("cuStreamWaitEvent"), 2);
    EXPECT_EQ(fake().count("cuEventDestroy"), 0);
  }
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(stream_test, a_recorded_event_gets_the_streams_context_without_a_query) {
  const stream_handle stream = make();
  const int queries = fake().count("cuCtxGetId");
  const event_handle event = record_event(stream, CU_EVENT_DEFAULT);
  EXPECT_EQ(fake().count("cuCtxGetId"), queries);
}

TEST_F(stream_test, an_event_is_returned_if_the_stream_was_destroyed_with_its_context) {
  const stream_handle stream = make();
  ++fake().context_id;
  fake().failing = "cuEventRecord";
  EXPECT_THROW(static_cast<void>(record_event(stream, 0)), driver::driver_error);
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(stream_test, the_context_of_a_stream_is_entered_if_another_one_is_current) {
  const stream_handle stream = make();
  EXPECT_FALSE(enter_context_of(stream));
  fake().current = raw_handle<CUcontext>(0x900);
  EXPECT_TRUE(enter_context_of(stream));
  EXPECT_EQ(fake().current, context.raw());
  EXPECT_EQ(fake().count("cuStreamGetCtx"), 0);
  fake().current = raw_handle<CUcontext>(0x900);
  for (const char* function : {"cuCtxGetCurrent", "cuCtxPushCurrent"}) {
    fake().failing = function;
    EXPECT_FALSE(enter_context_of(stream)) << function;
  }
}

TEST_F(stream_test, the_context_of_a_foreign_stream_is_queried) {
  const stream_handle foreign = stream_of(raw_handle<CUstream>(0x500));
  fake().current = raw_handle<CUcontext>(0x900);
  EXPECT_TRUE(enter_context_of(foreign));
  EXPECT_EQ(fake().current, raw_handle<CUcontext>(primary_context));
  fake().current = raw_handle<CUcontext>(0x900);
  fake().failing = "cuStreamGetCtx";
  EXPECT_FALSE(enter_context_of(foreign));
  fake().failing.clear();
  const int pushes = fake().count("cuCtxPushCurrent");
  for (const CUstream token :
       {static_cast<CUstream>(nullptr), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    EXPECT_FALSE(enter_context_of(stream_of(token)));
  }
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), pushes);
}

TEST_F(stream_test, an_object_created_after_a_reset_is_destroyed) {
  ++fake().context_id;
  make().reset();
  EXPECT_EQ(fake().count("cuStreamDestroy"), 1);
  create_event(context_instance{context}, 0).reset();
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

TEST_F(stream_test, a_failing_record_destroys_the_new_event) {
  const stream_handle stream = make();
  fake().failing = "cuEventRecord";
  EXPECT_THROW(static_cast<void>(record_event(stream, 0)), driver::driver_error);
  EXPECT_EQ(fake().count("cuEventDestroy"), 1);
}

}  // namespace
}  // namespace halfwarp::core
