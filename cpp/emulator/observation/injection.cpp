// SPDX-License-Identifier: Apache-2.0
// Rules of fault injection: their text, and their counting.
#include "emulator/observation/injection.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "emulator/process/error_names.hpp"

namespace halfwarp::emulator {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::pair<std::string_view, std::string_view> cut(std::string_view text, char at) {
  const auto place = text.rfind(at);
  if (place == std::string_view::npos) return {text, {}};
  return {text.substr(0, place), text.substr(place + 1)};
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

bool matches(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const auto rest = pattern.substr(star + 1);
  for (auto from = star; from <= text.size(); ++from) {
    if (matches(rest, text.substr(from))) return true;
  }
  return false;
}

std::optional<CUresult> parse_code(std::string_view text) {
  int number = 0;
  if (!read_number(text, number)) {
    const auto* found = find_error(text);
    return found && found->code != CUDA_SUCCESS ? std::optional{found->code} : std::nullopt;
  }
  const auto* found = find_error(static_cast<CUresult>(number));
  return found && number != 0 ? std::optional{found->code} : std::nullopt;
}

std::uint64_t injection::arm(std::string_view rules, std::string& problem) {
  std::vector<injection_rule> read;
  while (!rules.empty()) {
    const auto comma = rules.find(',');
    const auto text = rules.substr(0, comma);
    rules.remove_prefix(comma == std::string_view::npos ? rules.size() : comma + 1);
    if (!read_rule(text, read.emplace_back())) {
      problem = "fault rule '" + std::string{text} +
                "' is not understood; a rule is FUNCTION:N[xTIMES]=CODE, launch@KERNEL:N=CODE[!], "
                "any:N=CODE or delay@STREAM=MILLISECONDS, with a CUresult name or number as CODE";
      return 0;
    }
  }
  const std::lock_guard lock{mutex_};
  for (auto& rule : read) {
    rule.id = next_++;
    rules_.push_back(std::move(rule));
  }
  armed_.store(!rules_.empty(), std::memory_order_relaxed);
  return rules_.empty() ? 0 : rules_.back().id;
}

std::uint64_t injection::disarm(std::uint64_t id, std::uint64_t& seen) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(rules_, id, &injection_rule::id);
  if (found == rules_.end()) return 0;
  const auto hits = found->hits;
  seen = found->seen;
  rules_.erase(found);
  armed_.store(!rules_.empty(), std::memory_order_relaxed);
  return hits;
}

void injection::clear() {
  const std::lock_guard lock{mutex_};
  rules_.clear();
  armed_.store(false, std::memory_order_relaxed);
}

injection_rule* injection::advance(injection_rule& rule) {
  ++rule.seen;
  if (rule.seen < rule.first || rule.seen - rule.first >= rule.times) return nullptr;
  ++rule.hits;
  return &rule;
}

std::optional<CUresult> injection::on_call(std::string_view function, bool can_fail) {
  const std::lock_guard lock{mutex_};
  std::optional<CUresult> code;
  for (auto& rule : rules_) {
    const bool concerns =
        rule.target == injection_target::any_call
            ? can_fail
            : rule.target == injection_target::call && matches(rule.pattern, function);
    if (concerns && advance(rule) && !code) code = rule.code;
  }
  return code;
}

std::optional<injected_launch> injection::on_launch(std::string_view kernel) {
  const std::lock_guard lock{mutex_};
  std::optional<injected_launch> failure;
  for (auto& rule : rules_) {
    const bool concerns = rule.target == injection_target::launch && matches(rule.pattern, kernel);
    if (concerns && advance(rule) && !failure) failure = {rule.code, rule.is_sticky};
  }
  return failure;
}

unsigned injection::delay_of(std::uint64_t stream) {
  const std::lock_guard lock{mutex_};
  const auto text = std::to_string(stream);
  for (auto& rule : rules_) {
    if (rule.target == injection_target::delay && matches(rule.pattern, text)) {
      ++rule.hits;
      return rule.milliseconds;
    }
  }
  return 0;
}

}  // namespace halfwarp::emulator
