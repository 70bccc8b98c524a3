// SPDX-License-Identifier: Apache-2.0
// Pools and the order of deallocations on a driver.
#include <thread>

#include "core/memory/free_order.hpp"
#include "core/memory/pool.hpp"
#include "core/memory/synchronous.hpp"
#include "core_on_driver/open_driver.hpp"

namespace halfwarp::core {
namespace {

using testing::counted_as;
using testing::is_null_driver;
using testing::live;

constexpr std::size_t size = 4096;

class memory_test : public testing::driver_test {
 protected:
  void SetUp() override {
    driver_test::SetUp();
    context = retain_primary_context(0);
    stream = create_stream(context, CU_STREAM_NON_BLOCKING, 0);
  }
  void TearDown() override {
    stream.reset();
    context.reset();
    driver_test::TearDown();
  }

  [[nodiscard]] CUdeviceptr allocate(const pool_handle& pool) const {
    const CUdeviceptr pointer = allocate_from_pool(pool, size, stream);
    EXPECT_NE(pointer, 0u);
    return pointer;
  }

  context_handle context;
  stream_handle stream;
};

TEST_F(memory_test, an_owned_pool_is_destroyed_with_its_last_handle) {
  pool_handle pool = create_pool(0, 0);
  pool_handle copy = pool;
  EXPECT_TRUE(pool.is_owned());
  pool.reset();
  EXPECT_EQ(live("memory pool"), counted_as(1));
  copy.reset();
  EXPECT_EQ(live("memory pool"), 0);
}

TEST_F(memory_test, the_pool_of_the_device_is_borrowed) {
  const pool_handle pool = current_pool(0);
  EXPECT_FALSE(pool.is_owned());
  EXPECT_EQ(pool.facts().device, 0);
  EXPECT_EQ(free_order{stream}.free(allocate(pool)).code, CUDA_SUCCESS);
}

TEST_F(memory_test, a_pool_caches_freed_memory_until_it_is_trimmed) {
  if (is_null_driver()) GTEST_SKIP() << "the null driver counts no bytes";
  const pool_handle pool = create_pool(0, 0);
  const CUdeviceptr pointer = allocate(pool);
  EXPECT_EQ(pool_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), size);
  EXPECT_EQ(free_order{stream}.free(pointer).code, CUDA_SUCCESS);
  driver::call(driver::table->cuStreamSynchronize, stream.raw());
  EXPECT_EQ(pool_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_GE(pool_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), size);
  trim_pool(pool, 0);
  EXPECT_EQ(pool_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
}

TEST_F(memory_test, attributes_of_both_widths_are_set_and_read) {
  if (is_null_driver()) GTEST_SKIP() << "the null driver keeps no values";
  const pool_handle pool = create_pool(0, 0);
  for (const auto attribute :
       {CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD}) {
    for (const cuuint64_t value : {0u, 1u}) {
      set_pool_attribute(pool, attribute, value);
      EXPECT_EQ(pool_attribute(pool, attribute), value);
    }
  }
}

TEST_F(memory_test, memory_is_freed_after_the_stream_handle_and_the_pool_are_destroyed) {
  pool_handle pool = create_pool(0, 0);
  const CUdeviceptr pointer = allocate(pool);
  const free_order order{stream};
  stream.reset();
  pool.reset();
  EXPECT_EQ(live("stream"), counted_as(1));  // retained by the deallocation stream
  EXPECT_EQ(order.free(pointer).code, CUDA_SUCCESS);
}

TEST_F(memory_test, a_default_stream_means_nothing_without_a_context) {
  EXPECT_FALSE(free_order{stream_of(CU_STREAM_LEGACY)}.is_recorded());
}

TEST_F(memory_test, a_default_stream_means_the_context_of_the_recording) {
  const pool_handle pool = create_pool(0, 0);
  const CUdeviceptr pointer = allocate(pool);
  free_order order;
  {
    const current_scope scope{context.raw()};
    order = free_order{stream_of(CU_STREAM_LEGACY)};
  }
  ASSERT_TRUE(order.is_recorded());
  driver::call(driver::table->cuStreamSynchronize, stream.raw());
  EXPECT_EQ(raw_current_context(), nullptr);
  EXPECT_EQ(order.free(pointer).code, CUDA_SUCCESS);
  EXPECT_EQ(raw_current_context(), nullptr);
}

TEST_F(memory_test, another_thread_frees_after_the_work_of_the_per_thread_stream) {
  const pool_handle pool = create_pool(0, 0);
  const CUdeviceptr pointer = allocate(pool);
  const current_scope scope{context.raw()};
  free_order order{stream_of(CU_STREAM_PER_THREAD)};
  EXPECT_EQ(live("event"), counted_as(1));  // the other thread waits for it
  driver::call(driver::table->cuStreamSynchronize, stream.raw());
  CUresult code = CUDA_ERROR_UNKNOWN;
  std::thread{[&] { code = order.free(pointer).code; }}.join();
  EXPECT_EQ(code, CUDA_SUCCESS);
  order = {};
  EXPECT_EQ(live("event"), 0);
}

TEST_F(memory_test, a_child_process_frees_nothing) {
  const pool_handle pool = create_pool(0, 0);
  const CUdeviceptr pointer = allocate(pool);
  const free_order order{stream};
  const int before = live();
  fork_generation.fetch_add(1);
  EXPECT_FALSE(order.is_of_this_process());
  EXPECT_EQ(order.free(pointer).code, CUDA_SUCCESS);
  fork_generation.fetch_sub(1);
  EXPECT_EQ(live(), before);
  EXPECT_EQ(order.free(pointer).code, CUDA_SUCCESS);
  EXPECT_EQ(live(), before - counted_as(1));
}

TEST_F(memory_test, memory_without_pools_is_allocated_and_freed_in_its_context) {
  const CUdeviceptr pointer = allocate_in_context(context, size);
  EXPECT_EQ(raw_current_context(), nullptr);
  EXPECT_EQ(live("device memory"), counted_as(1));
  const free_order order = free_order::without_stream(context_instance{context});
  EXPECT_EQ(order.free(pointer, memory_kind::device).code, CUDA_SUCCESS);
  EXPECT_EQ(live("device memory"), 0);
}

}  // namespace
}  // namespace halfwarp::core
