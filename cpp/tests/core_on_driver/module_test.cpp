// SPDX-License-Identifier: Apache-2.0
// Libraries, kernels and their launch plans on a driver.
#include "core/module/kernel.hpp"
#include "core_on_driver/open_driver.hpp"

namespace halfwarp::core {
namespace {

using testing::counted_as;
using testing::live;

constexpr char ptx[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry scale(.param .f32 a, .param .u64 x, .param .u32 n) { ret; }
.visible .entry nothing() { ret; }
)";

class module_test : public testing::driver_test {
 protected:
  void SetUp() override {
    driver_test::SetUp();
    context = retain_primary_context(0);
    driver::call(driver::table->cuCtxSetCurrent, context.raw());
    load_report report;
    library = load_library(ptx, true, ptx, report);
    ASSERT_TRUE(library) << report.function << ": " << report.log;
  }
  void TearDown() override {
    library.reset();
    unload_unused_libraries();
    driver::call(driver::table->cuCtxSetCurrent, nullptr);
    context.reset();
    driver_test::TearDown();
  }

  context_handle context;
  library_handle library;
};

TEST_F(module_test, a_kernel_retains_its_library) {
  kernel_handle kernel = find_kernel(library, "scale");
  library.reset();
  EXPECT_EQ(live("library"), counted_as(1));
  EXPECT_EQ(kernel.facts().plan->load_layout().parameters.size(), 3u);
  kernel.reset();
  unload_unused_libraries();
  EXPECT_EQ(live("library"), 0);
}

TEST_F(module_test, wrappers_of_one_kernel_share_its_plan) {
  const kernel_handle kernel = find_kernel(library, "scale");
  const kernel_handle same = find_kernel(library, "scale");
  EXPECT_EQ(kernel.facts().plan.get(), same.facts().plan.get());
  EXPECT_EQ(kernel_of(kernel.raw(), {}).facts().plan.get(), kernel.facts().plan.get());
}

TEST_F(module_test, a_plan_has_the_drivers_parameter_layout) {
  const kernel_handle kernel = find_kernel(library, "scale");
  const parameter_layout& layout = kernel.facts().plan->load_layout();
  ASSERT_TRUE(layout.is_known);
  EXPECT_EQ(layout.offsets, (std::vector<std::uint32_t>{0, 8, 16}));
  EXPECT_EQ(layout.parameters[0].kind, parameter_kind::float32);
  EXPECT_EQ(layout.parameters[1].size, 8u);
  EXPECT_EQ(layout.descriptions[2].name, "n");
  EXPECT_EQ(kernel.facts().plan->readable_name(), "scale");
}

TEST_F(module_test, a_kernel_without_parameters_is_known_to_have_none) {
  const kernel_handle kernel = find_kernel(library, "nothing");
  const parameter_layout& layout = kernel.facts().plan->load_layout();
  EXPECT_TRUE(layout.is_known);
  EXPECT_TRUE(layout.parameters.empty());
}

TEST_F(module_test, the_symbols_of_all_kernels_are_listed) {
  EXPECT_EQ(kernel_symbols(library).size(), 2u);
}

TEST_F(module_test, an_unknown_name_is_an_error) {
  if (testing::is_null_driver()) GTEST_SKIP() << "the null driver has every kernel";
  try {
    static_cast<void>(find_kernel(library, "missing"));
    FAIL() << "a kernel was found";
  } catch (const driver::driver_error& error) {
    EXPECT_EQ(error.code, CUDA_ERROR_NOT_FOUND);
  }
}

TEST_F(module_test, an_invalid_image_reports_the_reason) {
  if (testing::is_null_driver()) GTEST_SKIP() << "the null driver loads anything";
  load_report report;
  EXPECT_FALSE(load_library(".version 8.0\n.target sm_75\nnonsense", true, {}, report));
  EXPECT_EQ(report.code, CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(report.log, "");
}

}  // namespace
}  // namespace halfwarp::core
