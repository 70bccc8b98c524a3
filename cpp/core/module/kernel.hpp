// SPDX-License-Identifier: Apache-2.0
// Kernels. Each kernel retains the library that contains it.
#pragma once

#include <memory>
#include <string>

#include "core/module/launch_plan.hpp"
#include "core/module/library.hpp"

namespace halfwarp::core {

struct kernel_facts {
  std::unique_ptr<launch_plan> plan;  // shared by all wrappers of the kernel
};

struct kernel_traits {
  using raw_type = CUkernel;
  using parent_type = library_handle;
  using facts_type = kernel_facts;
  static constexpr const char* destroyer = nullptr;  // destroyed with its library
  static bool is_destroyed(const library_handle& library, const kernel_facts&) noexcept {
    return library && library_traits::is_destroyed({}, library.facts());
  }
};

using kernel_ref = handle_ref<kernel_traits>;
using kernel_handle = handle<kernel_traits>;

// Returns the kernel with this symbol. Throws driver_error: CUDA_ERROR_NOT_FOUND if the library has
// no such kernel.
[[nodiscard]] kernel_handle find_kernel(const library_handle& library, const std::string& symbol);

// Returns the registered handle of a kernel, or creates a borrowed handle that retains `library`.
// `library` may be null.
[[nodiscard]] kernel_handle kernel_of(CUkernel raw, const library_handle& library);

}  // namespace halfwarp::core
