// SPDX-License-Identifier: Apache-2.0
// Kernels. Each kernel retains the library that contains it.
#include "core/module/kernel.hpp"

#include "core/lifetime/interpreter.hpp"

namespace halfwarp::core {
namespace {

// Returns the registered handle of a kernel of `library`, or null. A registered handle with another
// library is stale: the program unloaded that library, and the driver reused the handle value.
kernel_handle find_match(CUkernel raw, CUlibrary library) noexcept {
  for (;;) {
    kernel_handle match = kernel_handle::find(raw);
    if (!match || match.parent().raw() == library) return match;
    mark_unloaded(match.parent());
  }
}

// Returns the library of a registered kernel, or null for other kernels. The driver's result
// overrides the registered library.
CUlibrary library_of(CUkernel raw) noexcept {
  const kernel_handle known = kernel_handle::find(raw);
  if (!known) return nullptr;
  CUlibrary reported = nullptr;
  const gil_release_if_held released;
  static_cast<void>(driver::try_call(driver::table->cuKernelGetLibrary, &reported, raw));
  return reported != nullptr ? reported : known.parent().raw();
}

}  // namespace

kernel_handle find_kernel(const library_handle& library, const std::string& symbol) {
  CUkernel raw = nullptr;
  driver::call(driver::table->cuLibraryGetKernel, &raw, library.raw(), symbol.c_str());
  if (kernel_handle match = find_match(raw, library.raw())) return match;
  const kernel_signatures& signatures = library.facts().signatures;
  const auto entry = signatures.find(symbol);
  kernel_facts facts{std::make_unique<launch_plan>(
      raw, symbol, entry == signatures.end() ? parameter_descriptions{} : entry->second)};
  return kernel_handle::own(library, std::move(facts), [raw](CUkernel* result) { *result = raw; });
}

kernel_handle kernel_of(CUkernel raw, const library_handle& library) {
  if (kernel_handle match = find_match(raw, library_of(raw))) return match;
  kernel_facts facts{std::make_unique<launch_plan>(raw, std::string{}, parameter_descriptions{})};
  return kernel_handle::borrow(raw, library, std::move(facts));
}

}  // namespace halfwarp::core
