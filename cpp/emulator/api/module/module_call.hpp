// SPDX-License-Identifier: Apache-2.0
// What the bodies on code share: opening images, finding the function behind a handle.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emulator/api/call.hpp"
#include "emulator/module/module.hpp"

namespace halfwarp::emulator::api {

// The options of a compilation at load time. Text goes into the buffers that the caller gave.
class jit_options {
 public:
  jit_options(unsigned count, CUjit_option* names, void** values);

  void write_error_log(const std::string& text) { write(CU_JIT_ERROR_LOG_BUFFER, text); }
  void write_info_log(const std::string& text) { write(CU_JIT_INFO_LOG_BUFFER, text); }

 private:
  void write(CUjit_option buffer, const std::string& text);
  void** find(CUjit_option name) const;

  std::span<CUjit_option> names_;
  void** values_;
};

// 90 for 9.0: what the emulated devices are.
std::uint32_t device_architecture();

// Finds and parses the PTX of an image. Needs no lock; refuses with the driver's codes, the
// reason in the error log.
std::shared_ptr<const ptx::module> open_image(const void* image, jit_options& options);
std::shared_ptr<const ptx::module> open_image_file(const char* path, jit_options& options);

// A launch and most queries take a kernel of a library in place of a function; it is then loaded
// into the given context.
std::shared_ptr<function> function_of(call& c, CUfunction raw,
                                      const std::shared_ptr<context>& where);

// The attribute of a kernel, or a refusal.
int attribute_of(const device& on, const exec::kernel_attributes& code,
                 const kernel_settings& settings, CUfunction_attribute attribute);

// Bytes of dynamic shared memory that a launch may ask for.
int maximum_dynamic_shared(const device& on, const exec::kernel_attributes& code,
                           const kernel_settings& settings);
// Threads that a block may have, which the registers of the kernel limit.
int maximum_threads(const exec::kernel_attributes& code);

}  // namespace halfwarp::emulator::api
