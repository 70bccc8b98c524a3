// SPDX-License-Identifier: Apache-2.0
// A program that registers kernels and variables as nvcc's host code does, and uses them. Its
// argument is the name of a case.
#include <thread>

#include "host_code.hpp"

namespace {

std::string image = container_of(std::string{head} + adding);
wrapper code;
void** handle;
int counter, no_variable;  // the shadow of the variable of the device
int* managed;
void add_stub() {}
void missing_stub() {}
void unknown_stub() {}

template <class Function>
const void* address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

void add_function(void** owner, const void* stub, const char* name) {
  __cudaRegisterFunction(owner, static_cast<const char*>(stub), nullptr, name, -1, nullptr, nullptr,
                         nullptr, nullptr, nullptr);
}

void register_code() {
  code.image = image.data();
  handle = __cudaRegisterFatBinary(&code);
  add_function(handle, address(&add_stub), "add");
  add_function(handle, address(&missing_stub), "missing");
  __cudaRegisterVar(handle, reinterpret_cast<char*>(&counter), nullptr, "counter", 0, 4, 0, 0);
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&managed), nullptr, "managed", 0, 4, 0,
                           0);
  __cudaRegisterFatBinaryEnd(handle);
}

int launch(const void* stub, unsigned value, dim3 grid = {}) {
  void* arguments[] = {&value};
  return cudaLaunchKernel(stub, grid, dim3{}, arguments, 0, nullptr);
}

// Each step of `add<<<1, 1>>>(value)`.
unsigned launch_in_steps(unsigned value) {
  static void* kernel = nullptr;
  if (__cudaPushCallConfiguration(dim3{}, dim3{}, 0, nullptr)) return 1;
  if (!kernel) __cudaGetKernel(&kernel, address(&add_stub));
  dim3 grid, block;
  size_t bytes;
  void* stream;
  void* arguments[] = {&value};
  if (__cudaPopCallConfiguration(&grid, &block, &bytes, &stream)) return 2;
  return static_cast<unsigned>(__cudaLaunchKernel(kernel, grid, block, arguments, bytes, stream));
}

int value_of_counter() {
  int value = -1;
  cudaMemcpyFromSymbol(&value, &counter, 4, 0, to_host);
  return value;
}

int value_of_managed() {
  cudaDeviceSynchronize();
  return __cudaInitModule(handle) ? *managed : -1;
}

void launches() {
  launch_in_steps(10);
  launch(address(&add_stub), 100);
  std::printf("%d %d\n", value_of_counter(), value_of_managed());
}

void symbols() {
  int value = 40;
  size_t bytes = 0;
  void* place = nullptr;
  std::printf("%d ", cudaMemcpyToSymbol(&counter, &value, 4, 0, to_device));
  std::printf("%d ", cudaGetSymbolSize(&bytes, &counter));
  std::printf("%d %zu %d ", cudaGetSymbolAddress(&place, &counter), bytes, value_of_counter());
  std::printf("%d ", cudaMemcpyToSymbol(&counter, &value, 4, 1, to_device));  // beyond its end
  std::printf("%d ", cudaMemcpyToSymbol(&no_variable, &value, 4, 0, to_device));
  std::printf("%d ", cudaMemcpyToSymbol(&counter, &value, 4, 0, to_host));
  std::printf("%d\n", cudaMemcpyFromSymbol(&value, &counter, 4, 0, to_device));
}

void errors() {
  alignas(8) char attributes[512];
  std::printf("%d ", cudaFuncGetAttributes(attributes, address(&unknown_stub)));
  std::printf("%d ", cudaFuncGetAttributes(attributes, address(&add_stub)));
  std::printf("%d ", launch(address(&unknown_stub), 1));
  std::printf("%d ", launch(address(&missing_stub), 1));
  std::printf("%d ", launch(address(&add_stub), 1, {0, 1, 1}));
  std::printf("%d ", launch(address(&add_stub), 1, {1, 65536, 1}));
  std::printf("%d ", cudaPeekAtLastError());
  launch(address(&add_stub), 1);  // success clears nothing
  std::printf("%d ", cudaGetLastError());
  std::printf("%d\n", cudaGetLastError());
}

void configurations() {
  dim3 grid, block;
  size_t bytes = 0;
  void* stream = nullptr;
  __cudaPushCallConfiguration({1, 1, 1}, {}, 11, nullptr);
  __cudaPushCallConfiguration({2, 1, 1}, {}, 22, nullptr);
  __cudaPopCallConfiguration(&grid, &block, &bytes, &stream);
  std::printf("%u %zu ", grid.x, bytes);
  std::thread{[&] {  // has a stack of its own
    std::printf("%d ", __cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
  }}
      .join();
  __cudaPopCallConfiguration(&grid, &block, &bytes, &stream);
  std::printf("%u %zu\n", grid.x, bytes);
}

void reset() {
  launch_in_steps(1);
  std::printf("%d %d ", value_of_counter(), value_of_managed());
  int* const before = managed;
  cudaDeviceReset();
  launch_in_steps(2);
  std::printf("%d %d %d\n", value_of_counter(), value_of_managed(), managed == before);
}

void devices() {
  launch_in_steps(1);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  launch_in_steps(2);
  std::printf("%d ", value_of_counter());
  cudaSetDevice(0);
  std::printf("%d %d\n", value_of_counter(), value_of_managed());
}

void unregistered() {
  launch_in_steps(1);
  __cudaUnregisterFatBinary(handle);
  std::printf("%d ", launch(address(&add_stub), 1));
  register_code();
  launch(address(&add_stub), 2);
  std::printf("%d\n", value_of_counter());
}

// A shared object with symbols of the same names registers the same host addresses.
void registered_twice() {
  launch_in_steps(10);
  std::printf("%d ", value_of_counter());
  wrapper copy = code;
  void** const other = __cudaRegisterFatBinary(&copy);
  add_function(other, address(&add_stub), "add");
  __cudaRegisterVar(other, reinterpret_cast<char*>(&counter), nullptr, "counter", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(other);
  std::printf("%u ", launch_in_steps(20));  // by the handle of the first object
  launch(address(&add_stub), 1);
  std::printf("%d ", value_of_counter());
  __cudaUnregisterFatBinary(other);
  launch_in_steps(100);
  std::printf("%d\n", value_of_counter());
}

void streams() {
  void* const stream = reinterpret_cast<void*>(0x1234);
  unsigned value = 1;
  void* arguments[] = {&value};
  std::printf("%d\n", cudaLaunchKernel(address(&add_stub), {}, {}, arguments, 0, stream));
}

void retried() {
  std::printf("%d ", launch(address(&add_stub), 1));
  std::printf("%d\n", launch(address(&add_stub), 2));
}

void unused() {}

constexpr struct {
  const char* name;
  void (*run)();
} cases[] = {
    {"launches", launches},
    {"symbols", symbols},
    {"errors", errors},
    {"configurations", configurations},
    {"reset", reset},
    {"devices", devices},
    {"unregistered", unregistered},
    {"registered_twice", registered_twice},
    {"streams", streams},
    {"retried", retried},
    {"unused", unused},
};

}  // namespace

int main(int, char** arguments) {
  register_code();
  for (const auto& each : cases) {
    if (std::strcmp(each.name, arguments[1]) == 0) each.run();
  }
  __cudaUnregisterFatBinary(handle);
}
