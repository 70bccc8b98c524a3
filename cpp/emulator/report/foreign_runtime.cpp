// SPDX-License-Identifier: Apache-2.0
// Reports programs and libraries that contain NVIDIA's runtime or code without PTX.
#include "emulator/report/foreign_runtime.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

namespace halfwarp::emulator::report {
namespace {

// The first table that every release of the runtime needs. Its content is undocumented. Programs do
// without some of the other tables. Closed libraries do not, and some of them ask for no other one.
constexpr unsigned char needed_table[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                          0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

// Finds the nearest caller outside this library that `accepts` takes.
template <class Condition>
bool find_caller(Dl_info* caller, Condition accepts) noexcept {
  constexpr int depth = 16;
  void* frames[depth];
  Dl_info own{};
  if (!dladdr(reinterpret_cast<const void*>(&foreign_runtime), &own)) return false;
  const int count = backtrace(frames, depth);
  for (int i = 0; i < count; ++i) {
    const bool is_other = dladdr(frames[i], caller) && caller->dli_fbase != own.dli_fbase;
    if (is_other && accepts(*caller)) return true;
  }
  return false;
}

bool is_new(const void* object) {
  static std::mutex lock;
  static auto* const reported = new std::set<const void*>;  // outlives exit handlers
  const std::scoped_lock guard{lock};
  return reported->insert(object).second;
}

std::string_view file_name(const char* path) noexcept {
  const char* const slash = path ? std::strrchr(path, '/') : nullptr;
  return slash ? slash + 1 : path ? path : "the program";
}

// Libraries that NVIDIA publishes without their sources; nobody else can build them.
bool is_closed_library(std::string_view name) noexcept {
  constexpr std::string_view beginnings[] = {
      "libcublas",   "libcudnn",    "libcufft", "libcurand", "libcusolver",
      "libcusparse", "libcutensor", "libnpp",   "libnvjpeg",
  };
  return std::ranges::any_of(beginnings, [=](auto each) { return name.starts_with(each); });
}

struct finding {
  const char *problem, *remedy;
};

constexpr const char* closed_remedy =
    "test the code that calls it on a GPU, or replace the calls in the test";

void write(std::string_view name, const finding& text) noexcept {
  std::fprintf(stderr, "emulator: %.*s %s; %s\n", static_cast<int>(name.size()), name.data(),
               text.problem, text.remedy);
}

finding finding_on(std::string_view name, std::string_view path) noexcept {
  if (path.find("/cuda/bindings/") != std::string_view::npos) {
    return {
        "of the package cuda-bindings contains NVIDIA's CUDA runtime, which the emulator cannot "
        "serve",
        "install halfwarp in this environment, in place of cuda-bindings"};
  }
  if (name.starts_with("libcudart.so")) {
    return {"is NVIDIA's CUDA runtime, which the emulator cannot serve",
            "start the program with `halfwarp emulate exec PROGRAM`"};
  }
  if (is_closed_library(name)) {
    return {"contains NVIDIA's CUDA runtime and kernels without PTX, so its functions fail here",
            closed_remedy};
  }
  return {"contains NVIDIA's CUDA runtime, which the emulator cannot serve",
          "build it with `nvcc -cudart shared` (for any build system: "
          "NVCC_APPEND_FLAGS=\"-cudart shared\"; for CMake: "
          "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared)"};
}

}  // namespace

void foreign_runtime(const CUuuid& table) noexcept {
  Dl_info caller{};
  if (!find_caller(&caller, [](const Dl_info&) { return true; })) return;
  const std::string_view name = file_name(caller.dli_fname);
  const bool is_needed = std::memcmp(&table, needed_table, sizeof needed_table) == 0;
  if ((!is_needed && !is_closed_library(name)) || !is_new(caller.dli_fbase)) return;
  write(name, finding_on(name, caller.dli_fname ? caller.dli_fname : ""));
}

// The library may call the runtime, which calls the driver.
void code_without_ptx(const std::string& kernel) noexcept {
  Dl_info caller{};
  const auto is_closed = [](const Dl_info& each) {
    return is_closed_library(file_name(each.dli_fname));
  };
  if (!find_caller(&caller, is_closed) || !is_new(caller.dli_fbase)) return;
  const std::string_view name = file_name(caller.dli_fname);
  const bool is_named = !kernel.empty();
  std::fprintf(
      stderr, "emulator: %.*s contains kernels without PTX%s%s%s, so its functions fail here; %s\n",
      static_cast<int>(name.size()), name.data(), is_named ? ", such as '" : "", kernel.c_str(),
      is_named ? "'" : "", closed_remedy);
}

}  // namespace halfwarp::emulator::report
