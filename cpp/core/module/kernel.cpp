// SPDX-License-Identifier: Apache-2.0
// Kernels: part of a library, which they keep loaded.
#include "core/module/kernel.hpp"

namespace halfwarp::core {

kernel_handle find_kernel(const library_handle& library, const std::string& symbol) {
  CUkernel raw = nullptr;
  driver::call(driver::table->cuLibraryGetKernel, &raw, library.raw(), symbol.c_str());
  if (kernel_handle known = kernel_handle::find(raw)) return known;
  const kernel_signatures& signatures = library.facts().signatures;
  const auto said = signatures.find(symbol);
  kernel_facts facts{std::make_unique<launch_plan>(
      raw, symbol, said == signatures.end() ? parameter_descriptions{} : said->second)};
  return kernel_handle::own(library, std::move(facts), [raw](CUkernel* made) { *made = raw; });
}

kernel_handle kernel_of(CUkernel raw, const library_handle& library) {
  if (kernel_handle known = kernel_handle::find(raw)) return known;
  kernel_facts facts{std::make_unique<launch_plan>(raw, std::string{}, parameter_descriptions{})};
  return kernel_handle::borrow(raw, library, std::move(facts));
}

}  // namespace halfwarp::core
