// SPDX-License-Identifier: Apache-2.0
// Kernels: part of a library, which they keep loaded.
#include "core/module/kernel.hpp"

#include "core/lifetime/interpreter.hpp"

namespace halfwarp::core {
namespace {

// What is there already for that kernel of that library. One of another library went with it when
// the program unloaded it: the driver has given its handle once more.
kernel_handle find_known(CUkernel raw, CUlibrary of) noexcept {
  for (;;) {
    kernel_handle known = kernel_handle::find(raw);
    if (!known || known.parent().raw() == of) return known;
    mark_unloaded(known.parent());
  }
}

// What the driver knows of a kernel that may be one of ours; where it does not tell, it is.
CUlibrary library_of(CUkernel raw) noexcept {
  const kernel_handle known = kernel_handle::find(raw);
  if (!known) return nullptr;
  CUlibrary told = nullptr;
  const gil_release_if_held released;
  static_cast<void>(driver::try_call(driver::table->cuKernelGetLibrary, &told, raw));
  return told != nullptr ? told : known.parent().raw();
}

}  // namespace

kernel_handle find_kernel(const library_handle& library, const std::string& symbol) {
  CUkernel raw = nullptr;
  driver::call(driver::table->cuLibraryGetKernel, &raw, library.raw(), symbol.c_str());
  if (kernel_handle known = find_known(raw, library.raw())) return known;
  const kernel_signatures& signatures = library.facts().signatures;
  const auto said = signatures.find(symbol);
  kernel_facts facts{std::make_unique<launch_plan>(
      raw, symbol, said == signatures.end() ? parameter_descriptions{} : said->second)};
  return kernel_handle::own(library, std::move(facts), [raw](CUkernel* made) { *made = raw; });
}

kernel_handle kernel_of(CUkernel raw, const library_handle& library) {
  if (kernel_handle known = find_known(raw, library_of(raw))) return known;
  kernel_facts facts{std::make_unique<launch_plan>(raw, std::string{}, parameter_descriptions{})};
  return kernel_handle::borrow(raw, library, std::move(facts));
}

}  // namespace halfwarp::core
