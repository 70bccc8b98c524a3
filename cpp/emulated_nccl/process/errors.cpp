// SPDX-License-Identifier: Apache-2.0
// Stores and reports the texts of errors.
#include "emulated_nccl/process/errors.hpp"

#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "emulated_nccl/process/driver.hpp"

namespace halfwarp::emulated_nccl {
namespace {

constexpr std::size_t max_reports = 100;

struct meaning_entry {
  const char* text;
  int stream_code;
};
constexpr meaning_entry meanings[] = {
    {"no error", CUDA_SUCCESS},
    {"a call of the CUDA driver failed", CUDA_ERROR_UNKNOWN},
    {"a call of the operating system failed", CUDA_ERROR_OPERATING_SYSTEM},
    {"internal error", CUDA_ERROR_UNKNOWN},
    {"invalid argument", CUDA_ERROR_INVALID_VALUE},
    {"invalid usage", CUDA_ERROR_INVALID_VALUE},
    {"another rank failed or its process ended", CUDA_ERROR_EXTERNAL_DEVICE},
    {"the operation is in progress", CUDA_ERROR_NOT_READY},
    {"a rank did not arrive in time", CUDA_ERROR_TIMEOUT},
};

std::string& text_of_thread() noexcept {
  thread_local std::string text;
  return text;
}

// Returns whether the text was not reported before.
bool is_new(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> reported;
  const std::lock_guard guard{mutex};
  return reported.size() < max_reports && reported.insert(text).second;
}

}  // namespace

namespace {

std::string formatted(const char* format, va_list arguments) {
  char text[16384];
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

}  // namespace

std::string text_of(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatted(format, arguments);
  va_end(arguments);
  return text;
}

result failf(result code, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatted(format, arguments);
  va_end(arguments);
  return fail(code, std::move(text));
}

void record_error(std::string text) noexcept { text_of_thread() = std::move(text); }

result fail(result code, std::string text) noexcept {
  if (is_new(text)) {
    if (driver()) {
      driver()->report("nccl", text_of("NCCL: %s", text.c_str()).c_str());
    } else {
      std::fprintf(stderr, "emulator: NCCL: %s\n", text.c_str());
    }
  }
  record_error(std::move(text));
  return code;
}

const char* last_error() noexcept { return text_of_thread().c_str(); }

const char* meaning(result code) noexcept {
  const auto index = static_cast<unsigned>(code);
  return index < std::size(meanings) ? meanings[index].text : "unknown result code";
}

int stream_code(result code) noexcept {
  const auto index = static_cast<unsigned>(code);
  return index < std::size(meanings) ? meanings[index].stream_code : CUDA_ERROR_UNKNOWN;
}

}  // namespace halfwarp::emulated_nccl
