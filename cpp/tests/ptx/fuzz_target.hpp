// SPDX-License-Identifier: Apache-2.0
// What the fuzzer does with one input.
#pragma once

#include <cstddef>
#include <cstdint>

// Parses, verifies, prints, parses again and analyses; looks for an image in the bytes as well.
// Aborts when the second module differs from the first.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
