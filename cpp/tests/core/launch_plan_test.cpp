// SPDX-License-Identifier: Apache-2.0
// The parameter layout and the shared memory of a kernel, with a fake driver.
#include "core/module/launch_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "core/module/kernel_names.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {
namespace {

// The results of the fake driver, and the number of its queries.
struct fake_kernel {
  int version = 13000;
  std::vector<std::size_t> sizes;
  CUresult end_of_list = CUDA_ERROR_INVALID_VALUE;
  const char* name = "_Z4copyPfPKfi";
  std::map<CUfunction_attribute, int> attributes{
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1024},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 47 * 1024}};
  int most_shared = 200 * 1024;
  int questions = 0;
  int settings = 0;
};
fake_kernel fake;

CUresult get_version(int* version) {
  *version = fake.version;
  return CUDA_SUCCESS;
}

CUresult get_parameter(CUkernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  ++fake.questions;
  if (index >= fake.sizes.size()) return fake.end_of_list;
  *offset = 8 * index;
  *size = fake.sizes[index];
  return CUDA_SUCCESS;
}

CUresult get_name(const char** name, CUkernel) {
  *name = fake.name;
  return CUDA_SUCCESS;
}

CUresult get_attribute(int* value, CUfunction_attribute attribute, CUkernel, CUdevice) {
  ++fake.questions;
  *value = fake.attributes[attribute];
  return CUDA_SUCCESS;
}

CUresult set_attribute(CUfunction_attribute attribute, int value, CUkernel, CUdevice) {
  ++fake.settings;
  fake.attributes[attribute] = value;
  return CUDA_SUCCESS;
}

CUresult get_device_attribute(int* value, CUdevice_attribute, CUdevice) {
  *value = fake.most_shared;
  return CUDA_SUCCESS;
}

class launch_plan_test : public ::testing::Test {
 protected:
  void SetUp() override {
    static driver::driver_table table{};
    table.cuDriverGetVersion = &get_version;
    table.cuKernelGetParamInfo = &get_parameter;
    table.cuKernelGetName = &get_name;
    table.cuKernelGetAttribute = &get_attribute;
    table.cuKernelSetAttribute = &set_attribute;
    table.cuDeviceGetAttribute = &get_device_attribute;
    static driver::loader_api api{};
    api.table = [](const char*) { return reinterpret_cast<void* const*>(&table); };
    api.name_of = [](driver::library_id, const void*) { return "a fake"; };
    driver::attach(&api);
    fake = fake_kernel{};
  }

  CUkernel kernel = reinterpret_cast<CUkernel>(0x10);
};

TEST_F(launch_plan_test, queries_the_layout_once) {
  fake.sizes = {8, 8, 4};
  launch_plan plan{kernel, "_Z4copyPfPKfi", {}};
  EXPECT_EQ(plan.layout(), nullptr);
  const parameter_layout& layout = plan.load_layout();
  EXPECT_EQ(&plan.load_layout(), &layout);
  EXPECT_EQ(plan.layout(), &layout);
  EXPECT_EQ(fake.questions, 4);
  ASSERT_EQ(layout.parameters.size(), 3u);
  EXPECT_EQ(layout.offsets[2], 16u);
  EXPECT_EQ(layout.parameters[1].kind, parameter_kind::pointer);
  EXPECT_EQ(layout.descriptions[1].type, "float const*");
  EXPECT_EQ(plan.readable_name(), "copy");
}

TEST_F(launch_plan_test, queries_the_name_of_a_foreign_kernel) {
  fake.sizes = {8, 8, 4};
  launch_plan plan{kernel, "", {}};
  EXPECT_EQ(plan.readable_name(), "kernel");
  plan.load_layout();
  EXPECT_EQ(plan.readable_name(), "copy");
  EXPECT_EQ(plan.layout()->parameters[2].kind, parameter_kind::signed_integer);
}

TEST_F(launch_plan_test, ignores_descriptions_that_differ_from_the_driver) {
  fake.sizes = {8, 16, 4};
  launch_plan plan{kernel, "_Z4copyPfPKfi", {{parameter_kind::float32, 4, "", "a"}}};
  for (const parameter& known : plan.load_layout().parameters) {
    EXPECT_EQ(known.kind, parameter_kind::unknown);
  }
}

TEST_F(launch_plan_test, joins_names_from_the_text_and_types_from_the_symbol) {
  fake.sizes = {8, 8, 4};
  const parameter_descriptions descriptions{{parameter_kind::integer_or_pointer, 8, "", "to"},
                                            {parameter_kind::integer_or_pointer, 8, "", "from"},
                                            {parameter_kind::integer, 4, "", "n"}};
  launch_plan plan{kernel, "_Z4copyPfPKfi", descriptions};
  const parameter_layout& layout = plan.load_layout();
  EXPECT_EQ(layout.descriptions[0].name, "to");
  EXPECT_EQ(layout.descriptions[0].type, "float*");
  EXPECT_EQ(layout.parameters[0].kind, parameter_kind::pointer);
}

TEST_F(launch_plan_test, takes_a_name_of_four_bytes_for_an_enumeration) {
  fake.sizes = {4, 8, 1};
  launch_plan plan{kernel, "_Z1f4Mode4Pair4Flag", {}};
  const parameter_layout& layout = plan.load_layout();
  EXPECT_EQ(layout.parameters[0].kind, parameter_kind::integer);
  EXPECT_EQ(layout.parameters[1].kind, parameter_kind::aggregate);
  EXPECT_EQ(layout.parameters[2].kind, parameter_kind::aggregate);
}

TEST_F(launch_plan_test, prefers_the_kind_of_the_text_for_a_name) {
  fake.sizes = {8, 4};
  const parameter_descriptions descriptions{{parameter_kind::signed_integer, 8, "", "mode"},
                                            {parameter_kind::unknown, 4, "", "flag"}};
  launch_plan plan{kernel, "_Z1f4Mode4Flag", descriptions};
  const parameter_layout& layout = plan.load_layout();
  EXPECT_EQ(layout.parameters[0].kind, parameter_kind::signed_integer);
  EXPECT_EQ(layout.parameters[1].kind, parameter_kind::integer);
}

TEST_F(launch_plan_test, queries_parameters_from_12_4_on) {
  fake.version = 12040;
  fake.sizes = {8};
  launch_plan plan{kernel, "f", {}};
  EXPECT_TRUE(plan.load_layout().is_known);
  EXPECT_EQ(fake.questions, 2);
}

TEST_F(launch_plan_test, checks_nothing_with_a_driver_before_12_4) {
  fake.version = 12030;
  launch_plan plan{kernel, "f", {}};
  EXPECT_FALSE(plan.load_layout().is_known);
  EXPECT_EQ(fake.questions, 0);
}

TEST_F(launch_plan_test, distinguishes_a_failure_from_the_end_of_the_list) {
  fake.sizes = {8};
  fake.end_of_list = CUDA_ERROR_INVALID_CONTEXT;
  launch_plan plan{kernel, "f", {}};
  EXPECT_THROW(plan.load_layout(), driver::driver_error);
  EXPECT_EQ(plan.layout(), nullptr);
  fake.end_of_list = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(plan.load_layout().parameters.size(), 1u);
}

TEST_F(launch_plan_test, publishes_one_layout_to_all_threads) {
  fake.sizes = {4, 4};
  launch_plan plan{kernel, "f", {}};
  std::array<const parameter_layout*, 8> seen{};
  std::vector<std::thread> threads;
  for (auto& slot : seen) threads.emplace_back([&] { slot = &plan.load_layout(); });
  for (std::thread& thread : threads) thread.join();
  for (const parameter_layout* layout : seen) EXPECT_EQ(layout, plan.layout());
}

TEST_F(launch_plan_test, retains_the_name_after_the_kernel) {
  std::uint32_t number;
  {
    launch_plan plan{kernel, "_Z5shortv", {}};
    number = plan.load_layout().number;
    EXPECT_EQ(name_of_kernel(number), "short");
  }
  EXPECT_EQ(name_of_kernel(number), "short");
  for (int i = 0; i < 2000; ++i) retire_kernel_name(register_kernel_name("other"));
  EXPECT_EQ(name_of_kernel(number), "");
}

TEST_F(launch_plan_test, grants_available_memory_without_setting_an_attribute) {
  launch_plan plan{kernel, "f", {}};
  EXPECT_EQ(plan.default_shared_memory(), 0u);
  EXPECT_EQ(plan.grant_shared_memory(0, 4096), 47u * 1024);
  EXPECT_EQ(plan.default_shared_memory(), 47u * 1024);
  EXPECT_EQ(fake.settings, 0);
}

TEST_F(launch_plan_test, raises_the_limit_once_to_the_maximum) {
  launch_plan plan{kernel, "f", {}};
  EXPECT_EQ(plan.grant_shared_memory(0, 60000), 199u * 1024);
  EXPECT_EQ(fake.settings, 1);
  const int questions = fake.questions;
  EXPECT_EQ(plan.grant_shared_memory(0, 150000), 199u * 1024);
  EXPECT_EQ(fake.questions, questions);
}

TEST_F(launch_plan_test, reports_the_maximum_if_it_is_too_small) {
  launch_plan plan{kernel, "f", {}};
  EXPECT_EQ(plan.grant_shared_memory(0, 300000), 199u * 1024);
  EXPECT_EQ(fake.settings, 0);
}

TEST_F(launch_plan_test, grants_exactly_the_limits) {
  launch_plan plan{kernel, "f", {}};
  EXPECT_EQ(plan.grant_shared_memory(0, 47 * 1024), 47u * 1024);
  EXPECT_EQ(fake.settings, 0);
  const int questions = fake.questions;
  EXPECT_EQ(plan.grant_shared_memory(0, 47 * 1024), 47u * 1024);
  EXPECT_EQ(fake.questions, questions);
  EXPECT_EQ(plan.grant_shared_memory(0, 199 * 1024), 199u * 1024);
  EXPECT_EQ(fake.settings, 1);
  EXPECT_EQ(fake.attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES], 199 * 1024);
}

TEST_F(launch_plan_test, has_no_default_beside_48_kilobytes_of_static_memory) {
  fake.attributes[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = 48 * 1024;
  launch_plan full{kernel, "f", {}};
  full.grant_shared_memory(0, 1);
  EXPECT_EQ(full.default_shared_memory(), 0u);
  fake.attributes[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = 48 * 1024 - 1;
  launch_plan nearly{kernel, "f", {}};
  nearly.grant_shared_memory(0, 1);
  EXPECT_EQ(nearly.default_shared_memory(), 1u);
}

TEST_F(launch_plan_test, caches_the_limits_of_32_devices) {
  launch_plan plan{kernel, "f", {}};
  for (const auto& [device, is_cached] : {std::pair{31, true}, std::pair{32, false}}) {
    plan.grant_shared_memory(device, 4096);
    const int questions = fake.questions;
    plan.grant_shared_memory(device, 4096);
    EXPECT_EQ(fake.questions == questions, is_cached) << device;
  }
}

TEST_F(launch_plan_test, queries_again_after_the_limit_was_set_elsewhere) {
  launch_plan plan{kernel, "f", {}};
  EXPECT_EQ(plan.grant_shared_memory(0, 60000), 199u * 1024);
  fake.attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 512;
  plan.invalidate_shared_memory(0);
  EXPECT_EQ(plan.default_shared_memory(), 0u);
  EXPECT_EQ(plan.grant_shared_memory(0, 256), 512u);
  EXPECT_EQ(plan.default_shared_memory(), 0u);
  EXPECT_EQ(plan.grant_shared_memory(0, 4096), 199u * 1024);
}

TEST_F(launch_plan_test, supports_devices_beyond_its_cache) {
  launch_plan plan{kernel, "f", {}};
  EXPECT_EQ(plan.grant_shared_memory(1000, 60000), 199u * 1024);
  plan.invalidate_shared_memory(1000);
}

TEST(parameters, accept_values_of_their_kind_and_size) {
  const auto bits = [](std::uint32_t size, parameter_kind kind) {
    return unsigned{make_parameter(size, kind).accepts};
  };
  EXPECT_EQ(bits(0, parameter_kind::unknown), unsigned{unknown_parameter.accepts});
  EXPECT_EQ(bits(4, parameter_kind::float32), accepts_single | accepts_4_bytes);
  EXPECT_EQ(bits(8, parameter_kind::float64), accepts_high | accepts_double | accepts_8_bytes);
  EXPECT_EQ(bits(4, parameter_kind::integer), accepts_integer | accepts_natural | accepts_4_bytes);
  EXPECT_EQ(bits(8, parameter_kind::pointer),
            accepts_natural | accepts_wide | accepts_high | accepts_address | accepts_8_bytes);
  EXPECT_EQ(bits(2, parameter_kind::half), 0u);
  EXPECT_EQ(bits(16, parameter_kind::aggregate), 0u);
}

// A parameter of each kind accepts these values, with 4 and with 8 bytes.
TEST(parameters, accept_integers_of_their_sign) {
  const unsigned any_4 = accepts_integer | accepts_natural, any_8 = any_4 | accepts_wide;
  const unsigned natural_8 = accepts_natural | accepts_wide;
  struct row {
    parameter_kind kind;
    unsigned of_4, of_8;
  };
  const row rows[] = {
      {parameter_kind::unknown, any_4, any_8 | accepts_high | accepts_double | accepts_address},
      {parameter_kind::integer, any_4, any_8 | accepts_high | accepts_address},
      {parameter_kind::signed_integer, any_4, any_8 | accepts_address},
      {parameter_kind::unsigned_integer, accepts_natural,
       natural_8 | accepts_high | accepts_address},
      {parameter_kind::integer_or_pointer, any_4, any_8 | accepts_high | accepts_address},
      {parameter_kind::pointer, accepts_natural, natural_8 | accepts_high | accepts_address},
      {parameter_kind::boolean, 0, accepts_high | accepts_address},
      {parameter_kind::aggregate, 0, accepts_high | accepts_address},
      {parameter_kind::float64, 0, accepts_high | accepts_double},
      {parameter_kind::float32, accepts_single, accepts_high},
      {parameter_kind::float4_e2m1, 0, accepts_high},
  };
  for (const row& each : rows) {
    const unsigned single = each.kind == parameter_kind::unknown ? unsigned{accepts_single} : 0u;
    EXPECT_EQ(make_parameter(4, each.kind).accepts, each.of_4 | single | accepts_4_bytes)
        << static_cast<int>(each.kind);
    EXPECT_EQ(make_parameter(8, each.kind).accepts, each.of_8 | accepts_8_bytes)
        << static_cast<int>(each.kind);
    EXPECT_EQ(make_parameter(1, each.kind).accepts, 0u);
  }
}

}  // namespace
}  // namespace halfwarp::core
