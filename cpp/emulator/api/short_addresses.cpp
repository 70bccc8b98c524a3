// SPDX-License-Identifier: Apache-2.0
// Driver functions of CUDA 2, which take addresses and sizes of 32 bits. Some programs look them up
// and never call them. A program that calls one meant the function with `_v2` in its name.
#include <cuda.h>

#include <atomic>
#include <cstdio>

extern "C" {

CUresult refuse_short_addresses() noexcept {
  static std::atomic_flag is_reported;
  if (!is_reported.test_and_set()) {
    std::fputs(
        "emulator: the program calls a function of CUDA 2, whose addresses have 32 bits, such as "
        "cuMemAlloc; look up its name with _v2, or use cuGetProcAddress\n",
        stderr);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuArray3DCreate() __asm__("cuArray3DCreate");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuArray3DGetDescriptor() __asm__("cuArray3DGetDescriptor");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuArrayCreate() __asm__("cuArrayCreate");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuArrayGetDescriptor() __asm__("cuArrayGetDescriptor");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuDeviceTotalMem() __asm__("cuDeviceTotalMem");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuGraphicsResourceGetMappedPointer() __asm__("cuGraphicsResourceGetMappedPointer");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemAlloc() __asm__("cuMemAlloc");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemAllocHost() __asm__("cuMemAllocHost");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemAllocPitch() __asm__("cuMemAllocPitch");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemFree() __asm__("cuMemFree");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemGetAddressRange() __asm__("cuMemGetAddressRange");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemGetInfo() __asm__("cuMemGetInfo");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemHostGetDevicePointer() __asm__("cuMemHostGetDevicePointer");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpy2D() __asm__("cuMemcpy2D");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpy2DAsync() __asm__("cuMemcpy2DAsync");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpy2DUnaligned() __asm__("cuMemcpy2DUnaligned");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpy3D() __asm__("cuMemcpy3D");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpy3DAsync() __asm__("cuMemcpy3DAsync");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyAtoA() __asm__("cuMemcpyAtoA");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyAtoD() __asm__("cuMemcpyAtoD");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyAtoH() __asm__("cuMemcpyAtoH");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyAtoHAsync() __asm__("cuMemcpyAtoHAsync");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyDtoA() __asm__("cuMemcpyDtoA");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyDtoD() __asm__("cuMemcpyDtoD");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyDtoDAsync() __asm__("cuMemcpyDtoDAsync");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyDtoH() __asm__("cuMemcpyDtoH");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyDtoHAsync() __asm__("cuMemcpyDtoHAsync");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyHtoA() __asm__("cuMemcpyHtoA");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyHtoAAsync() __asm__("cuMemcpyHtoAAsync");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyHtoD() __asm__("cuMemcpyHtoD");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemcpyHtoDAsync() __asm__("cuMemcpyHtoDAsync");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemsetD16() __asm__("cuMemsetD16");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemsetD2D16() __asm__("cuMemsetD2D16");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemsetD2D32() __asm__("cuMemsetD2D32");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemsetD2D8() __asm__("cuMemsetD2D8");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemsetD32() __asm__("cuMemsetD32");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuMemsetD8() __asm__("cuMemsetD8");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuModuleGetGlobal() __asm__("cuModuleGetGlobal");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuTexRefGetAddress() __asm__("cuTexRefGetAddress");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuTexRefSetAddress() __asm__("cuTexRefSetAddress");
[[gnu::visibility("default"), gnu::alias("refuse_short_addresses")]] CUresult
first_cuTexRefSetAddress2D_v2() __asm__("cuTexRefSetAddress2D_v2");

}  // extern "C"
