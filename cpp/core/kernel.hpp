// SPDX-License-Identifier: Apache-2.0
// Kernels: part of a library, which they keep loaded.
#pragma once

#include <memory>

#include "core/launch_plan.hpp"
#include "core/library.hpp"

namespace halfwarp::core {

struct kernel_facts {
  std::unique_ptr<launch_plan> plan;  // one for all wrappers of the kernel
};

struct kernel_traits {
  using raw_type = CUkernel;
  using parent_type = library_handle;
  using facts_type = kernel_facts;
  static constexpr const char* destroyer = "";
  // It goes with its library.
  static CUresult destroy(CUkernel, const kernel_facts&) noexcept { return CUDA_SUCCESS; }
};

using kernel_handle = handle<kernel_traits>;

}  // namespace halfwarp::core
