// SPDX-License-Identifier: Apache-2.0
// What NVRTC compiles for an architecture: machine code, with the PTX of the same program in it.
#include "emulator/control/nvrtc.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <span>
#include <string>

#include "emulator/control/followed.hpp"
#include "emulator/image/elf/cubin_writer.hpp"
#include "emulator/image/elf/elf.hpp"
#include "emulator/image/image.hpp"

namespace halfwarp::emulator::control {
namespace {

using program = void*;
constexpr int success = 0;

struct functions {
  int (*cubin_size)(program, std::size_t*);
  int (*cubin)(program, char*);
  int (*destroy)(program*);
  int (*ptx_size)(program, std::size_t*);
  int (*ptx)(program, char*);
};

extern followed_library nvrtc;

// How large programs were told that their cubins are: no more than that may be written. The last
// ones; for the others there is no room.
struct {
  program of;
  std::size_t bytes;
} told[64];
std::size_t next_told = 0;

void forget(program of) noexcept {
  const std::lock_guard guard{following()};
  for (auto& each : told) {
    if (each.of == of) each = {};
  }
}

void tell(program of, std::size_t bytes) noexcept {
  forget(of);
  const std::lock_guard guard{following()};
  told[next_told++ % std::size(told)] = {of, bytes};
}

bool has_room(program of, std::size_t bytes) noexcept {
  const std::lock_guard guard{following()};
  return std::ranges::any_of(
      told, [&](const auto& each) { return each.of == of && each.bytes == bytes; });
}

std::string fetch(int (*size_of)(program, std::size_t*), int (*content)(program, char*),
                  program of) {
  std::size_t size = 0;
  if (size_of(of, &size) != success) return {};
  std::string made(size, '\0');
  return content(of, made.data()) == success ? made : std::string{};
}

struct compiled {
  std::string cubin, ptx;  // the PTX is empty where the same compilation made none
};

image::bytes bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

compiled fetch_both(const functions& real, program of) {
  compiled made{fetch(real.cubin_size, real.cubin, of), fetch(real.ptx_size, real.ptx, of)};
  made.ptx.resize(std::min(made.ptx.find('\0'), made.ptx.size()));
  return made;
}

// One with line information carries its PTX already, and its lines are counted in that.
std::string with_own_ptx(const compiled& made) {
  const auto carried = image::find_section(bytes_of(made.cubin), image::ptx_section);
  const bool is_there = carried && !carried->empty();
  return made.ptx.empty() || is_there ? made.cubin
                                      : image::with_ptx(bytes_of(made.cubin), made.ptx);
}

int cubin_size(const functions& real, program of, std::size_t* size) noexcept {
  const int status = real.cubin_size(of, size);
  if (status != success || size == nullptr || *size == 0) return status;
  try {
    const std::size_t whole = with_own_ptx(fetch_both(real, of)).size();
    tell(of, whole);
    *size = whole;
  } catch (const std::bad_alloc&) {
    forget(of);
  }
  return status;
}

// The cubin with its PTX in it, or none: then the PTX is known by the bytes of the cubin, in this
// process. That is preferred to what line information carries, since it still has its .loc lines.
std::string keep_ptx(const functions& real, program of) {
  const compiled made = fetch_both(real, of);
  if (made.cubin.empty() || made.ptx.empty()) return {};
  std::string whole = with_own_ptx(made);
  if (whole.size() != made.cubin.size() && has_room(of, whole.size())) return whole;
  image::known_cubins().add(bytes_of(made.cubin), made.ptx);
  return {};
}

int cubin(const functions& real, program of, char* into) noexcept {
  try {
    const std::string whole = into == nullptr ? std::string{} : keep_ptx(real, of);
    std::ranges::copy(whole, into);
    if (!whole.empty()) return success;
  } catch (const std::bad_alloc&) {
    forget(of);
  }
  return real.cubin(of, into);
}

int destroy(const functions& real, program* of) noexcept {
  if (of != nullptr) forget(*of);
  return real.destroy(of);
}

template <auto Body>
constexpr taker* ours = &for_releases<nvrtc, Body>::of;

constexpr followed_function followed[] = {{"nvrtcGetCUBINSize", ours<&cubin_size>},
                                          {"nvrtcGetCUBIN", ours<&cubin>},
                                          {"nvrtcDestroyProgram", ours<&destroy>},
                                          {"nvrtcGetPTXSize", nullptr},
                                          {"nvrtcGetPTX", nullptr}};

constinit followed_library nvrtc{followed};

}  // namespace

void* in_place_of_nvrtc(std::string_view name, void* real) { return nvrtc.in_place_of(name, real); }

}  // namespace halfwarp::emulator::control
