// SPDX-License-Identifier: Apache-2.0
// The errors of calls: their texts, and the last one of a thread.
#pragma once

#include <string>

#include "emulated_nccl/interface.hpp"

namespace halfwarp::emulated_nccl {

// Formats a text as printf does.
[[gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...);

// Records the text as the last error of this thread, reports it once per process, and returns
// `code`. The second form formats the text as printf does.
result fail(result code, std::string text) noexcept;
[[gnu::format(printf, 2, 3)]] result failf(result code, const char* format, ...) noexcept;

// Records the text without a report, for an error that another rank has reported.
void record_error(std::string text) noexcept;

// Returns the last error of this thread; empty if there was none.
const char* last_error() noexcept;

// Returns the meaning of a code.
const char* meaning(result code) noexcept;

// The code that the stream of a failed operation returns.
int stream_code(result code) noexcept;

}  // namespace halfwarp::emulated_nccl
