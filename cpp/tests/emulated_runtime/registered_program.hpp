// SPDX-License-Identifier: Apache-2.0
// A program that registers its code as the host code of nvcc does.
#pragma once

#include "emulated_runtime/recording_driver.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int);
char __cudaInitModule(void**);
void __cudaUnregisterFatBinary(void**);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
void __cudaRegisterHostVar(void**, const char*, char*, std::size_t);
void __cudaRegisterUnifiedTable(void**, void*);
void* __cudaGetProcAddress();
}

namespace halfwarp::emulated_runtime::testing {

// The structure that nvcc passes.
struct wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* image = nullptr;
  const void* const* objects = nullptr;
};

// The host objects of a program, whose addresses are names.
inline char stub, absent_stub, variable, absent_variable;
inline void* managed_slot;

// A program with a kernel, a variable, and names that its image lacks.
class program {
 public:
  explicit program(std::uintptr_t image) {
    wrapper_.image = reinterpret_cast<const void*>(image);
    code_ = __cudaRegisterFatBinary(&wrapper_);
    const auto add_kernel = [&](const char* host, const char* name) {
      __cudaRegisterFunction(code_, host, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
    };
    add_kernel(&stub, "kernel");
    add_kernel(&absent_stub, "absent");
    __cudaRegisterVar(code_, &variable, nullptr, "variable", 0, 100, 0, 0);
    __cudaRegisterVar(code_, &absent_variable, nullptr, "absent", 0, 100, 0, 0);
    __cudaRegisterManagedVar(code_, &managed_slot, nullptr, "managed", 0, 8, 0, 0);
  }
  ~program() { __cudaUnregisterFatBinary(code_); }
  program(const program&) = delete;  // registered once
  program& operator=(const program&) = delete;
  void** code() const { return code_; }

 private:
  wrapper wrapper_;
  void** code_;
};

}  // namespace halfwarp::emulated_runtime::testing
