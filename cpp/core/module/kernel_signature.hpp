// SPDX-License-Identifier: Apache-2.0
// Kinds, types and names of kernel parameters, from the symbol and the PTX text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halfwarp::core {

enum class parameter_kind : std::uint8_t {
  unknown,
  integer,  // of unknown sign: PTX compilers write int and unsigned as .u32
  signed_integer,
  unsigned_integer,
  boolean,
  integer_or_pointer,  // PTX writes both as .u64
  pointer,
  aggregate,
  class_or_enum,  // a symbol does not distinguish them; only in descriptions of symbols
  // Floating-point numbers, see is_floating(). PTX writes all below float32 as aggregates.
  float4_e2m1,
  float6_e2m3,
  float6_e3m2,
  float8_e4m3,
  float8_e5m2,
  float8_e8m0,
  half,
  bfloat16,
  float32,
  float64,
};

[[nodiscard]] constexpr bool is_floating(parameter_kind kind) noexcept {
  return kind >= parameter_kind::float4_e2m1;
}

struct parameter_description {
  parameter_kind kind = parameter_kind::unknown;
  std::uint32_t size = 0;  // in bytes; 0: unknown
  std::string type;        // C++ type, or empty
  std::string name;        // empty if the compiler generated it
};

using parameter_descriptions = std::vector<parameter_description>;

struct string_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

// Parameters of each kernel of a module, by symbol.
using kernel_signatures =
    std::unordered_map<std::string, parameter_descriptions, string_hash, std::equal_to<>>;

// Parses the `.entry` functions of a PTX text. Skips malformed ones: the driver reports errors.
[[nodiscard]] kernel_signatures signatures_of_ptx(std::string_view text);

// Extracts the `.entry` declarations of a PTX text, for signatures_of_ptx(). They replace a text
// that is not retained.
[[nodiscard]] std::string entry_declarations(std::string_view text);

// Parses the parameters from a mangled C++ symbol; returns none for another symbol (extern "C").
[[nodiscard]] parameter_descriptions signature_of_symbol(const std::string& symbol);

// Returns a symbol's readable name without parameters: `scale<float>` for `_Z5scaleIfEvPT_`.
[[nodiscard]] std::string readable_name(const std::string& symbol);

}  // namespace halfwarp::core
