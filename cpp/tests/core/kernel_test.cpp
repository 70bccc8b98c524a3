// SPDX-License-Identifier: Apache-2.0
// Kernels and the unloading of their libraries, with a fake driver.
#include "core/module/kernel.hpp"

#include <gtest/gtest.h>

namespace halfwarp::core {
namespace {

// Every library has one kernel, and all kernels have the same handle, as if each library was loaded
// after the previous one was unloaded.
struct fake_libraries {
  std::uintptr_t last = 0x1000;
  int unloaded = 0;
  bool tells_library = true;
};
fake_libraries fake;

CUresult load(CUlibrary* library_out, const void*, CUjit_option*, void**, unsigned,
              CUlibraryOption*, void**, unsigned) {
  *library_out = reinterpret_cast<CUlibrary>(fake.last += 0x10);
  return CUDA_SUCCESS;
}

CUresult exchange_mode(CUstreamCaptureMode*) { return CUDA_SUCCESS; }

CUresult unload(CUlibrary) {
  ++fake.unloaded;
  return CUDA_SUCCESS;
}

CUresult get_kernel(CUkernel* kernel, CUlibrary, const char*) {
  *kernel = reinterpret_cast<CUkernel>(0x900);
  return CUDA_SUCCESS;
}

CUresult get_library(CUlibrary* library, CUkernel) {
  *library = reinterpret_cast<CUlibrary>(fake.last);
  return fake.tells_library ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

class kernel_test : public testing::Test {
 protected:
  void SetUp() override {
    static const driver::driver_table table = [] {
      driver::driver_table filled{};
      filled.cuThreadExchangeStreamCaptureMode = &exchange_mode;
      filled.cuLibraryLoadData = &load;
      filled.cuLibraryUnload = &unload;
      filled.cuLibraryGetKernel = &get_kernel;
      filled.cuKernelGetLibrary = &get_library;
      return filled;
    }();
    static driver::loader_api api{};
    api.table = [](const char*) { return reinterpret_cast<void* const*>(&table); };
    api.name_of = [](driver::library_id, const void*) { return "a fake"; };
    driver::attach(&api);
    fake = {};
    first = make_library();
  }

  void TearDown() override {
    first.reset();
    unload_unused_libraries();
  }

  static library_handle make_library() {
    load_report report;
    return load_library("", false, "", report);
  }

  library_handle first;
};

TEST_F(kernel_test, a_reused_handle_belongs_to_the_later_library) {
  const kernel_handle stale = find_kernel(first, "f");
  library_handle second = make_library();
  kernel_handle match = find_kernel(second, "f");
  EXPECT_EQ(match.raw(), stale.raw());
  EXPECT_NE(match.facts().plan, stale.facts().plan);
  EXPECT_EQ(find_kernel(second, "f").facts().plan, match.facts().plan);
  EXPECT_EQ(kernel_of(match.raw(), {}).facts().plan, match.facts().plan);
  EXPECT_EQ(kernel_of(match.raw(), first).facts().plan, match.facts().plan);  // the driver's choice
}

TEST_F(kernel_test, a_library_whose_kernel_handle_was_reused_is_not_unloaded_again) {
  kernel_handle stale = find_kernel(first, "f");
  library_handle second = make_library();
  kernel_handle match = find_kernel(second, "f");
  stale.reset();
  first.reset();
  unload_unused_libraries();
  EXPECT_EQ(fake.unloaded, 0);
  match.reset();
  second.reset();
  unload_unused_libraries();
  EXPECT_EQ(fake.unloaded, 1);
}

TEST_F(kernel_test, a_raw_handle_does_not_match_a_kernel_of_an_unloaded_library) {
  const kernel_handle stale = find_kernel(first, "f");
  const library_handle second = make_library();
  EXPECT_NE(kernel_of(stale.raw(), {}).facts().plan, stale.facts().plan);
}

TEST_F(kernel_test, a_kernel_is_unchanged_if_the_driver_does_not_report_its_library) {
  const kernel_handle kernel = find_kernel(first, "f");
  fake.tells_library = false;
  EXPECT_EQ(kernel_of(kernel.raw(), {}).facts().plan, kernel.facts().plan);
}

TEST_F(kernel_test, the_last_release_does_not_wait) {
  kernel_handle kernel = find_kernel(first, "f");
  first.reset();
  kernel.reset();
  EXPECT_EQ(fake.unloaded, 0);
  unload_unused_libraries();
  unload_unused_libraries();
  EXPECT_EQ(fake.unloaded, 1);
}

TEST_F(kernel_test, few_libraries_stay_loaded_without_use) {
  for (std::size_t i = 0; i < most_unused_libraries; ++i) static_cast<void>(make_library());
  EXPECT_EQ(fake.unloaded, 0);
  const library_handle one_more = make_library();
  EXPECT_EQ(fake.unloaded, static_cast<int>(most_unused_libraries));
}

TEST_F(kernel_test, a_child_process_unloads_nothing_of_its_parent) {
  first.reset();
  after_fork_in_child();
  unload_unused_libraries();
  EXPECT_EQ(fake.unloaded, 0);
}

TEST_F(kernel_test, nothing_is_unloaded_at_exit) {
  is_exiting.store(true);
  first.reset();
  is_exiting.store(false);
  EXPECT_EQ(fake.unloaded, 0);
}

}  // namespace
}  // namespace halfwarp::core
