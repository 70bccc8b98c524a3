// SPDX-License-Identifier: Apache-2.0
// The functions that nvcc's host code calls before main, or inside dlopen. They neither call the
// driver nor read images, since a program may never use what it registers.
#include <cuda_runtime_api.h>

#include <cstdio>

#include "emulated_runtime/process/context.hpp"
#include "emulated_runtime/process/errors.hpp"
#include "emulated_runtime/process/thread.hpp"
#include "emulated_runtime/program/registry.hpp"

namespace halfwarp::emulated_runtime::program {
namespace {

device_code& code_of(void** handle) { return *reinterpret_cast<device_code*>(handle); }

void report_unserved(const char* function) {
  std::fprintf(stderr, "emulator: %s is not emulated\n", function);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::program

using namespace halfwarp::emulated_runtime;

#pragma GCC visibility push(default)

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  auto* const code = new program::device_code{static_cast<const program::wrapper*>(wrapper)};
  program::add(*code);
  return reinterpret_cast<void**>(code);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  program::add({&program::code_of(handle), host, name});
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int,
                       int) {
  program::add(host, {&program::code_of(handle), name, bytes, nullptr});
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                              size_t bytes, int, int) {
  program::add(host, {&program::code_of(handle), name, bytes, host});
}

// The host code calls this function before it accesses a managed variable, until the result is 1.
// It ignores a 0, and then accesses a null address.
char __cudaInitModule(void** handle) {
  cudaError_t code = make_context_current();
  if (!code) code = program::fill_managed_slots(program::code_of(handle));
  if (!code) return 1;
  this_thread.last_error = code;
  const auto* const entry = find_error(code);
  std::fprintf(stderr, "emulator: managed variables of the program cannot be used: %s\n",
               entry ? entry->name : "unknown error");
  return 0;
}

void __cudaUnregisterFatBinary(void** handle) {
  program::device_code& code = program::code_of(handle);
  program::remove(code);
  if (code.unload()) delete &code;
}

// Exported by the runtime and called by no known program.
void __cudaRegisterHostVar(void**, const char*, char*, size_t) {
  program::report_unserved("__cudaRegisterHostVar");
}

void __cudaRegisterUnifiedTable(void**, void*) {
  program::report_unserved("__cudaRegisterUnifiedTable");
}

void* __cudaGetProcAddress() {
  program::report_unserved("__cudaGetProcAddress");
  return nullptr;
}

}  // extern "C"
