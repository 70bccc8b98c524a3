// SPDX-License-Identifier: Apache-2.0
// Libraries of device code: loading them, and what is in them.
#include "core/module/library.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace halfwarp::core {
namespace {

constexpr std::size_t log_capacity = 16 * 1024;

// The options that ask the driver's compiler for its error log, and the log.
class compiler_log {
 public:
  compiler_log() : text_(log_capacity, '\0') {
    values_ = {text_.data(), reinterpret_cast<void*>(log_capacity)};
  }
  compiler_log(const compiler_log&) = delete;  // the options refer to the text
  compiler_log& operator=(const compiler_log&) = delete;

  [[nodiscard]] CUjit_option* options() noexcept { return options_.data(); }
  [[nodiscard]] void** values() noexcept { return values_.data(); }
  [[nodiscard]] unsigned count() const noexcept { return static_cast<unsigned>(options_.size()); }
  [[nodiscard]] std::string text() const { return std::string{text_.c_str()}; }

 private:
  std::string text_;
  std::array<CUjit_option, 2> options_{CU_JIT_ERROR_LOG_BUFFER,
                                       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values_{};
};

// `load(CUlibrary*, compiler_log&)` answers the driver's status.
template <class Load>
library_handle load_with_log(const char* function, load_report& report, library_facts facts,
                             Load&& load) {
  compiler_log log;
  CUlibrary raw = nullptr;
  report = {load(&raw, log), function, {}};
  if (report.code != CUDA_SUCCESS) {
    report.log = log.text();
    return {};
  }
  return library_handle::own({}, std::move(facts), [raw](CUlibrary* made) { *made = raw; });
}

}  // namespace

library_handle load_library(const void* image, bool is_ptx, load_report& report) {
  library_facts facts;
  if (is_ptx) facts.signatures = signatures_of_ptx(static_cast<const char*>(image));
  return load_with_log("cuLibraryLoadData", report, std::move(facts),
                       [image](CUlibrary* raw, compiler_log& log) {
                         return driver::table->cuLibraryLoadData(raw, image, log.options(),
                                                                 log.values(), log.count(),
                                                                 nullptr, nullptr, 0);
                       });
}

library_handle load_library_file(const char* path, load_report& report) {
  return load_with_log("cuLibraryLoadFromFile", report, {},
                       [path](CUlibrary* raw, compiler_log& log) {
                         return driver::table->cuLibraryLoadFromFile(raw, path, log.options(),
                                                                     log.values(), log.count(),
                                                                     nullptr, nullptr, 0);
                       });
}

global_variable find_global(const library_handle& library, const char* name) {
  global_variable found;
  driver::call(driver::table->cuLibraryGetGlobal, &found.address, &found.size, library.raw(), name);
  return found;
}

std::vector<std::string> kernel_symbols(const library_handle& library) {
  unsigned count = 0;
  driver::call(driver::table->cuLibraryGetKernelCount, &count, library.raw());
  std::vector<CUkernel> kernels(count);
  driver::call(driver::table->cuLibraryEnumerateKernels, kernels.data(), count, library.raw());
  std::vector<std::string> result;
  for (CUkernel kernel : kernels) {
    const char* name = nullptr;
    driver::call(driver::table->cuKernelGetName, &name, kernel);
    result.emplace_back(name);
  }
  return result;
}

}  // namespace halfwarp::core
