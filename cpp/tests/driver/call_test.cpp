// SPDX-License-Identifier: Apache-2.0
// driver::call: argument conversion and exceptions.
#include "driver/call.hpp"

#include <gtest/gtest.h>

namespace halfwarp::driver {
namespace {

CUresult answer = CUDA_SUCCESS;
int passed = 0;

CUresult fake_event_query(CUevent event) {
  passed = event == nullptr ? 1 : 2;
  return answer;
}

CUresult fake_copy(CUdeviceptr to, const void* from, size_t bytes) {
  passed = static_cast<int>(to + reinterpret_cast<std::uintptr_t>(from) + bytes);
  return answer;
}

const char* name_of(library_id, const void* function) {
  return function == reinterpret_cast<const void*>(&fake_event_query) ? "cuEventQuery" : "other";
}

const void* driver_slots = nullptr;

void* const* table_of(const char*) { return static_cast<void* const*>(driver_slots); }

class call_test : public testing::Test {
 protected:
  void SetUp() override {
    slots.cuEventQuery = &fake_event_query;
    slots.cuMemcpyHtoD = &fake_copy;
    driver_slots = &slots;
    api.table = &table_of;
    api.name_of = &name_of;
    attach(&api);
    answer = CUDA_SUCCESS;
    passed = 0;
  }

  driver_table slots{};
  loader_api api{};
};

TEST_F(call_test, a_call_passes_its_arguments) {
  call(table->cuEventQuery, nullptr);
  EXPECT_EQ(passed, 1);
}

TEST_F(call_test, arguments_convert_as_in_a_direct_call) {
  call(table->cuMemcpyHtoD, 1, nullptr, 2);
  EXPECT_EQ(passed, 3);
}

TEST_F(call_test, a_failure_throws_the_code_and_the_public_name) {
  answer = CUDA_ERROR_NOT_READY;
  try {
    call(table->cuEventQuery, nullptr);
    FAIL() << "nothing was thrown";
  } catch (const driver_error& error) {
    EXPECT_EQ(error.code, CUDA_ERROR_NOT_READY);
    EXPECT_STREQ(error.function, "cuEventQuery");
  }
}

TEST_F(call_test, try_call_returns_the_status) {
  static_assert(noexcept(try_call(table->cuEventQuery, nullptr)));
  answer = CUDA_ERROR_DEINITIALIZED;
  EXPECT_EQ(try_call(table->cuEventQuery, nullptr), CUDA_ERROR_DEINITIALIZED);
}

TEST_F(call_test, a_slot_has_the_name_of_the_header) {
  EXPECT_EQ(static_cast<const void*>(&slots.cuMemcpyHtoD_v2),
            static_cast<const void*>(&slots.cuMemcpyHtoD));
  EXPECT_EQ(sizeof(slots) / sizeof(void*), driver_slot_count);
}

}  // namespace
}  // namespace halfwarp::driver
