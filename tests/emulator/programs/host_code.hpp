// SPDX-License-Identifier: Apache-2.0
// Declares the functions that nvcc's host code calls, for programs that need no nvcc.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*);
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t, int, int);
void __cudaRegisterManagedVar(void**, void** slot, char*, const char* name, int, size_t, int, int);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t bytes, void* stream);
int __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* bytes, void* stream);
int __cudaGetKernel(void** kernel, const void* host);
int __cudaLaunchKernel(void* kernel, dim3 grid, dim3 block, void** arguments, size_t, void*);
int __cudaLaunchKernel_ptsz(void* kernel, dim3 grid, dim3 block, void** arguments, size_t, void*);
int cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t, void*);
int cudaMemcpyToSymbol(const void* symbol, const void*, size_t count, size_t offset, int kind);
int cudaMemcpyFromSymbol(void*, const void* symbol, size_t count, size_t offset, int kind);
int cudaGetSymbolAddress(void** address, const void* symbol);
int cudaGetSymbolSize(size_t* bytes, const void* symbol);
int cudaFuncGetAttributes(void* attributes, const void* host);
int cudaSetDevice(int device);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
}

inline constexpr int to_device = 1, to_host = 2;

struct wrapper {
  std::uint32_t magic = 0x466243b1;
  std::uint32_t version = 1;
  const void* image = nullptr;
  const void* const* objects = nullptr;
};

inline void append(std::string& bytes, std::uint64_t value, int size) {
  bytes.append(reinterpret_cast<const char*>(&value), static_cast<size_t>(size));
}

// A container with one PTX text for compute_50.
inline std::string container_of(std::string ptx) {
  ptx.resize((ptx.size() + 8) / 8 * 8);  // at least one NUL
  std::string entry;
  append(entry, 1, 2);  // PTX
  append(entry, 0x0101, 2);
  append(entry, 64, 4);
  append(entry, ptx.size(), 8);
  append(entry, 0, 8);
  append(entry, 0, 4);
  append(entry, 50, 4);
  entry.resize(64);
  std::string result;
  append(result, 0xba55ed50, 4);
  append(result, 1, 2);
  append(result, 16, 2);
  append(result, entry.size() + ptx.size(), 8);
  return result + entry + ptx;
}

inline const char* const head = ".version 7.0\n.target sm_50\n.address_size 64\n";

// A kernel that adds its argument to `counter` and to `managed`.
inline const char* const adding = R"(
.visible .global .u32 counter = 5;
.visible .global .attribute(.managed) .u32 managed = 7;
.visible .entry add(.param .u32 value) {
  .reg .u32 %r<3>;
  .reg .u64 %a<3>;
  ld.param.u32 %r0, [value];
  mov.u64 %a0, counter;
  red.global.add.u32 [%a0], %r0;
  mov.u64 %a1, managed;
  cvta.global.u64 %a1, %a1;
  red.add.u32 [%a1], %r0;
  ret;
}
)";
