// SPDX-License-Identifier: Apache-2.0
// A program of two objects with relocatable device code: a kernel in the first calls a function and
// writes a variable in the second. The third object has no PTX for the device.
#include "host_code.hpp"

namespace {

constexpr const char* caller = R"(
.extern .func (.param .u32 result) twice(.param .u32 value);
.extern .global .u32 total;
.extern .func of_device_runtime();
.visible .entry unsupported() {
  call.uni of_device_runtime;
  ret;
}
.visible .entry run(.param .u32 value) {
  .reg .u32 %r<3>;
  ld.param.u32 %r0, [value];
  .param .u32 given;
  .param .u32 answer;
  st.param.u32 [given], %r0;
  call.uni (answer), twice, (given);
  ld.param.u32 %r1, [answer];
  st.global.u32 [total], %r1;
  ret;
}
)";
constexpr const char* callee = R"(
.visible .global .u32 total;
.visible .func (.param .u32 result) twice(.param .u32 value) {
  .reg .u32 %r<3>;
  ld.param.u32 %r0, [value];
  add.u32 %r1, %r0, %r0;
  st.param.u32 [result], %r1;
  ret;
}
)";

void stub() {}
int total;

void use_code() {
  unsigned value = 21;
  void* arguments[] = {&value};
  int result = 0;
  std::printf(
      "%d ", cudaLaunchKernel(reinterpret_cast<const void*>(&stub), {}, {}, arguments, 0, nullptr));
  cudaMemcpyFromSymbol(&result, &total, 4, 0, to_host);
  std::printf("%d\n", result);
}

}  // namespace

// With an argument, no object has code for the device. With two, the code is not used.
int main(int count, char**) {
  const std::string first = container_of(std::string{head} + caller);
  const std::string second = container_of(std::string{head} + callee);
  std::string newer = container_of(std::string{head} + callee);
  newer[16 + 28] = 121;                         // its architecture
  const std::string linked = container_of("");  // the linker's output has machine code alone
  const void* const all[] = {first.data(), newer.data(), second.data(), nullptr};
  const void* const none[] = {newer.data(), nullptr};
  wrapper code{0x466243b1, 2, linked.data(), count > 1 ? none : all};
  void** const handle = __cudaRegisterFatBinary(&code);
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&stub), nullptr, "run", -1, nullptr,
                         nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterVar(handle, reinterpret_cast<char*>(&total), nullptr, "total", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  if (count > 2) {
    cudaDeviceSynchronize();
  } else {
    use_code();
  }
  __cudaUnregisterFatBinary(handle);
}
