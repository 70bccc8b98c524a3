// SPDX-License-Identifier: Apache-2.0
#include "first_forms.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "../sample.hpp"

namespace halfwarp::tests {
namespace {

std::vector<std::string> split_operands(const std::string& text) {
  std::vector<std::string> list;
  int depth = 0;
  for (const char each : text) {
    depth += each == '{' || each == '[' || each == '(';
    depth -= each == '}' || each == ']' || each == ')';
    if (list.empty()) list.emplace_back();
    if (each == ',' && depth == 0) {
      list.emplace_back();
    } else if (each != ' ' || !list.back().empty()) {
      list.back() += each;
    }
  }
  return list;
}

// Each line has the first version and target by the manual, and a statement.
form form_of(const std::string& line) {
  std::istringstream words{line};
  std::string version, target, rest;
  form read;
  words >> version >> target >> read.name;
  std::getline(words, rest, ';');
  if (!read.name.empty() && read.name.back() == ';') read.name.pop_back();
  const std::size_t dot = version.find('.');
  read.version = 10 * std::stoi(version) + std::stoi(version.substr(dot + 1));
  std::size_t digits = 0;
  read.target = std::stoi(target.substr(3), &digits);
  read.suffix = target.substr(3 + digits);
  read.operands = split_operands(rest);
  return read;
}

using words = std::vector<std::string>;

// Returns the mnemonic and its modifiers, each with its dot.
words parts_of(const std::string& name) {
  words parts{""};
  for (const char each : name) {
    if (each == '.') parts.emplace_back();
    parts.back() += each;
  }
  return parts;
}

std::string joined(const words& parts) {
  std::string text;
  for (const std::string& each : parts) text += each;
  return text;
}

const words types{".b8",    ".b16",    ".b32",  ".b64",   ".b128",  ".u8",   ".u16",
                  ".u32",   ".u64",    ".s8",   ".s16",   ".s32",   ".s64",  ".f16",
                  ".f16x2", ".bf16",   ".f32",  ".f32x2", ".f64",   ".tf32", ".pred",
                  ".b1",    ".e4m3x2", ".e2m1", ".s4",    ".u16x2", ".s8x4", ".bf16x2"};
const words spaces{".global", ".shared", ".shared::cta", ".shared::cluster",
                   ".local",  ".const",  ".param",       ".reg"};
const words further{".u32",
                    ".f64",
                    ".global",
                    ".shared::cluster",
                    ".v2",
                    ".v4",
                    ".sync",
                    ".aligned",
                    ".relaxed",
                    ".volatile",
                    ".cta",
                    ".gpu",
                    ".sat",
                    ".ftz",
                    ".rn",
                    ".rz",
                    ".approx",
                    ".relu",
                    ".L2::cache_hint",
                    ".L1::no_allocate",
                    ".nosuchword"};
const words values{"%p1",      "%h1",
                   "%r1",      "%rd1",
                   "%f1",      "%fd1",
                   "5",        "-1",
                   "64",       "1.5",
                   "[%rd1]",   "[%r1]",
                   "[sm]",     "sm",
                   "_",        "!%p1",
                   "%r1|%p1",  "{%r1, %r2}",
                   "{%h1}",    "%tid.x",
                   "%clock64", "{%f1, %f2, %f3, %f4}"};

bool is_in(const words& list, const std::string& part) {
  return std::ranges::find(list, part) != list.end();
}

// Returns the modifiers of all forms of an instruction that are no types.
const words& modifiers_of(const std::string& mnemonic) {
  static const auto all = [] {
    std::map<std::string, std::set<std::string>> sets;
    for (const form& each : first_forms()) {
      const words parts = parts_of(each.name);
      for (const std::string& part : parts) {
        if (part[0] == '.' && !is_in(types, part)) sets[parts[0]].insert(part);
      }
    }
    std::map<std::string, words> lists;
    for (const auto& [name, set] : sets) lists[name] = {set.begin(), set.end()};
    return lists;
  }();
  static const words none;
  const auto match = all.find(mnemonic);
  return match == all.end() ? none : match->second;
}

}  // namespace

std::string form::problem(const std::string& statement) const {
  return problem_of(version, "sm_" + std::to_string(target) + suffix, statement);
}

std::string statement_of(const std::string& name, const words& operands) {
  std::string list;
  for (const std::string& each : operands) list += (list.empty() ? " " : ", ") + each;
  return name + list + ";";
}

const std::vector<form>& first_forms() {
  static const std::vector<form> all = [] {
    std::vector<form> read;
    std::ifstream file{HALFWARP_DATA "/first_forms.txt"};
    for (std::string line; std::getline(file, line);) read.push_back(form_of(line));
    return read;
  }();
  return all;
}

std::string target_of_neighbors(const form& original) {
  return "sm_" + std::to_string(std::max(original.target, 90)) + original.suffix;
}

words neighbors_of(const form& original) {
  const words parts = parts_of(original.name), &operands = original.operands;
  words list{statement_of(original.name, operands)};
  const auto add = [&](const words& name, const words& with) {
    const std::string text = statement_of(joined(name), with);
    if (!is_in(list, text)) list.push_back(text);
  };
  for (std::size_t n = 0; n < operands.size(); ++n) {
    words with = operands;
    for (const std::string& each : values) add(parts, (with[n] = each, with));
    with.erase(with.begin() + static_cast<std::ptrdiff_t>(n));
    add(parts, with);
  }
  const words& modifiers = modifiers_of(parts[0]);
  const auto last =
      std::ranges::find_if(parts, [](const auto& each) { return is_in(types, each); });
  const auto before_type = last - parts.begin();
  for (const words& each : {modifiers, further}) {
    for (const std::string& part : each) {
      words name = parts;
      name.insert(name.begin() + before_type, part);
      add(name, operands);
    }
  }
  for (std::size_t n = 1; n < parts.size(); ++n) {
    words name = parts;
    name.erase(name.begin() + static_cast<std::ptrdiff_t>(n));
    add(name, operands);
    name.insert(name.begin() + static_cast<std::ptrdiff_t>(n), 2, parts[n]);
    add(name, operands);
    const words& replacements = is_in(types, parts[n])    ? types
                                : is_in(spaces, parts[n]) ? spaces
                                                          : modifiers;
    for (const std::string& each : replacements) {
      name = parts;
      name[n] = each;
      add(name, operands);
    }
  }
  return list;
}

}  // namespace halfwarp::tests
