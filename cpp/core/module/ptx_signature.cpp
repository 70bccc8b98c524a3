// SPDX-License-Identifier: Apache-2.0
// Parses the parameter lists of `.entry` functions in PTX text.
#include <array>
#include <cctype>
#include <charconv>

#include "core/module/kernel_signature.hpp"

namespace halfwarp::core {
namespace {

struct ptx_type {
  std::string_view name;
  parameter_kind kind;
  std::uint32_t size;
};

constexpr std::array ptx_types{
    ptx_type{".u8", parameter_kind::integer, 1},
    ptx_type{".s8", parameter_kind::signed_integer, 1},
    ptx_type{".u16", parameter_kind::integer, 2},
    ptx_type{".s16", parameter_kind::signed_integer, 2},
    ptx_type{".u32", parameter_kind::integer, 4},
    ptx_type{".s32", parameter_kind::signed_integer, 4},
    ptx_type{".s64", parameter_kind::signed_integer, 8},
    ptx_type{".u64", parameter_kind::integer_or_pointer, 8},
    ptx_type{".f16", parameter_kind::half, 2},
    ptx_type{".bf16", parameter_kind::bfloat16, 2},
    ptx_type{".f32", parameter_kind::float32, 4},
    ptx_type{".f64", parameter_kind::float64, 8},
    ptx_type{".b8", parameter_kind::unknown, 1},
    ptx_type{".b16", parameter_kind::unknown, 2},
    ptx_type{".b32", parameter_kind::unknown, 4},
    ptx_type{".b64", parameter_kind::unknown, 8},
};

bool is_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

// Splits PTX into words (with a leading dot), numbers and single punctuation characters.
class ptx_words {
 public:
  explicit ptx_words(std::string_view text) : remaining_{text} {}

  // Returns the next word; empty at the end of the text.
  std::string_view next() {
    skip_blanks();
    if (remaining_.empty()) return {};
    std::size_t length = 1;
    if (remaining_[0] == '.' || is_identifier(remaining_[0])) {
      while (length < remaining_.size() && is_identifier(remaining_[length])) ++length;
    }
    const std::string_view word = remaining_.substr(0, length);
    remaining_.remove_prefix(length);
    return word;
  }

  // Advances past the next `.entry`; returns false if there is none. A plain text search skips
  // function bodies, so that a large module costs one scan.
  bool find_entry() {
    for (;;) {
      const std::size_t at = remaining_.find(".entry");
      if (at == std::string_view::npos) return false;
      const std::size_t line = remaining_.rfind('\n', at) + 1;
      const bool in_comment =
          remaining_.substr(line, at - line).find("//") != std::string_view::npos;
      remaining_.remove_prefix(at + 6);
      if (!in_comment && (remaining_.empty() || !is_identifier(remaining_[0]))) return true;
    }
  }

  [[nodiscard]] std::string_view remaining() const { return remaining_; }

 private:
  void skip_blanks() {
    for (;;) {
      while (!remaining_.empty() && std::isspace(static_cast<unsigned char>(remaining_[0]))) {
        remaining_.remove_prefix(1);
      }
      if (remaining_.starts_with("//")) {
        skip_past("\n");
      } else if (remaining_.starts_with("/*")) {
        skip_past("*/");
      } else {
        return;
      }
    }
  }

  void skip_past(std::string_view end) {
    const std::size_t at = remaining_.find(end);
    remaining_.remove_prefix(at == std::string_view::npos ? remaining_.size() : at + end.size());
  }

  std::string_view remaining_;
};

std::uint32_t number(std::string_view word) {
  std::uint32_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

// Parses one parameter after the word `.param`; sets `end` to the word after it.
parameter_description read_parameter(ptx_words& words, std::string_view& end) {
  parameter_description result;
  for (end = words.next(); !end.empty() && end != "," && end != ")"; end = words.next()) {
    if (end == ".align") {
      words.next();
    } else if (end == ".ptr") {
      result.kind = parameter_kind::pointer;
    } else if (end == "[") {
      result.kind = parameter_kind::aggregate;
      result.size *= number(words.next());
    } else if (end[0] != '.' && is_identifier(end[0])) {
      result.name = end;
    }
    for (const ptx_type& type : ptx_types) {
      if (type.name == end) {
        result.kind = type.kind;
        result.size = type.size;
      }
    }
  }
  return result;
}

// Compilers name the parameters of `f` f_param_0, f_param_1 and so on, which are not worth showing.
bool is_generated_name(std::string_view name, std::string_view entry) {
  return name.starts_with(entry) && name.substr(entry.size()).starts_with("_param_");
}

}  // namespace

kernel_signatures signatures_of_ptx(std::string_view text) {
  kernel_signatures result;
  ptx_words words{text};
  while (words.find_entry()) {
    const std::string_view entry = words.next();
    parameter_descriptions parameters;
    std::string_view word = words.next();
    if (word == "(") word = words.next();
    while (word == ".param") {
      parameter_description parameter = read_parameter(words, word);
      if (is_generated_name(parameter.name, entry)) parameter.name.clear();
      parameters.push_back(std::move(parameter));
      if (word == ",") word = words.next();
    }
    result.insert_or_assign(std::string{entry}, std::move(parameters));
  }
  return result;
}

std::string entry_declarations(std::string_view text) {
  std::string result;
  ptx_words words{text};
  while (words.find_entry()) {
    const std::string_view start = words.remaining();
    words.next();  // the name
    std::string_view word = words.next();
    if (word == "(") {
      while (!word.empty() && word != ")") word = words.next();
    }
    const std::string_view declaration = start.substr(0, start.size() - words.remaining().size());
    result.append(".entry").append(declaration).append("\n");
  }
  return result;
}

}  // namespace halfwarp::core
