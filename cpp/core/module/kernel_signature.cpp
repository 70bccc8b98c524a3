// SPDX-License-Identifier: Apache-2.0
// Parses parameter lists of demangled symbols.
#include "core/module/kernel_signature.hpp"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace halfwarp::core {
namespace {

struct known_type {
  std::string_view name;
  parameter_kind kind;
  std::uint32_t size;
};

constexpr std::array known_types{
    known_type{"bool", parameter_kind::integer, 1},
    known_type{"char", parameter_kind::integer, 1},
    known_type{"signed char", parameter_kind::integer, 1},
    known_type{"unsigned char", parameter_kind::integer, 1},
    known_type{"char8_t", parameter_kind::integer, 1},
    known_type{"short", parameter_kind::integer, 2},
    known_type{"unsigned short", parameter_kind::integer, 2},
    known_type{"char16_t", parameter_kind::integer, 2},
    known_type{"int", parameter_kind::integer, 4},
    known_type{"unsigned int", parameter_kind::integer, 4},
    known_type{"wchar_t", parameter_kind::integer, 4},
    known_type{"char32_t", parameter_kind::integer, 4},
    known_type{"long", parameter_kind::integer, 8},
    known_type{"unsigned long", parameter_kind::integer, 8},
    known_type{"long long", parameter_kind::integer, 8},
    known_type{"unsigned long long", parameter_kind::integer, 8},
    known_type{"float", parameter_kind::float32, 4},
    known_type{"double", parameter_kind::float64, 8},
    known_type{"__half", parameter_kind::half, 2},
    known_type{"__nv_bfloat16", parameter_kind::bfloat16, 2},
};

parameter_description describe(std::string_view type) {
  parameter_description result;
  result.type = type;
  if (type.ends_with('*')) {
    result.kind = parameter_kind::pointer;
    result.size = 8;
    return result;
  }
  for (const known_type& known : known_types) {
    if (known.name == type) {
      result.kind = known.kind;
      result.size = known.size;
    }
  }
  return result;
}

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text{
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free};
  return status == 0 && text ? std::string{text.get()} : std::string{};
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

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

parameter_descriptions signature_of_symbol(const std::string& symbol) {
  const std::string text = demangle(symbol);
  const std::size_t start = parameter_list_start(text);
  parameter_descriptions result;
  if (start == std::string_view::npos) return result;
  const std::string_view list = std::string_view{text}.substr(start + 1, text.size() - start - 2);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    depth += opens(list[i]) - closes(list[i]);
    if (list[i] != ',' || depth != 0) continue;
    result.push_back(describe(trimmed(list.substr(begin, i - begin))));
    begin = i + 1;
  }
  if (!list.empty()) result.push_back(describe(trimmed(list.substr(begin))));
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
