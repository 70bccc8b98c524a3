// SPDX-License-Identifier: Apache-2.0
// Shared by the module functions: images, JIT options, functions and kernel attributes.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emulator/api/call.hpp"
#include "emulator/image/image.hpp"
#include "emulator/module/module.hpp"

namespace halfwarp::emulator::api {

// The JIT options of a load. Logs are written to the buffers of the caller.
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

// Returns the newest compute capability of the emulated devices: 90 for 9.0.
std::uint32_t device_architecture();

CUresult code_of(image::failure reason);

// Returns the message, after the name of the kernel if one is known.
std::string text_of(const image::image_error& problem);

// Finds and parses the PTX of an image. Needs no lock. Refuses with the driver's codes and writes
// the reason to the error log.
std::shared_ptr<const ptx::module> open_image(const void* image, jit_options& options);
std::shared_ptr<const ptx::module> open_image_file(const char* path, jit_options& options);

// Lets a link succeed with undefined functions. A launch that reaches one is refused.
void allow_undefined(call& c, CUlinkState state);

// Returns the function of a handle. Launches and most queries also accept a library kernel, which
// is then loaded into `target`.
std::shared_ptr<function> function_of(call& c, CUfunction raw,
                                      const std::shared_ptr<context>& target);

// Returns an attribute of a kernel, or refuses.
int attribute_of(const device& target_device, const exec::kernel_attributes& code,
                 const kernel_settings& settings, CUfunction_attribute attribute);

// Returns the dynamic shared memory in bytes that a launch may request.
int maximum_dynamic_shared(const device& target_device, const exec::kernel_attributes& code,
                           const kernel_settings& settings);
// Returns the maximum threads per block, which the registers of the kernel limit.
int maximum_threads(const exec::kernel_attributes& code);

}  // namespace halfwarp::emulator::api
