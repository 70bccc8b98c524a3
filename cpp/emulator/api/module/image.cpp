// SPDX-License-Identifier: Apache-2.0
// Finds and parses the PTX of images, and writes error logs.
#include "emulator/image/image.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulator/api/module/module_call.hpp"
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/exec/decode/kernel_layout.hpp"
#include "emulator/image/elf/elf.hpp"
#include "emulator/image/file.hpp"
#include "emulator/link/ptx_linker.hpp"
#include "emulator/ptx/verification/verifier.hpp"
#include "emulator/report/fault.hpp"
#include "emulator/report/foreign_runtime.hpp"

namespace halfwarp::emulator::api {

CUresult code_of(image::failure reason) {
  switch (reason) {
    case image::failure::invalid_image:
      return CUDA_ERROR_INVALID_IMAGE;
    case image::failure::no_binary:
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case image::failure::no_decompressor:
      return CUDA_ERROR_NOT_SUPPORTED;
    case image::failure::out_of_memory:
      break;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}

namespace {

// The names of templates may have thousands of characters, and texts a limit.
std::string short_name(const std::string& kernel) {
  constexpr std::size_t longest = 120;
  std::string name = report::demangled(kernel);
  if (name.size() > longest) name.replace(longest, std::string::npos, "...");
  return name;
}

[[noreturn]] void refuse_image(jit_options& options, CUresult code, const std::string& text) {
  options.write_error_log(text);
  refuse(code, text);
}

// The version of PTX that the compilers of the emulated driver's CUDA release write.
constexpr std::uint32_t newest_ptx_major = 9, newest_ptx_minor = 5;

void require_known_version(const ptx::module& parsed, jit_options& options) {
  const std::pair version{parsed.version_major, parsed.version_minor};
  if (version <= std::pair{newest_ptx_major, newest_ptx_minor}) return;
  refuse_image(options, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
               "the PTX has version " + std::to_string(version.first) + "." +
                   std::to_string(version.second) + ", the emulated driver supports " +
                   std::to_string(newest_ptx_major) + "." + std::to_string(newest_ptx_minor) +
                   " and older");
}

std::shared_ptr<ptx::module> parse(const std::string& text, jit_options& options) {
  auto parsed = ptx::parse_verified(text);
  if (!parsed) refuse_image(options, CUDA_ERROR_INVALID_PTX, parsed.log);
  require_known_version(*parsed.value, options);
  const auto target = parsed.value->target_architecture();
  if (target > device_architecture()) {
    refuse_image(options, CUDA_ERROR_NO_BINARY_FOR_GPU,
                 "the PTX is for sm_" + std::to_string(target) + ", the device has sm_" +
                     std::to_string(device_architecture()) +
                     "; compile for an older target, or set the emulator's option `cc`");
  }
  return parsed.value;
}

// A text that the program loads must define what it calls, as for a driver. A linked program may
// call what is missing, if its kernels do not.
void require_defined_functions(const ptx::module& parsed, jit_options& options) {
  for (const ptx::function& caller : parsed.functions) {
    for (const ptx::instruction& each : caller.instructions) {
      if (each.opcode != ptx::opcode::call) continue;
      for (const ptx::operand& o : caller.operands_of(each)) {
        if (o.kind != ptx::operand_kind::symbol || o.symbol != ptx::symbol_kind::function) continue;
        const ptx::function& called = parsed.functions[o.index];
        if (called.is_definition || exec::find_builtin(called.name)) continue;
        refuse_image(options, CUDA_ERROR_INVALID_PTX,
                     "line " + std::to_string(each.line) + ": unresolved extern function '" +
                         std::string{called.name} + "'");
      }
    }
  }
}

// The limit of ptxas for the variables of a kernel; memory beyond it must be dynamic.
constexpr std::uint32_t most_shared_bytes = 48 * 1024;

void require_small_shared_variables(const ptx::module& parsed, jit_options& options) {
  std::uint64_t sum = 0;
  const auto add = [&](const ptx::variable& each) {
    if (each.space == ptx::state_space::shared) sum += std::min(each.size, most_shared_bytes + 1ul);
  };
  std::ranges::for_each(parsed.variables, add);
  for (const ptx::function& each : parsed.functions) std::ranges::for_each(each.variables, add);
  if (sum <= most_shared_bytes) return;  // the usual case, without a look at the kernels
  for (std::uint32_t i = 0; i < parsed.functions.size(); ++i) {
    if (!parsed.functions[i].is_entry) continue;
    if (exec::compute_layout(parsed, i).static_shared_bytes <= most_shared_bytes) continue;
    refuse_image(options, CUDA_ERROR_INVALID_PTX,
                 "entry function '" + std::string{parsed.functions[i].name} +
                     "' uses too much shared data (at most 49152 bytes); use dynamic memory");
  }
}

std::shared_ptr<const ptx::module> open_bytes(image::bytes data, jit_options& options) {
  const auto match = image::find_ptx(data, device_architecture(), image::compiled_cubins());
  if (!match) {
    if (match.error.reason == image::failure::no_binary) {
      report::code_without_ptx(short_name(match.error.kernel));
    }
    refuse_image(options, code_of(match.error.reason), text_of(match.error));
  }
  auto parsed = parse(match.source->text, options);
  require_small_shared_variables(*parsed, options);
  const bool is_linked = match.source->text.starts_with(link::linked_mark);
  if (match.source->from == image::origin::ptx_text && !is_linked) {
    require_defined_functions(*parsed, options);
  }
  for (ptx::function& each : parsed->functions) {
    const auto registers = match.source->registers.find(each.name);
    if (registers != match.source->registers.end()) each.machine_registers = registers->second;
  }
  return parsed;
}

}  // namespace

std::string text_of(const image::image_error& problem) {
  if (problem.kernel.empty()) return problem.message;
  return "kernel '" + short_name(problem.kernel) + "': " + problem.message;
}

// Returns the newest architecture, since a module is loaded for all devices.
std::uint32_t device_architecture() {
  int newest = 0;
  for (const auto& each : the_driver().devices) {
    newest = std::max(newest, each->kind().major * 10 + each->kind().minor);
  }
  return static_cast<std::uint32_t>(newest);
}

jit_options::jit_options(unsigned count, CUjit_option* names, void** values)
    : names_{names, count}, values_{values} {
  require(count == 0 || (names && values), CUDA_ERROR_INVALID_VALUE, "the list of options is null");
}

void** jit_options::find(CUjit_option name) const {
  const auto match = std::ranges::find(names_, name);
  return match == names_.end() ? nullptr : values_ + (match - names_.begin());
}

// The value of a size option is the size itself, not a pointer; receives the bytes written.
void jit_options::write(CUjit_option buffer, const std::string& text) {
  const auto size_name = buffer == CU_JIT_ERROR_LOG_BUFFER ? CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
                                                           : CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES;
  void** const target = find(buffer);
  void** const size = find(size_name);
  if (!target || !*target || !size) return;
  const auto capacity = reinterpret_cast<std::uintptr_t>(*size) & 0xffff'ffff;
  if (capacity == 0) return;
  const auto length = std::min<std::uintptr_t>(text.size(), capacity - 1);
  auto* const bytes = static_cast<char*>(*target);
  std::memcpy(bytes, text.data(), length);
  bytes[length] = '\0';
  *size = reinterpret_cast<void*>(length);
}

std::shared_ptr<const ptx::module> open_image(const void* image, jit_options& options) {
  require(image != nullptr, CUDA_ERROR_INVALID_VALUE, "the image is null");
  return open_bytes(image::view_of(image), options);
}

std::shared_ptr<const ptx::module> open_image_file(const char* path, jit_options& options) {
  require(path != nullptr, CUDA_ERROR_INVALID_VALUE, "the file name is null");
  const auto content = image::read_file(path);
  if (!content)
    refuse(CUDA_ERROR_FILE_NOT_FOUND, "the file '" + std::string{path} + "' cannot be read");
  return open_bytes(std::as_bytes(std::span{*content}), options);
}

}  // namespace halfwarp::emulator::api
