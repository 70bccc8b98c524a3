// SPDX-License-Identifier: Apache-2.0
// A loaded module whose variables have addresses and whose kernels can be launched.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/exec/managed_variables.hpp"
#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::ptx {
struct module;
}

namespace halfwarp::emulator::exec {

struct program;  // decoded form of a module

struct parameter_layout {
  std::uint32_t offset = 0, size = 0, alignment = 1;  // bytes within the parameter block
};

struct kernel_attributes {
  std::string name;  // as in the PTX, mangled
  std::vector<parameter_layout> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t constant_bytes = 0;               // .const variables of the module
  std::uint32_t local_bytes = 0;                  // per thread, without recursion
  std::uint32_t registers = 16;                   // per thread; an estimate for PTX
  std::uint32_t max_threads = 1024;               // per block
  std::array<std::uint32_t, 3> maximum_block{};   // .maxntid; zeros: absent
  std::array<std::uint32_t, 3> required_block{};  // .reqntid; zeros: absent
  std::array<std::uint32_t, 3> cluster{};         // .reqnctapercluster; zeros: absent
  std::uint32_t minimum_blocks = 0;               // .minnctapersm; 0: absent
  int ptx_version = 0;                            // 10 * major + minor of .version
  int binary_version = 0;                         // from .target: 90 for sm_90
};

// A kernel of an executable. Valid until the executable is destroyed.
class kernel {
 public:
  kernel(const program& owner, std::uint32_t function, kernel_attributes attributes);
  const kernel_attributes& attributes() const noexcept { return attributes_; }
  const std::string& name() const noexcept { return attributes_.name; }
  const program& owner() const noexcept { return *owner_; }
  std::uint32_t function() const noexcept { return function_; }

 private:
  const program* owner_;
  std::uint32_t function_;  // index in the program
  kernel_attributes attributes_;
};

struct variable {
  memory::address base = 0;
  std::uint64_t size = 0;
  bool is_constant = false;
};

struct load_options {
  int device = 0;
  std::uint64_t context = 0;
  std::shared_ptr<managed_variables> managed;  // shared by the modules of a library; else null
  bool restores_managed = true;                // to their initial values: no other module uses them
};

// Owns the variables of a module in the memory of one device and frees them on destruction.
class executable {
 public:
  // Throws load_error if a symbol is missing or an allocation fails.
  static std::shared_ptr<executable> load(std::shared_ptr<const ptx::module> source,
                                          memory::address_space& space,
                                          const load_options& options);
  ~executable();
  executable(const executable&) = delete;  // owns device memory
  executable& operator=(const executable&) = delete;

  const kernel* find_kernel(std::string_view name) const noexcept;
  const std::vector<std::unique_ptr<kernel>>& kernels() const noexcept;
  std::optional<variable> find_variable(std::string_view name) const noexcept;
  int device() const noexcept { return options_.device; }

 private:
  executable(memory::address_space& space, const load_options& options);

  memory::address_space* space_;
  load_options options_;
  std::unique_ptr<program> program_;
};

enum class load_failure : std::uint8_t { out_of_memory, unresolved_symbol, invalid };

struct load_error {
  load_failure reason;
  std::string message;  // contains the symbol and its PTX line
};

}  // namespace halfwarp::emulator::exec
