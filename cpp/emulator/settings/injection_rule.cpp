// SPDX-License-Identifier: Apache-2.0
// Parses the rules of fault injection.
#include "emulator/settings/injection_rule.hpp"

#include <charconv>
#include <utility>

#include "emulator/settings/error_names.hpp"

namespace halfwarp::emulator {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator) {
  const auto position = text.rfind(separator);
  if (position == std::string_view::npos) return {text, {}};
  return {text.substr(0, position), text.substr(position + 1)};
}

bool read_occurrence(std::string_view text, injection_rule& rule) {
  const auto [first, times] = cut(text, 'x');
  return read_number(first, rule.first) && rule.first > 0 &&
         (times.empty() || (read_number(times, rule.times) && rule.times > 0));
}

bool read_rule(std::string_view text, injection_rule& rule) {
  auto [subject, result] = cut(text, '=');
  if (subject.starts_with("delay@")) {
    rule.target = injection_target::delay;
    rule.pattern = subject.substr(6);
    return !rule.pattern.empty() && read_number(result, rule.milliseconds);
  }
  const auto [pattern, occurrence] = cut(subject, ':');
  rule.pattern = pattern;
  if (pattern.starts_with("launch@")) {
    rule.target = injection_target::launch;
    rule.pattern = pattern.substr(7);
    rule.is_sticky = result.ends_with('!');
    if (rule.is_sticky) result.remove_suffix(1);
  } else if (pattern == "any") {
    rule.target = injection_target::any_call;
  }
  const auto code = parse_code(result);
  if (code) rule.code = *code;
  return code && !rule.pattern.empty() && read_occurrence(occurrence, rule);
}

}  // namespace

std::optional<CUresult> parse_code(std::string_view text) {
  int number = 0;
  if (!read_number(text, number)) {
    const auto* match = find_error(text);
    return match && match->code != CUDA_SUCCESS ? std::optional{match->code} : std::nullopt;
  }
  const auto* match = find_error(static_cast<CUresult>(number));
  return match && number != 0 ? std::optional{match->code} : std::nullopt;
}

std::vector<injection_rule> parse_rules(std::string_view text, std::string& problem) {
  std::vector<injection_rule> rules;
  problem.clear();
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto rule = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (!read_rule(rule, rules.emplace_back())) {
      problem = "fault rule '" + std::string{rule} +
                "' is not understood; a rule is FUNCTION:N[xTIMES]=CODE, launch@KERNEL:N=CODE[!], "
                "any:N=CODE or delay@STREAM=MILLISECONDS, with a CUresult name or number as CODE";
      return {};
    }
  }
  return rules;
}

}  // namespace halfwarp::emulator
