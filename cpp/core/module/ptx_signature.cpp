// SPDX-License-Identifier: Apache-2.0
// Reading the parameter lists of `.entry` functions from PTX text.
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
    ptx_type{".s8", parameter_kind::integer, 1},
    ptx_type{".u16", parameter_kind::integer, 2},
    ptx_type{".s16", parameter_kind::integer, 2},
    ptx_type{".u32", parameter_kind::integer, 4},
    ptx_type{".s32", parameter_kind::integer, 4},
    ptx_type{".s64", parameter_kind::integer, 8},
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

// Splits PTX into words (with their leading dot), numbers and single punctuation characters.
class ptx_words {
 public:
  explicit ptx_words(std::string_view text) : rest_{text} {}

  // The next word; empty at the end of the text.
  std::string_view next() {
    skip_blanks();
    if (rest_.empty()) return {};
    std::size_t length = 1;
    if (rest_[0] == '.' || is_identifier(rest_[0])) {
      while (length < rest_.size() && is_identifier(rest_[length])) ++length;
    }
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

  // Goes past the next `.entry`; false when there is none. Function bodies are jumped over by a
  // plain text search, so that a large module costs one scan.
  bool find_entry() {
    for (;;) {
      const std::size_t at = rest_.find(".entry");
      if (at == std::string_view::npos) return false;
      const std::size_t line = rest_.rfind('\n', at) + 1;
      const bool in_comment = rest_.substr(line, at - line).find("//") != std::string_view::npos;
      rest_.remove_prefix(at + 6);
      if (!in_comment && (rest_.empty() || !is_identifier(rest_[0]))) return true;
    }
  }

  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  void skip_blanks() {
    for (;;) {
      while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
        rest_.remove_prefix(1);
      }
      if (rest_.starts_with("//")) {
        skip_past("\n");
      } else if (rest_.starts_with("/*")) {
        skip_past("*/");
      } else {
        return;
      }
    }
  }

  void skip_past(std::string_view end) {
    const std::size_t at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }

  std::string_view rest_;
};

std::uint32_t number(std::string_view word) {
  std::uint32_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

// Reads one parameter, the word `.param` being gone; sets `end` to the word after it.
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

// Compilers call the parameters of `f` f_param_0, f_param_1...: no name to show.
bool is_made_up(std::string_view name, std::string_view entry) {
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
      if (is_made_up(parameter.name, entry)) parameter.name.clear();
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
    const std::string_view start = words.rest();
    words.next();  // the name
    std::string_view word = words.next();
    if (word == "(") {
      while (!word.empty() && word != ")") word = words.next();
    }
    const std::string_view declaration = start.substr(0, start.size() - words.rest().size());
    result.append(".entry").append(declaration).append("\n");
  }
  return result;
}

}  // namespace halfwarp::core
