// SPDX-License-Identifier: Apache-2.0
// Kernels and variables that compiled programs registered, by the addresses of their host objects.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include "emulated_runtime/program/device_code.hpp"

namespace halfwarp::emulated_runtime::program {

// A kernel of a program. Its address is the cudaKernel_t that the program receives, since a program
// obtains it before any context exists and uses it on all devices.
struct kernel {
  device_code* code;
  const void* host;  // the address of the host stub
  const char* name;
};

struct variable {
  device_code* code;
  const char* name;
  size_t bytes;
  void** managed_slot;  // where the program expects the managed address; null for other variables
};

void add(device_code& code);
void add(const kernel& fresh);
void add(const void* host, const variable& fresh);

// Removes the code with all its objects.
void remove(const device_code& code) noexcept;

// Returns the kernel of a host address or of a cudaKernel_t from this registry, else null.
const kernel* find_kernel(const void* host_or_handle) noexcept;

// Returns the address of the host stub of a driver kernel or function, else null.
const void* host_address_of(const void* driver_handle) noexcept;
void remember_host_address(const void* driver_handle, const void* host);

// Loads the code of a symbol in the current context, and returns the address and the size there.
cudaError_t locate(const void* symbol, CUdeviceptr* address, size_t* bytes) noexcept;

// Returns the driver's kernel of a host address or cudaKernel_t; loads its code. Other handles are
// returned unchanged. A host address that is not registered is cudaErrorInvalidDeviceFunction.
cudaError_t resolve(const void* func, CUkernel* result) noexcept;

// Loads the code of all programs in the current context if CUDA_MODULE_LOADING is EAGER. A failure
// is reported, and returned by the first use of the code.
void load_registered() noexcept;

// Writes the address of each managed variable of the code to the program.
cudaError_t fill_managed_slots(device_code& code) noexcept;

}  // namespace halfwarp::emulated_runtime::program
