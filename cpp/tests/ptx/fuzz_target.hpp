// SPDX-License-Identifier: Apache-2.0
// The function that the fuzzer calls with each input.
#pragma once

#include <cstddef>
#include <cstdint>

// Parses, verifies, prints, parses again and analyzes an input; also looks for an image in it.
// Aborts if the second module differs from the first.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
