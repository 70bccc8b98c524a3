// SPDX-License-Identifier: Apache-2.0
// Contexts: primary, foreign, adopted and scoped.
#include "core/context.hpp"

#include "core/fake_driver.hpp"

namespace halfwarp::core {
namespace {

using testing::fake;
using testing::primary_context;
using testing::raw_handle;

using context_test = testing::core_test;

TEST_F(context_test, each_retained_handle_releases_its_own_count) {
  context_handle first = retain_primary_context(0);
  context_handle second = retain_primary_context(0);
  EXPECT_EQ(first.raw(), second.raw());
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRetain"), 2);
  first.reset();
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRelease"), 1);
  EXPECT_TRUE(context_handle::find(second.raw()).is_open());
  second.reset();
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRelease"), 2);
}

TEST_F(context_test, a_scope_pushes_only_a_context_that_is_not_current) {
  fake().current = raw_handle<CUcontext>(0x200);
  { const current_scope same{raw_handle<CUcontext>(0x200)}; }
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), 0);
  EXPECT_EQ(fake().count("cuCtxPopCurrent"), 0);
  { const current_scope other{raw_handle<CUcontext>(0x300)}; }
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), 1);
  EXPECT_EQ(fake().count("cuCtxPopCurrent"), 1);
}

TEST_F(context_test, no_current_context_is_a_null_handle) {
  EXPECT_FALSE(current_context().is_open());
}

TEST_F(context_test, a_foreign_context_is_borrowed_with_its_device) {
  fake().current = raw_handle<CUcontext>(0x200);
  context_handle current = current_context();
  EXPECT_FALSE(current.is_owned());
  EXPECT_EQ(current.facts().device, 3);
  current.reset();
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRelease"), 0);
}

TEST_F(context_test, priorities_are_queried_once_per_context) {
  const context_handle context = retain_primary_context(0);
  for (int i = 0; i < 2; ++i) {
    const priority_range range = stream_priorities(context);
    EXPECT_EQ(range.least, 0);
    EXPECT_EQ(range.greatest, -5);
  }
  EXPECT_EQ(fake().count("cuCtxGetStreamPriorityRange"), 1);
}

TEST_F(context_test, adopting_retains_a_foreign_primary_context) {
  fake().current = raw_handle<CUcontext>(primary_context);
  const context_handle adopted = adopt_current_context(3);
  EXPECT_TRUE(adopted.is_owned());
  EXPECT_EQ(adopted.facts().kind, context_kind::primary);
}

TEST_F(context_test, adopting_borrows_any_other_context) {
  fake().current = raw_handle<CUcontext>(0x200);
  EXPECT_FALSE(adopt_current_context(3).is_owned());
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRelease"), 1);  // retained only for the comparison
}

TEST_F(context_test, adopting_does_not_activate_a_primary_context) {
  fake().is_primary_active = false;
  fake().current = raw_handle<CUcontext>(0x200);
  EXPECT_FALSE(adopt_current_context(3).is_owned());
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRetain"), 0);
}

TEST_F(context_test, after_a_reset_the_raw_value_names_another_context) {
  const context_handle primary = retain_primary_context(3);
  const context_instance of_primary{primary};
  const context_instance of_foreign{context_of(raw_handle<CUcontext>(0x200))};
  EXPECT_FALSE(of_primary.is_destroyed());
  EXPECT_FALSE(of_foreign.is_destroyed());
  fake().context_id = 2;
  EXPECT_TRUE(of_primary.is_destroyed());
  EXPECT_TRUE(of_foreign.is_destroyed());
}

TEST_F(context_test, a_handle_names_the_context_after_a_reset) {
  const context_handle primary = retain_primary_context(3);
  fake().context_id = 2;
  EXPECT_FALSE(context_instance{primary}.is_destroyed());
  EXPECT_TRUE(context_handle::find(primary.raw()).is_open());
}

TEST_F(context_test, a_driver_without_context_ids_reports_no_reset) {
  fake().context_id = 0;
  const context_instance of_primary{retain_primary_context(3)};
  fake().context_id = 2;
  EXPECT_FALSE(of_primary.is_destroyed());
}

TEST_F(context_test, an_unrelated_error_reports_no_reset) {
  const context_instance of_primary{retain_primary_context(3)};
  fake().failing = "cuCtxGetId";
  EXPECT_FALSE(of_primary.is_destroyed());
  EXPECT_FALSE(is_destroyed(of_primary.context()));
}

TEST_F(context_test, a_failed_pop_is_retried_once) {
  const current_scope scope{raw_handle<CUcontext>(0x300)};
  fake().failing = "cuCtxPopCurrent";
  pop_context();
  EXPECT_EQ(fake().count("cuCtxPopCurrent"), 2);
  fake().failing.clear();
}

TEST_F(context_test, a_context_of_another_device_is_not_adopted) {
  fake().current = raw_handle<CUcontext>(0x200);
  EXPECT_FALSE(adopt_current_context(0).is_open());
}

}  // namespace
}  // namespace halfwarp::core
