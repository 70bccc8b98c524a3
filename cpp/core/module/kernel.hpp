// SPDX-License-Identifier: Apache-2.0
// Kernels: part of a library, which they keep loaded.
#pragma once

#include <memory>
#include <string>

#include "core/module/launch_plan.hpp"
#include "core/module/library.hpp"

namespace halfwarp::core {

struct kernel_facts {
  std::unique_ptr<launch_plan> plan;  // one for all wrappers of the kernel
};

struct kernel_traits {
  using raw_type = CUkernel;
  using parent_type = library_handle;
  using facts_type = kernel_facts;
  static constexpr const char* destroyer = nullptr;  // it goes with its library
  static bool is_gone(const library_handle& library, const kernel_facts&) noexcept {
    return library && library_traits::is_gone({}, library.facts());
  }
};

using kernel_ref = handle_ref<kernel_traits>;
using kernel_handle = handle<kernel_traits>;

// The kernel of that symbol. Throws driver_error: CUDA_ERROR_NOT_FOUND when there is none.
[[nodiscard]] kernel_handle find_kernel(const library_handle& library, const std::string& symbol);

// Wraps a kernel that exists: shared when it is one of ours, else borrowed; `library` (it may be
// null) then stays loaded with it.
[[nodiscard]] kernel_handle kernel_of(CUkernel raw, const library_handle& library);

}  // namespace halfwarp::core
