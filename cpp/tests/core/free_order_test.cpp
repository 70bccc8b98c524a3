// SPDX-License-Identifier: Apache-2.0
// Frees in stream order, and what they do if the driver fails or a capture forbids them.
#include "core/memory/free_order.hpp"

#include <thread>

#include "core/fake_driver.hpp"

namespace halfwarp::core {
namespace {

using testing::fake;
using testing::raw_handle;

constexpr CUdeviceptr address = 0xabc0;

class free_order_test : public testing::core_test {
 protected:
  void SetUp() override {
    core_test::SetUp();
    context = retain_primary_context(0);
    fake().current = context.raw();
    stream = create_stream(context, CU_STREAM_NON_BLOCKING, 0);
    fake().calls.clear();
  }
  void TearDown() override {
    fake().failing.clear();
    fake().results.clear();
    fake().captured = nullptr;
    free_deferred();
    stream.reset();
    context.reset();
  }

  // Returns the numbers of calls of cuMemFreeAsync, cuMemFree and cuMemFreeHost.
  static std::array<int, 3> frees() {
    return {fake().count("cuMemFreeAsync"), fake().count("cuMemFree"),
            fake().count("cuMemFreeHost")};
  }
  static constexpr std::array<int, 3> one_in_order{1, 0, 0}, one_at_once{0, 1, 0};
  static constexpr std::array<int, 3> one_of_host{0, 0, 1}, none{0, 0, 0}, both{1, 1, 0};

  context_handle context;
  stream_handle stream;
};

TEST_F(free_order_test, memory_of_a_pool_is_freed_on_its_stream) {
  const free_order order{stream};
  EXPECT_TRUE(order.is_recorded());
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), one_in_order);
  EXPECT_EQ(fake().count("cuStreamSynchronize"), 0);
  EXPECT_FALSE(has_deferred_frees);
}

TEST_F(free_order_test, a_null_address_is_not_freed) {
  EXPECT_EQ(free_order{stream}.free(0).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), none);
}

TEST_F(free_order_test, memory_of_a_destroyed_stream_is_freed_after_all_work) {
  for (const CUresult code :
       {CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED}) {
    fake().calls.clear();
    fake().results["cuMemFreeAsync"] = code;
    EXPECT_EQ(free_order{stream}.free(address).code, CUDA_SUCCESS) << code;
    EXPECT_EQ(frees(), both) << code;
  }
  fake().current = nullptr;
  fake().results["cuCtxPushCurrent"] = CUDA_ERROR_NOT_PERMITTED;
  EXPECT_EQ(free_order{stream}.free(address).code, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(free_order_test, another_failure_is_returned_with_its_function) {
  fake().results["cuMemFreeAsync"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  const free_result result = free_order{stream}.free(address);
  EXPECT_EQ(result.code, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_STREQ(result.function, "cuMemFreeAsync");
  EXPECT_EQ(frees(), one_in_order);
}

TEST_F(free_order_test, a_free_that_a_capture_forbids_is_made_later) {
  fake().results["cuMemFreeAsync"] = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  fake().captured = stream.raw();
  EXPECT_EQ(free_order{stream}.free(address).code, CUDA_SUCCESS);
  EXPECT_TRUE(has_deferred_frees);
  free_deferred();
  EXPECT_TRUE(has_deferred_frees);
  EXPECT_EQ(fake().count("cuMemFreeAsync"), 2);
  fake().results.clear();
  fake().captured = nullptr;
  EXPECT_EQ(free_order{stream}.free(address).code, CUDA_SUCCESS);
  EXPECT_FALSE(has_deferred_frees);
  EXPECT_EQ(fake().count("cuMemFreeAsync"), 4);
}

TEST_F(free_order_test, a_deferred_free_that_fails_is_reported_once) {
  fake().results["cuMemFreeAsync"] = CUDA_ERROR_UNKNOWN;
  fake().captured = stream.raw();
  static_cast<void>(free_order{stream}.free(address));
  fake().captured = nullptr;
  ::testing::internal::CaptureStderr();
  free_deferred();
  free_deferred();
  EXPECT_EQ(
      ::testing::internal::GetCapturedStderr(),
      "halfwarp: cuMemFreeAsync failed during clean-up of 0xabc0: CUDA_ERROR_UNKNOWN (999)\n");
  EXPECT_EQ(fake().count("cuMemFreeAsync"), 2);
}

TEST_F(free_order_test, a_capture_of_another_stream_defers_a_free_on_the_default_stream) {
  const free_order order{stream_of(CU_STREAM_LEGACY)};
  fake().results["cuStreamIsCapturing"] = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), none);
  fake().results["cuStreamIsCapturing"] = CUDA_ERROR_UNKNOWN;  // no capture
  free_deferred();
  EXPECT_EQ(frees(), one_in_order);
}

TEST_F(free_order_test, a_default_stream_is_that_of_the_recorded_context) {
  const free_order order{stream_of(CU_STREAM_LEGACY)};
  fake().current = nullptr;
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), one_in_order);
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), 1);
  EXPECT_EQ(fake().count("cuCtxPopCurrent"), 1);
  fake().results["cuCtxPushCurrent"] = CUDA_ERROR_NOT_PERMITTED;
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), both);
  fake().results["cuMemFree"] = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(order.free(address).code, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(free_order_test, a_default_stream_without_a_context_is_not_recorded) {
  fake().current = nullptr;
  EXPECT_FALSE(free_order{stream_of(CU_STREAM_PER_THREAD)}.is_recorded());
  EXPECT_EQ(fake().count("cuEventRecord"), 0);
}

TEST_F(free_order_test, another_thread_waits_for_the_recorded_event) {
  const free_order order{stream_of(CU_STREAM_PER_THREAD)};
  EXPECT_EQ(fake().count("cuEventRecord"), 1);
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 0);
  std::thread{[&] {
    EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
    EXPECT_EQ(fake().count("cuStreamWaitEvent"), 1);
    order.make_wait(stream);
    EXPECT_EQ(fake().count("cuStreamWaitEvent"), 2);
  }}.join();
  EXPECT_EQ(fake().count("cuEventRecord"), 1);
  order.make_wait(stream);
  EXPECT_EQ(fake().count("cuEventRecord"), 2);
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 3);
}

TEST_F(free_order_test, memory_of_other_kinds_is_freed_after_the_work_of_the_stream) {
  EXPECT_EQ(free_order{stream}.free(address, memory_kind::device).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), one_at_once);
  EXPECT_EQ(fake().count("cuStreamSynchronize"), 1);
  fake().calls.clear();
  EXPECT_EQ(free_order{stream}.free(address, memory_kind::host).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), one_of_host);
  EXPECT_EQ(fake().count("cuStreamSynchronize"), 1);
  fake().calls.clear();
  const free_order at_once = free_order::without_stream(context_instance{context});
  EXPECT_EQ(at_once.free(address, memory_kind::device).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), one_at_once);
  EXPECT_EQ(fake().count("cuStreamSynchronize"), 0);
}

TEST_F(free_order_test, failures_of_synchronous_frees_name_the_function) {
  const auto freed = [&](memory_kind kind) {
    const free_result result = free_order{stream}.free(address, kind);
    return std::pair{result.code, std::string{result.function}};
  };
  fake().results["cuStreamSynchronize"] = CUDA_ERROR_LAUNCH_FAILED;
  EXPECT_EQ(freed(memory_kind::device),
            (std::pair{CUDA_ERROR_LAUNCH_FAILED, std::string{"cuStreamSynchronize"}}));
  EXPECT_EQ(frees(), one_at_once);
  fake().results = {{"cuMemFree", CUDA_ERROR_UNKNOWN}, {"cuMemFreeHost", CUDA_ERROR_NOT_MAPPED}};
  EXPECT_EQ(freed(memory_kind::device), (std::pair{CUDA_ERROR_UNKNOWN, std::string{"cuMemFree"}}));
  EXPECT_EQ(freed(memory_kind::host),
            (std::pair{CUDA_ERROR_NOT_MAPPED, std::string{"cuMemFreeHost"}}));
  fake().current = nullptr;
  fake().results["cuCtxPushCurrent"] = CUDA_ERROR_NOT_PERMITTED;
  const free_order other = free_order::without_stream(context_instance{context});
  EXPECT_EQ(other.free(address, memory_kind::host).code, CUDA_ERROR_NOT_MAPPED);
  fake().results.erase("cuMemFreeHost");
  const free_result result = other.free(address, memory_kind::host);
  EXPECT_EQ(result.code, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_STREQ(result.function, "a fake");  // as the table names its functions
}

TEST_F(free_order_test, a_synchronous_free_waits_for_the_end_of_a_capture) {
  fake().captured = stream.raw();
  EXPECT_EQ(free_order{stream}.free(address, memory_kind::device).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), none);
  fake().captured = nullptr;
  free_deferred();
  EXPECT_EQ(frees(), one_at_once);
}

TEST_F(free_order_test, memory_of_a_reset_context_is_freed_if_it_is_of_a_pool) {
  const free_order order{stream};
  ++fake().context_id;
  EXPECT_TRUE(order.needs_no_free());
  EXPECT_EQ(order.free(address, memory_kind::device).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), none);
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(frees(), one_in_order);
  fake().captured = CU_STREAM_LEGACY;
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_TRUE(has_deferred_frees);
  fake().captured = nullptr;
  free_deferred();
  EXPECT_EQ(fake().count("cuMemFreeAsync"), 2);
  fake().current = nullptr;
  fake().results["cuCtxPushCurrent"] = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  EXPECT_TRUE(has_deferred_frees);
}

TEST_F(free_order_test, a_child_process_frees_no_memory_of_its_parent) {
  const free_order order{stream};
  fake().results["cuMemFreeAsync"] = CUDA_ERROR_UNKNOWN;
  fake().captured = stream.raw();
  static_cast<void>(order.free(address));
  fake().calls.clear();
  ++fork_generation;
  EXPECT_TRUE(order.needs_no_free());
  EXPECT_EQ(order.free(address).code, CUDA_SUCCESS);
  free_deferred();
  EXPECT_EQ(frees(), none);
  EXPECT_FALSE(has_deferred_frees);
  --fork_generation;
}

TEST_F(free_order_test, one_free_waits_for_another) {
  const stream_handle second = create_stream(context, CU_STREAM_NON_BLOCKING, 0);
  const free_order first{stream}, later{second};
  const auto waits = [&](const free_order& last, const free_order& first_one) {
    fake().calls.clear();
    EXPECT_EQ(first_one.make_wait(last).code, CUDA_SUCCESS);
    return fake().count("cuStreamWaitEvent");
  };
  EXPECT_EQ(waits(later, first), 1);
  EXPECT_EQ(waits(first, free_order{stream}), 0);
  EXPECT_EQ(waits(free_order{}, first), 0);
  EXPECT_EQ(waits(first, free_order{}), 0);
  for (const stream_handle& each : {stream, second}) {
    fake().captured = each.raw();
    EXPECT_EQ(waits(later, first), 0);
  }
  fake().captured = nullptr;
  fake().results["cuStreamWaitEvent"] = CUDA_ERROR_NOT_PERMITTED;
  const free_result result = first.make_wait(later);
  EXPECT_EQ(result.code, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_STREQ(result.function, "a fake");  // as the table names its functions
}

TEST_F(free_order_test, a_free_of_a_reset_context_waits_for_none_and_none_for_it) {
  const free_order of_reset{stream};
  ++fake().context_id;
  const context_handle created = retain_primary_context(0);
  fake().current = created.raw();
  const stream_handle second = create_stream(created, CU_STREAM_NON_BLOCKING, 0);
  const stream_handle third = create_stream(created, CU_STREAM_NON_BLOCKING, 0);
  const free_order order{second}, later{third};
  ASSERT_TRUE(of_reset.needs_no_free());
  ASSERT_FALSE(order.needs_no_free());
  fake().calls.clear();
  EXPECT_EQ(of_reset.make_wait(order).code, CUDA_SUCCESS);
  EXPECT_EQ(order.make_wait(of_reset).code, CUDA_SUCCESS);
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 0);
  EXPECT_EQ(order.make_wait(later).code, CUDA_SUCCESS);
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 1);
}

TEST_F(free_order_test, the_legacy_stream_of_one_context_needs_no_wait) {
  const free_order order{stream_of(nullptr)};
  order.make_wait(stream_of(CU_STREAM_LEGACY));
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 0);
  order.make_wait(stream);
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 1);
  fake().current = raw_handle<CUcontext>(0x900);
  order.make_wait(stream_of(CU_STREAM_LEGACY));
  EXPECT_EQ(fake().count("cuStreamWaitEvent"), 2);
}

TEST_F(free_order_test, the_recorded_context_is_entered_if_another_one_is_current) {
  const free_order order = free_order::without_stream(context_instance{context});
  EXPECT_FALSE(order.enter());
  EXPECT_FALSE(free_order{}.enter());
  fake().current = raw_handle<CUcontext>(0x900);
  EXPECT_TRUE(order.enter());
  EXPECT_EQ(fake().current, context.raw());
  free_order::leave();
  EXPECT_EQ(fake().count("cuCtxPopCurrent"), 1);
  fake().results["cuCtxPushCurrent"] = CUDA_ERROR_UNKNOWN;
  EXPECT_FALSE(order.enter());
  fake().results.clear();
  fake().current = nullptr;
  ++fake().context_id;
  EXPECT_FALSE(order.enter());
}

TEST_F(free_order_test, a_free_now_uses_the_current_context_for_default_streams) {
  EXPECT_EQ(free_order::now(stream_of(CU_STREAM_LEGACY)).free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(free_order::now(stream).free(address).code, CUDA_SUCCESS);
  EXPECT_EQ(fake().count("cuMemFreeAsync"), 2);
  EXPECT_TRUE(free_order::now(stream).is_on(stream.raw()));
  EXPECT_FALSE(free_order::now(stream_of(CU_STREAM_LEGACY)).is_on(CU_STREAM_LEGACY));
}

}  // namespace
}  // namespace halfwarp::core
