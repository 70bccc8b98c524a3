// SPDX-License-Identifier: Apache-2.0
// Kernels and the end of their libraries, over a table of fakes.
#include "core/module/kernel.hpp"

#include <gtest/gtest.h>

namespace halfwarp::core {
namespace {

// Every library has one kernel; all get the same handle for it, as if each came after the end of
// the one before.
struct fake_libraries {
  std::uintptr_t last = 0x1000;
  int unloaded = 0;
  bool tells_library = true;
};
fake_libraries fake;

CUresult load(CUlibrary* made, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*,
              void**, unsigned) {
  *made = reinterpret_cast<CUlibrary>(fake.last += 0x10);
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
      driver::driver_table made{};
      made.cuThreadExchangeStreamCaptureMode = &exchange_mode;
      made.cuLibraryLoadData = &load;
      made.cuLibraryUnload = &unload;
      made.cuLibraryGetKernel = &get_kernel;
      made.cuKernelGetLibrary = &get_library;
      return made;
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

TEST_F(kernel_test, a_handle_that_comes_again_is_of_the_later_library) {
  const kernel_handle stale = find_kernel(first, "f");
  library_handle second = make_library();
  kernel_handle found = find_kernel(second, "f");
  EXPECT_EQ(found.raw(), stale.raw());
  EXPECT_NE(found.facts().plan, stale.facts().plan);
  EXPECT_EQ(find_kernel(second, "f").facts().plan, found.facts().plan);
  EXPECT_EQ(kernel_of(found.raw(), {}).facts().plan, found.facts().plan);
  EXPECT_EQ(kernel_of(found.raw(), first).facts().plan, found.facts().plan);  // as the driver says
}

TEST_F(kernel_test, a_library_whose_kernel_is_anothers_is_not_unloaded_again) {
  kernel_handle stale = find_kernel(first, "f");
  library_handle second = make_library();
  kernel_handle found = find_kernel(second, "f");
  stale.reset();
  first.reset();
  unload_unused_libraries();
  EXPECT_EQ(fake.unloaded, 0);
  found.reset();
  second.reset();
  unload_unused_libraries();
  EXPECT_EQ(fake.unloaded, 1);
}

TEST_F(kernel_test, a_bare_handle_is_not_taken_for_a_kernel_of_a_library_that_is_gone) {
  const kernel_handle stale = find_kernel(first, "f");
  const library_handle second = make_library();
  EXPECT_NE(kernel_of(stale.raw(), {}).facts().plan, stale.facts().plan);
}

TEST_F(kernel_test, where_the_driver_does_not_tell_the_library_a_kernel_stays_what_it_was) {
  const kernel_handle kernel = find_kernel(first, "f");
  fake.tells_library = false;
  EXPECT_EQ(kernel_of(kernel.raw(), {}).facts().plan, kernel.facts().plan);
}

TEST_F(kernel_test, who_lets_go_last_does_not_wait) {
  kernel_handle kernel = find_kernel(first, "f");
  first.reset();
  kernel.reset();
  EXPECT_EQ(fake.unloaded, 0);
  unload_unused_libraries();
  unload_unused_libraries();
  EXPECT_EQ(fake.unloaded, 1);
}

TEST_F(kernel_test, not_many_libraries_are_loaded_for_nothing) {
  for (std::size_t i = 0; i < most_unused_libraries; ++i) static_cast<void>(make_library());
  EXPECT_EQ(fake.unloaded, 0);
  const library_handle one_more = make_library();
  EXPECT_EQ(fake.unloaded, static_cast<int>(most_unused_libraries));
}

TEST_F(kernel_test, the_child_of_a_fork_unloads_nothing_of_the_parents) {
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
