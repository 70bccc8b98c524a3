// SPDX-License-Identifier: Apache-2.0
// Intercepts NVRTC: a cubin carries the PTX of the same program.
#include "emulator/control/nvrtc.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/control/compile_observer.hpp"
#include "emulator/control/intercepted_library.hpp"
#include "emulator/driver/findings/profile_log.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/image/elf/cubin_writer.hpp"
#include "emulator/image/elf/elf.hpp"
#include "emulator/image/image.hpp"

namespace halfwarp::emulator::control {
namespace {

using program = void*;
constexpr int success = 0;

struct functions {
  int (*create)(program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*add_expression)(program, const char*);
  int (*compile)(program, int, const char* const*);
  int (*cubin_size)(program, std::size_t*);
  int (*cubin)(program, char*);
  int (*destroy)(program*);
  int (*ptx_size)(program, std::size_t*);
  int (*ptx)(program, char*);
};

extern intercepted_library nvrtc;

// The cubin sizes that programs have queried: the buffer of a program holds no more bytes. The
// table holds the last 64; a cubin of another program gets no PTX section.
struct {
  program owner;
  std::size_t bytes;
} sizes[64];
std::size_t next_size = 0;

void erase_size(program target) noexcept {
  const std::lock_guard guard{interception_lock()};
  for (auto& each : sizes) {
    if (each.owner == target) each = {};
  }
}

void record_size(program target, std::size_t bytes) noexcept {
  erase_size(target);
  const std::lock_guard guard{interception_lock()};
  sizes[next_size++ % std::size(sizes)] = {target, bytes};
}

bool has_room(program target, std::size_t bytes) noexcept {
  const std::lock_guard guard{interception_lock()};
  return std::ranges::any_of(
      sizes, [&](const auto& each) { return each.owner == target && each.bytes == bytes; });
}

std::string fetch(int (*size_of)(program, std::size_t*), int (*content)(program, char*),
                  program target) {
  std::size_t size = 0;
  if (size_of(target, &size) != success) return {};
  std::string result(size, '\0');
  return content(target, result.data()) == success ? result : std::string{};
}

struct compiled {
  std::string cubin, ptx;  // the PTX is empty if the compilation wrote none
};

image::bytes bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

compiled fetch_both(const functions& real, program target) {
  compiled compilation{fetch(real.cubin_size, real.cubin, target),
                       fetch(real.ptx_size, real.ptx, target)};
  compilation.ptx.resize(std::min(compilation.ptx.find('\0'), compilation.ptx.size()));
  return compilation;
}

// Adds the PTX, unless line information carries it: line numbers refer to that copy.
std::string with_ptx_section(const compiled& compilation) {
  const auto carried = image::find_section(bytes_of(compilation.cubin), image::ptx_section);
  const bool has_ptx = carried && !carried->empty();
  return compilation.ptx.empty() || has_ptx
             ? compilation.cubin
             : image::with_ptx(bytes_of(compilation.cubin), compilation.ptx);
}

int create(const functions& real, program* target, const char* text, const char* name, int headers,
           const char* const* contents, const char* const* names) noexcept {
  const int status = real.create(target, text, name, headers, contents, names);
  if (status == success) record_source(*target, text, name, headers, contents, names);
  return status;
}

int add_expression(const functions& real, program target, const char* expression) noexcept {
  const int status = real.add_expression(target, expression);
  if (status == success) record_expression(target, expression);
  return status;
}

bool has_lines(std::string_view option) {
  constexpr std::string_view words[] = {"lineinfo", "line-info", "device-debug"};
  return option == "-G" || std::ranges::any_of(words, [&](std::string_view word) {
           return option.find(word) != std::string_view::npos;
         });
}

// A profile names lines, and so does the coverage of code without marks. Line information does not
// change the code.
bool needs_lines(std::span<const char* const> options) {
  const bool is_profiled = !lifecycle::chosen_options().profile.empty() ||
                           the_profile_log().detail() == exec::profile_detail::accesses;
  return (is_profiled || is_observing()) && std::ranges::none_of(options, has_lines);
}

int compile_with_lines(const functions& real, program target,
                       std::span<const char* const> options) {
  if (needs_lines(options)) {
    std::vector<const char*> all(options.begin(), options.end());
    all.push_back("-lineinfo");
    if (real.compile(target, static_cast<int>(all.size()), all.data()) == success) return success;
  }
  return real.compile(target, static_cast<int>(options.size()), options.data());
}

int compile(const functions& real, program target, int count, const char* const* options) noexcept {
  if (count < 0) return real.compile(target, count, options);  // NVRTC refuses the number
  const std::span chosen{options, static_cast<std::size_t>(count)};
  int status = success;
  try {
    status = compile_with_lines(real, target, chosen);
  } catch (const std::bad_alloc&) {
    status = real.compile(target, count, options);
  }
  if (status == success && is_observed(target)) {
    try {
      report_compilation(target, chosen, fetch(real.ptx_size, real.ptx, target));
    } catch (const std::bad_alloc&) {
      erase_source(target);
    }
  }
  return status;
}

int cubin_size(const functions& real, program target, std::size_t* size) noexcept {
  const int status = real.cubin_size(target, size);
  if (status != success || size == nullptr || *size == 0) return status;
  try {
    const std::size_t whole = with_ptx_section(fetch_both(real, target)).size();
    record_size(target, whole);
    *size = whole;
  } catch (const std::bad_alloc&) {
    erase_size(target);
  }
  return status;
}

// Returns the cubin with its PTX, or an empty text if the buffer is too small. Then the PTX is
// registered by the bytes of the cubin; the registry has priority over the PTX of line information,
// since its text still has .loc lines.
std::string cubin_with_ptx(const functions& real, program target) {
  const compiled compilation = fetch_both(real, target);
  if (compilation.cubin.empty() || compilation.ptx.empty()) return {};
  std::string whole = with_ptx_section(compilation);
  if (whole.size() != compilation.cubin.size() && has_room(target, whole.size())) return whole;
  image::compiled_cubins().add(bytes_of(compilation.cubin), compilation.ptx);
  return {};
}

int cubin(const functions& real, program target, char* buffer) noexcept {
  try {
    const std::string whole = buffer == nullptr ? std::string{} : cubin_with_ptx(real, target);
    std::ranges::copy(whole, buffer);
    if (!whole.empty()) return success;
  } catch (const std::bad_alloc&) {
    erase_size(target);
  }
  return real.cubin(target, buffer);
}

int destroy(const functions& real, program* target) noexcept {
  if (target != nullptr) {
    erase_size(*target);
    erase_source(*target);
  }
  return real.destroy(target);
}

template <auto Body>
constexpr replacement_for* replacement = &for_releases<nvrtc, Body>::get;

constexpr intercepted_function intercepted[] = {
    {"nvrtcCreateProgram", replacement<&create>},
    {"nvrtcAddNameExpression", replacement<&add_expression>},
    {"nvrtcCompileProgram", replacement<&compile>},
    {"nvrtcGetCUBINSize", replacement<&cubin_size>},
    {"nvrtcGetCUBIN", replacement<&cubin>},
    {"nvrtcDestroyProgram", replacement<&destroy>},
    {"nvrtcGetPTXSize", nullptr},
    {"nvrtcGetPTX", nullptr}};

constinit intercepted_library nvrtc{intercepted};

}  // namespace

void* replace_nvrtc(std::string_view name, void* real) { return nvrtc.replacement_of(name, real); }

}  // namespace halfwarp::emulator::control
