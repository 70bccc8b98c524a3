// SPDX-License-Identifier: Apache-2.0
// Follows what nvJitLink links: the cubin is its own, with the PTX of the inputs in it.
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

#include "emulator/control/followed.hpp"
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
constexpr int ltoir = 3, library = 6;  // NVJITLINK_INPUT_LTOIR, the last kind that has a number

struct functions {
  int (*create)(handle*, std::uint32_t, const char**);
  int (*add_data)(handle, int, const void*, std::size_t, const char*);
  int (*add_file)(handle, int, const char*);
  int (*complete)(handle);
  int (*cubin_size)(handle, std::size_t*);
  int (*cubin)(handle, void*);
  int (*destroy)(handle*);
};

extern followed_library nvjitlink;

struct input {
  int kind;
  std::string content, name;
};

// What is known of a link under way.
struct shadow {
  std::vector<std::string> options;
  std::vector<input> inputs;
  std::string cubin;  // with PTX, once linked

  bool has(std::string_view option) const {
    return std::ranges::find(options, option) != options.end();
  }
};

std::map<handle, shadow>& shadows() {
  static auto* const links = new std::map<handle, shadow>;  // used until the process ends
  return *links;
}

bool is_built_in(std::string_view name) { return exec::find_builtin(name) != nullptr; }

bool is_running() {
  constexpr unsigned closed = lifecycle::obstacle::uninitialised | lifecycle::obstacle::forked;
  return (lifecycle::obstacles.load() & closed) == 0;
}

// The status that a fault rule asks for.
std::optional<int> injected(std::string_view function) {
  if (!is_running() || !the_driver().rules.is_armed()) return std::nullopt;
  const auto code = the_driver().rules.on_call(function, false);
  return code ? std::optional{static_cast<int>(*code)} : std::nullopt;
}

std::uint32_t architecture_of(const shadow& of) {
  constexpr std::string_view option = "-arch=";
  std::uint32_t found = 0;
  for (const std::string& each : of.options) {
    const auto digits = each.find_first_of("0123456789");
    if (!each.starts_with(option) || digits == std::string::npos) continue;
    std::from_chars(each.data() + digits, each.data() + each.size(), found);
  }
  return found;
}

image::bytes bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

std::string fetch_cubin(const functions& real, handle link) {
  std::size_t size = 0;
  if (real.cubin_size(link, &size) != success) return {};
  std::string cubin(size, '\0');
  return real.cubin(link, cubin.data()) == success ? cubin : std::string{};
}

// All that becomes PTX on the way, of LTO-IR too: the same link with line numbers makes a cubin
// that carries it, source by source.
void add_carried(std::vector<link::ptx_input>& texts, const std::string& cubin) {
  for (const image::bytes section : image::find_sections(bytes_of(cubin), image::ptx_section)) {
    std::string text{image::as_text(section)};
    std::ranges::replace(text, '\0', '\n');
    texts.push_back({"LTO-IR", std::move(text)});
  }
}

void add_ptx_of_ltoir(const functions& real, std::vector<link::ptx_input>& texts,
                      const shadow& of) {
  std::vector<const char*> options;
  for (const std::string& each : of.options) options.push_back(each.c_str());
  options.push_back("-lineinfo");
  handle link = nullptr;
  int status = real.create(&link, static_cast<std::uint32_t>(options.size()), options.data());
  for (const input& each : of.inputs) {
    if (status != success) break;
    status =
        real.add_data(link, each.kind, each.content.data(), each.content.size(), each.name.c_str());
  }
  if (status == success && real.complete(link) == success)
    add_carried(texts, fetch_cubin(real, link));
  if (link != nullptr) real.destroy(&link);
}

// The PTX of all inputs as one; what is in the way, in `problem`.
std::string linked_ptx(const functions& real, const shadow& of, std::string& problem) {
  std::vector<link::ptx_input> texts, carried;
  const bool has_ltoir =
      std::ranges::any_of(of.inputs, [](const input& each) { return each.kind == ltoir; });
  if (has_ltoir) add_ptx_of_ltoir(real, carried, of);
  for (const input& each : of.inputs) {
    if (each.kind == ltoir) continue;
    problem = link::add_input(texts, each.name, bytes_of(each.content), architecture_of(of),
                              image::known_cubins());
    if (!problem.empty()) return {};
  }
  for (link::ptx_input& each : carried) {
    if (!link::is_in_others(each.text, texts)) texts.push_back(std::move(each));
  }
  auto linked = link::link_ptx(texts, &is_built_in, of.has("-r") || of.has("-rdc=true"));
  problem = linked.log;
  return std::move(linked.text);
}

void keep_with_ptx(const functions& real, handle link, shadow& of) {
  if (of.has("-ptx")) return;  // there is no cubin
  std::string problem;
  const std::string text = linked_ptx(real, of, problem);
  if (!problem.empty()) {
    std::fprintf(stderr, "emulator: what nvJitLink linked cannot be run here: %s\n",
                 problem.c_str());
    return;
  }
  const std::string cubin = fetch_cubin(real, link);
  of.cubin = image::with_ptx(bytes_of(cubin), text);
}

// Runs with what is known of a link; what goes wrong here leaves nvJitLink's own result.
template <class Body>
void with_shadow(handle link, Body&& body) noexcept {
  try {
    const std::lock_guard guard{following()};
    const auto found = shadows().find(link);
    if (found != shadows().end()) body(found->second);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory while following a link\n", stderr);
  }
}

int create(const functions& real, handle* link, std::uint32_t count,
           const char** options) noexcept {
  if (const auto status = injected("nvJitLinkCreate")) return *status;
  const int status = real.create(link, count, options);
  if (status != success) return status;
  try {
    const std::lock_guard guard{following()};
    shadows()[*link].options.assign(options, options + count);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory while following a link\n", stderr);
  }
  return status;
}

int add_data(const functions& real, handle link, int kind, const void* data, std::size_t size,
             const char* name) noexcept {
  if (const auto status = injected("nvJitLinkAddData")) return *status;
  const int status = real.add_data(link, kind, data, size, name);
  if (status == success && kind <= library && data != nullptr) {
    with_shadow(link, [&](shadow& of) {
      of.inputs.push_back({kind, {static_cast<const char*>(data), size}, name ? name : ""});
    });
  }
  return status;
}

int add_file(const functions& real, handle link, int kind, const char* path) noexcept {
  if (const auto status = injected("nvJitLinkAddFile")) return *status;
  const int status = real.add_file(link, kind, path);
  if (status == success && kind <= library) {
    with_shadow(link, [&](shadow& of) {
      auto content = image::read_file(path);
      if (content) of.inputs.push_back({kind, std::move(*content), path});
    });
  }
  return status;
}

int complete(const functions& real, handle link) noexcept {
  if (const auto status = injected("nvJitLinkComplete")) return *status;
  const int status = real.complete(link);
  if (status != success) return status;
  shadow own;  // worked on without the lock: others link at the same time
  with_shadow(link, [&](shadow& of) { own = of; });
  try {
    keep_with_ptx(real, link, own);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory while following a link\n", stderr);
  }
  with_shadow(link, [&](shadow& of) { of.cubin = std::move(own.cubin); });
  return status;
}

int cubin_size(const functions& real, handle link, std::size_t* size) noexcept {
  if (const auto status = injected("nvJitLinkGetLinkedCubinSize")) return *status;
  const int status = real.cubin_size(link, size);
  if (status == success) {
    with_shadow(link, [&](shadow& of) {
      if (!of.cubin.empty()) *size = of.cubin.size();
    });
  }
  return status;
}

int cubin(const functions& real, handle link, void* into) noexcept {
  if (const auto status = injected("nvJitLinkGetLinkedCubin")) return *status;
  bool is_done = false;
  with_shadow(link, [&](shadow& of) {
    if (of.cubin.empty() || into == nullptr) return;
    std::memcpy(into, of.cubin.data(), of.cubin.size());
    is_done = true;
  });
  return is_done ? success : real.cubin(link, into);
}

// Injected too, but only after the link is gone: a link that stays would be a leak of the test.
int destroy(const functions& real, handle* link) noexcept {
  if (link != nullptr) {
    const std::lock_guard guard{following()};
    shadows().erase(*link);
  }
  const int status = real.destroy(link);
  const auto asked = injected("nvJitLinkDestroy");
  return asked ? *asked : status;
}

template <auto Body>
constexpr taker* ours = &for_releases<nvjitlink, Body>::of;

constexpr followed_function followed[] = {{"nvJitLinkCreate", ours<&create>},
                                          {"nvJitLinkAddData", ours<&add_data>},
                                          {"nvJitLinkAddFile", ours<&add_file>},
                                          {"nvJitLinkComplete", ours<&complete>},
                                          {"nvJitLinkGetLinkedCubinSize", ours<&cubin_size>},
                                          {"nvJitLinkGetLinkedCubin", ours<&cubin>},
                                          {"nvJitLinkDestroy", ours<&destroy>}};

constinit followed_library nvjitlink{followed};

}  // namespace

void* in_place_of_nvjitlink(std::string_view name, void* real) {
  return nvjitlink.in_place_of(name, real);
}

}  // namespace halfwarp::emulator::control
