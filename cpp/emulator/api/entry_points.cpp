// SPDX-License-Identifier: Apache-2.0
// Finds driver functions by name, version and kind of default stream.
#include "emulator/api/entry_points.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "emulator/api.hpp"
#include "emulator/api/first_variants.hpp"
#include "emulator/driver/lifecycle.hpp"

namespace halfwarp::emulator::api {

thread_local constinit bool per_thread_streams::active_ = false;

namespace {

struct by_name {
  bool operator()(const entry_point& e, const char* n) const { return std::strcmp(e.name, n) < 0; }
  bool operator()(const char* n, const entry_point& e) const { return std::strcmp(n, e.name) < 0; }
};

bool is_null_driver() { return lifecycle::chosen_options().mode == run_mode::null; }

void* pick(const entry_point& entry, cuuint64_t flags) {
  if (is_null_driver()) return entry.null_function;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  return per_thread && entry.per_thread ? entry.per_thread : entry.function;
}

struct search {
  const entry_point* match;  // the last variant that the version of the caller covers
  bool has_name;
};

search find(std::span<const entry_point> all, const char* symbol, int version) {
  const auto variants = std::equal_range(all.begin(), all.end(), symbol, by_name{});
  const auto after = std::find_if(variants.first, variants.second,
                                  [&](const entry_point& e) { return e.version > version; });
  return {after == variants.first ? nullptr : &*std::prev(after),
          variants.first != variants.second};
}

}  // namespace

CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* symbolStatus) noexcept {
  constexpr cuuint64_t both =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !pfn || flags > both || (flags & both) == both || cudaVersion > CUDA_VERSION) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  search result = find(entry_points(), symbol, cudaVersion);
  if (!result.match) {
    const search older = find(first_variants(), symbol, cudaVersion);
    result = {older.match, result.has_name || older.has_name};
  }
  *pfn = result.match ? pick(*result.match, flags) : nullptr;
  if (symbolStatus) {
    *symbolStatus = *pfn              ? CU_GET_PROC_ADDRESS_SUCCESS
                    : result.has_name ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::emulator::api

// The variant of CUDA 11.3, without an output for the status.
#undef cuGetProcAddress
extern "C" [[gnu::visibility("default")]] CUresult cuGetProcAddress(const char* symbol, void** pfn,
                                                                    int cudaVersion,
                                                                    cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

// Called by the loader of cuda.bindings if HALFWARP_BACKEND=auto finds no GPU.
extern "C" [[gnu::visibility("default")]] void halfwarp_emulator_chosen_because(const char* why) {
  halfwarp::emulator::lifecycle::set_choice_reason(why);
}
