// SPDX-License-Identifier: Apache-2.0
// Parses parameter lists of demangled symbols.
#include "core/module/kernel_signature.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <memory>

namespace halfwarp::core {
namespace {

struct known_type {
  std::string_view name;
  parameter_kind kind;
  std::uint32_t size;
};

// Device code uses the signedness of char and wchar_t that the host has.
template <class Integer>
constexpr parameter_kind kind_of_integer =
    std::numeric_limits<Integer>::is_signed ? parameter_kind::signed_integer
                                            : parameter_kind::unsigned_integer;

constexpr std::array known_types{
    known_type{"bool", parameter_kind::boolean, 1},
    known_type{"char", kind_of_integer<char>, 1},
    known_type{"signed char", parameter_kind::signed_integer, 1},
    known_type{"unsigned char", parameter_kind::unsigned_integer, 1},
    known_type{"char8_t", parameter_kind::unsigned_integer, 1},
    known_type{"short", parameter_kind::signed_integer, 2},
    known_type{"unsigned short", parameter_kind::unsigned_integer, 2},
    known_type{"char16_t", parameter_kind::unsigned_integer, 2},
    known_type{"int", parameter_kind::signed_integer, 4},
    known_type{"unsigned int", parameter_kind::unsigned_integer, 4},
    known_type{"wchar_t", kind_of_integer<wchar_t>, 4},
    known_type{"char32_t", parameter_kind::unsigned_integer, 4},
    known_type{"long", parameter_kind::signed_integer, 8},
    known_type{"unsigned long", parameter_kind::unsigned_integer, 8},
    known_type{"long long", parameter_kind::signed_integer, 8},
    known_type{"unsigned long long", parameter_kind::unsigned_integer, 8},
    known_type{"__int128", parameter_kind::signed_integer, 16},
    known_type{"unsigned __int128", parameter_kind::unsigned_integer, 16},
    known_type{"decltype(nullptr)", parameter_kind::pointer, 8},
    known_type{"float", parameter_kind::float32, 4},
    known_type{"double", parameter_kind::float64, 8},
    known_type{"__half", parameter_kind::half, 2},
    known_type{"_Float16", parameter_kind::half, 2},
    known_type{"__nv_bfloat16", parameter_kind::bfloat16, 2},
    known_type{"__bf16", parameter_kind::bfloat16, 2},
    known_type{"std::bfloat16_t", parameter_kind::bfloat16, 2},
    known_type{"__nv_fp8_e4m3", parameter_kind::float8_e4m3, 1},
    known_type{"__nv_fp8_e5m2", parameter_kind::float8_e5m2, 1},
    known_type{"__nv_fp8_e8m0", parameter_kind::float8_e8m0, 1},
    known_type{"__nv_fp6_e2m3", parameter_kind::float6_e2m3, 1},
    known_type{"__nv_fp6_e3m2", parameter_kind::float6_e3m2, 1},
    known_type{"__nv_fp4_e2m1", parameter_kind::float4_e2m1, 1},
};

constexpr std::array vector_elements{"char",     "uchar",     "short", "ushort", "int",  "uint",
                                     "longlong", "ulonglong", "float", "double", "long", "ulong"};

// Returns whether the type is a vector of the CUDA headers, such as float2, __half2 or dim3.
bool is_vector(std::string_view type) {
  if (type == "dim3") return true;
  for (const std::string_view prefix : {"__half2", "__nv_bfloat162", "__nv_fp"}) {
    if (type.starts_with(prefix)) return true;
  }
  const char count = type.empty() ? '0' : type.back();
  return count >= '1' && count <= '4' &&
         std::ranges::find(vector_elements, type.substr(0, type.size() - 1)) !=
             vector_elements.end();
}

bool is_name(std::string_view type) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  if (type.starts_with(unnamed)) type.remove_prefix(unnamed.size());
  return std::ranges::all_of(type, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  });
}

// Returns the kind of a type that is not in the table. A name such as `traits<int>::type` may
// stand for any type.
parameter_kind kind_of_other(std::string_view type) {
  if (type.ends_with('*') || type.ends_with('&') || type.find("(*)") != std::string_view::npos) {
    return parameter_kind::pointer;
  }
  // The closing brackets of a template's arguments and of a lambda.
  if (is_vector(type) || type.ends_with('>') || type.ends_with('}')) {
    return parameter_kind::aggregate;
  }
  return is_name(type) ? parameter_kind::class_or_enum : parameter_kind::unknown;
}

parameter_description describe(std::string_view type) {
  parameter_description result;
  result.type = type;
  const auto known = std::ranges::find(known_types, type, &known_type::name);
  if (known != known_types.end()) {
    result.kind = known->kind;
    result.size = known->size;
    return result;
  }
  result.kind = kind_of_other(type);
  if (result.kind == parameter_kind::pointer) result.size = 8;
  return result;
}

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return {};
  const std::unique_ptr<char, void (*)(void*)> text{
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr), &std::free};
  return text ? std::string{text.get()} : std::string{};
}

constexpr bool opens(char c) { return c == '(' || c == '<' || c == '[' || c == '{'; }
constexpr bool closes(char c) { return c == ')' || c == '>' || c == ']' || c == '}'; }

// Returns the position of the bracket that matches the final ')' of a demangled function, or npos.
std::size_t parameter_list_start(std::string_view text) {
  if (!text.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (closes(text[i])) ++depth;
    if (opens(text[i]) && --depth == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

parameter_descriptions signature_of_symbol(const std::string& symbol) {
  const std::string text = demangle(symbol);
  const std::size_t start = parameter_list_start(text);
  if (start == std::string_view::npos) return {};
  parameter_descriptions result;
  const std::string_view list = std::string_view{text}.substr(start + 1, text.size() - start - 2);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    depth += opens(list[i]) - closes(list[i]);
    if (depth > 0 || !list.substr(i).starts_with(", ")) continue;
    result.push_back(describe(list.substr(begin, i - begin)));
    begin = i + 2;
  }
  if (!list.empty()) result.push_back(describe(list.substr(begin)));
  return result;
}

std::string readable_name(const std::string& symbol) {
  const std::string text = demangle(symbol);
  const std::size_t end = parameter_list_start(text);
  if (end == std::string_view::npos) return symbol;
  // A template's demangled name starts with its return type, "void " for every kernel.
  const std::string_view name = std::string_view{text}.substr(0, end);
  return std::string{name.starts_with("void ") ? name.substr(5) : name};
}

}  // namespace halfwarp::core
