// SPDX-License-Identifier: Apache-2.0
// What a kernel's symbol and its PTX text say about its parameters: kinds, types and names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halfwarp::core {

enum class parameter_kind : std::uint8_t {
  unknown,
  integer,
  integer_or_pointer,  // PTX writes both as .u64
  pointer,
  half,
  bfloat16,
  float32,
  float64,
  aggregate,
};

struct parameter_description {
  parameter_kind kind = parameter_kind::unknown;
  std::uint32_t size = 0;  // in bytes; 0: not said
  std::string type;        // as in C++, or empty
  std::string name;        // empty when the compiler made it up
};

using parameter_descriptions = std::vector<parameter_description>;

struct string_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

// The parameters of each kernel of one module, by symbol.
using kernel_signatures =
    std::unordered_map<std::string, parameter_descriptions, string_hash, std::equal_to<>>;

// The `.entry` functions of a PTX text. What cannot be read is left out, never an error: the driver
// is the judge of PTX.
[[nodiscard]] kernel_signatures signatures_of_ptx(std::string_view text);

// The `.entry` declarations of a PTX text, for signatures_of_ptx to read: what to keep of a text
// that is not kept.
[[nodiscard]] std::string entry_declarations(std::string_view text);

// The parameters named by a mangled C++ symbol; empty when it is not one (extern "C").
[[nodiscard]] parameter_descriptions signature_of_symbol(const std::string& symbol);

// The readable name of a symbol without its parameters: `scale<float>` of `_Z5scaleIfEvPT_`.
[[nodiscard]] std::string readable_name(const std::string& symbol);

}  // namespace halfwarp::core
