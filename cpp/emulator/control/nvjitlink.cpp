// SPDX-License-Identifier: Apache-2.0
// Intercepts nvJitLink: the linked cubin carries the PTX of the inputs.
#include "emulator/control/nvjitlink.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/control/compile_observer.hpp"
#include "emulator/control/intercepted_library.hpp"
#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/image/elf/cubin_writer.hpp"
#include "emulator/image/elf/elf.hpp"
#include "emulator/image/file.hpp"
#include "emulator/image/image.hpp"
#include "emulator/link/input.hpp"

namespace halfwarp::emulator::control {
namespace {

using handle = void*;
constexpr int success = 0;
constexpr int ltoir = 3, library = 6;  // NVJITLINK_INPUT_LTOIR, the last numbered input kind

struct functions {
  int (*create)(handle*, std::uint32_t, const char**);
  int (*add_data)(handle, int, const void*, std::size_t, const char*);
  int (*add_file)(handle, int, const char*);
  int (*complete)(handle);
  int (*cubin_size)(handle, std::size_t*);
  int (*cubin)(handle, void*);
  int (*destroy)(handle*);
  int (*ptx_size)(handle, std::size_t*);
  int (*ptx)(handle, char*);
};

extern intercepted_library nvjitlink;

struct input {
  int kind;
  std::string content, name;
};

// The recorded state of a link in progress.
struct link_record {
  std::vector<std::string> options;
  std::vector<input> inputs;
  std::string cubin;  // with PTX, once linked

  bool has(std::string_view option) const {
    return std::ranges::find(options, option) != options.end();
  }
};

std::map<handle, link_record>& link_records() {
  static auto* const links = new std::map<handle, link_record>;  // used until the process ends
  return *links;
}

bool is_built_in(std::string_view name) { return exec::find_builtin(name) != nullptr; }

bool is_running() {
  constexpr unsigned closed = lifecycle::obstacle::uninitialized | lifecycle::obstacle::forked;
  return (lifecycle::obstacles.load() & closed) == 0;
}

// Returns the status that a fault rule requires.
std::optional<int> injected(std::string_view function) {
  if (!is_running() || !the_driver().rules.is_armed()) return std::nullopt;
  const auto code = the_driver().rules.on_call(function, false);
  return code ? std::optional{static_cast<int>(*code)} : std::nullopt;
}

std::uint32_t architecture_of(const link_record& record) {
  constexpr std::string_view option = "-arch=";
  std::uint32_t sm = 0;
  for (const std::string& each : record.options) {
    const auto digits = each.find_first_of("0123456789");
    if (!each.starts_with(option) || digits == std::string::npos) continue;
    std::from_chars(each.data() + digits, each.data() + each.size(), sm);
  }
  return sm;
}

image::bytes bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

std::string fetch_cubin(const functions& real, handle link) {
  std::size_t size = 0;
  if (real.cubin_size(link, &size) != success) return {};
  std::string cubin(size, '\0');
  return real.cubin(link, cubin.data()) == success ? cubin : std::string{};
}

std::string fetch_ptx(const functions& real, handle link) {
  std::size_t size = 0;
  if (real.ptx_size(link, &size) != success) return {};
  std::string text(size, '\0');
  return real.ptx(link, text.data()) == success ? std::string{text.c_str()} : std::string{};
}

// Adds the PTX that a cubin with line information carries: nvJitLink writes a section for each
// source, also for LTO-IR.
void add_carried(std::vector<link::ptx_input>& texts, const std::string& cubin) {
  for (const auto& [name, section] : image::find_sections(bytes_of(cubin), image::ptx_section)) {
    std::string text{image::as_text(section)};
    std::ranges::replace(text, '\0', '\n');
    texts.push_back({"LTO-IR", std::move(text)});
  }
}

void add_ptx_of_ltoir(const functions& real, std::vector<link::ptx_input>& texts,
                      const link_record& record) {
  std::vector<const char*> options;
  for (const std::string& each : record.options) options.push_back(each.c_str());
  options.push_back("-lineinfo");
  const bool needs_lines = is_observing();  // the text in a cubin has no .loc lines
  if (needs_lines) options.push_back("-ptx");
  handle link = nullptr;
  int status = real.create(&link, static_cast<std::uint32_t>(options.size()), options.data());
  for (const input& each : record.inputs) {
    if (status != success) break;
    status =
        real.add_data(link, each.kind, each.content.data(), each.content.size(), each.name.c_str());
  }
  if (status == success && real.complete(link) == success) {
    if (needs_lines) {
      texts.push_back({"LTO-IR", fetch_ptx(real, link)});
    } else {
      add_carried(texts, fetch_cubin(real, link));
    }
  }
  if (link != nullptr) real.destroy(&link);
}

// Links the PTX of all inputs to one text; writes the reason of a failure to `problem`.
std::string linked_ptx(const functions& real, const link_record& record, std::string& problem) {
  std::vector<link::ptx_input> texts, carried;
  const bool has_ltoir =
      std::ranges::any_of(record.inputs, [](const input& each) { return each.kind == ltoir; });
  if (has_ltoir) add_ptx_of_ltoir(real, carried, record);
  for (const input& each : record.inputs) {
    if (each.kind == ltoir) continue;
    const auto error = link::add_input(texts, each.name, bytes_of(each.content),
                                       architecture_of(record), image::compiled_cubins());
    if (error) {
      problem = error->message;
      return {};
    }
  }
  for (link::ptx_input& each : carried) {
    if (!link::defines_same_symbol(each.text, texts)) texts.push_back(std::move(each));
  }
  auto linked =
      link::link_ptx(texts, &is_built_in, {record.has("-r") || record.has("-rdc=true"), true});
  problem = linked.log;
  return std::move(linked.text);
}

void store_cubin_with_ptx(const functions& real, handle link, link_record& record) {
  if (record.has("-ptx")) return;  // there is no cubin
  std::string problem;
  const std::string text = linked_ptx(real, record, problem);
  if (!problem.empty()) {
    std::fprintf(stderr, "emulator: code linked by nvJitLink cannot be emulated: %s\n",
                 problem.c_str());
    return;
  }
  const std::string cubin = fetch_cubin(real, link);
  record.cubin = image::with_ptx(bytes_of(cubin), text);
}

// Calls `body` with the record of a link; out of memory leaves nvJitLink's own result.
template <class Body>
void with_record(handle link, Body&& body) noexcept {
  try {
    const std::lock_guard guard{interception_lock()};
    const auto match = link_records().find(link);
    if (match != link_records().end()) body(match->second);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory while recording a link\n", stderr);
  }
}

int create(const functions& real, handle* link, std::uint32_t count,
           const char** options) noexcept {
  if (const auto status = injected("nvJitLinkCreate")) return *status;
  const int status = real.create(link, count, options);
  if (status != success) return status;
  try {
    const std::lock_guard guard{interception_lock()};
    link_records()[*link].options.assign(options, options + count);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory while recording a link\n", stderr);
  }
  return status;
}

int add_data(const functions& real, handle link, int kind, const void* data, std::size_t size,
             const char* name) noexcept {
  if (const auto status = injected("nvJitLinkAddData")) return *status;
  const int status = real.add_data(link, kind, data, size, name);
  if (status == success && kind <= library && data != nullptr) {
    with_record(link, [&](link_record& record) {
      record.inputs.push_back({kind, {static_cast<const char*>(data), size}, name ? name : ""});
    });
  }
  return status;
}

int add_file(const functions& real, handle link, int kind, const char* path) noexcept {
  if (const auto status = injected("nvJitLinkAddFile")) return *status;
  const int status = real.add_file(link, kind, path);
  if (status == success && kind <= library) {
    with_record(link, [&](link_record& record) {
      auto content = image::read_file(path);
      if (content) record.inputs.push_back({kind, std::move(*content), path});
    });
  }
  return status;
}

int complete(const functions& real, handle link) noexcept {
  if (const auto status = injected("nvJitLinkComplete")) return *status;
  const int status = real.complete(link);
  if (status != success) return status;
  link_record copy;  // used without the lock, so that other threads can link concurrently
  with_record(link, [&](link_record& record) { copy = record; });
  try {
    store_cubin_with_ptx(real, link, copy);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory while recording a link\n", stderr);
  }
  with_record(link, [&](link_record& record) { record.cubin = std::move(copy.cubin); });
  return status;
}

int cubin_size(const functions& real, handle link, std::size_t* size) noexcept {
  if (const auto status = injected("nvJitLinkGetLinkedCubinSize")) return *status;
  const int status = real.cubin_size(link, size);
  if (status == success) {
    with_record(link, [&](link_record& record) {
      if (!record.cubin.empty()) *size = record.cubin.size();
    });
  }
  return status;
}

int cubin(const functions& real, handle link, void* buffer) noexcept {
  if (const auto status = injected("nvJitLinkGetLinkedCubin")) return *status;
  bool is_copied = false;
  with_record(link, [&](link_record& record) {
    if (record.cubin.empty() || buffer == nullptr) return;
    std::memcpy(buffer, record.cubin.data(), record.cubin.size());
    is_copied = true;
  });
  return is_copied ? success : real.cubin(link, buffer);
}

// A fault rule applies only after the link was destroyed, since a test would leak the link.
int destroy(const functions& real, handle* link) noexcept {
  if (link != nullptr) {
    const std::lock_guard guard{interception_lock()};
    link_records().erase(*link);
  }
  const int result = real.destroy(link);
  const auto status = injected("nvJitLinkDestroy");
  return status ? *status : result;
}

template <auto Body>
constexpr replacement_for* replacement = &for_releases<nvjitlink, Body>::get;

constexpr intercepted_function intercepted[] = {
    {"nvJitLinkCreate", replacement<&create>},
    {"nvJitLinkAddData", replacement<&add_data>},
    {"nvJitLinkAddFile", replacement<&add_file>},
    {"nvJitLinkComplete", replacement<&complete>},
    {"nvJitLinkGetLinkedCubinSize", replacement<&cubin_size>},
    {"nvJitLinkGetLinkedCubin", replacement<&cubin>},
    {"nvJitLinkDestroy", replacement<&destroy>},
    {"nvJitLinkGetLinkedPtxSize", nullptr},
    {"nvJitLinkGetLinkedPtx", nullptr}};

constinit intercepted_library nvjitlink{intercepted};

}  // namespace

void* replace_nvjitlink(std::string_view name, void* real) {
  return nvjitlink.replacement_of(name, real);
}

}  // namespace halfwarp::emulator::control
