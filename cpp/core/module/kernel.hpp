// SPDX-License-Identifier: Apache-2.0
// Kernels: part of a library, which they retain.
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

// Returns the kernel of a symbol. Throws driver_error, CUDA_ERROR_NOT_FOUND if there is none.
[[nodiscard]] kernel_handle find_kernel(const library_handle& library, const std::string& symbol);

// Wraps an existing kernel: shared if we own it, else borrowed. The borrowed kernel retains
// `library`, which may be null.
[[nodiscard]] kernel_handle kernel_of(CUkernel raw, const library_handle& library);

}  // namespace halfwarp::core
