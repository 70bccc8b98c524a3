// SPDX-License-Identifier: Apache-2.0
// Counts calls and launches against the armed rules.
#include "emulator/observation/injection.hpp"

#include <algorithm>
#include <utility>

namespace halfwarp::emulator {

bool matches(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const auto remainder = pattern.substr(star + 1);
  for (auto from = star; from <= text.size(); ++from) {
    if (matches(remainder, text.substr(from))) return true;
  }
  return false;
}

std::uint64_t injection::arm(std::string_view rules, std::string& problem) {
  auto parsed_rules = parse_rules(rules, problem);
  if (!problem.empty()) return 0;
  const std::lock_guard lock{mutex_};
  for (auto& rule : parsed_rules) {
    rule.id = next_++;
    rules_.push_back(std::move(rule));
  }
  armed_.store(!rules_.empty(), std::memory_order_relaxed);
  return rules_.empty() ? 0 : rules_.back().id;
}

std::uint64_t injection::disarm(std::uint64_t id, std::uint64_t& seen) {
  const std::lock_guard lock{mutex_};
  const auto match = std::ranges::find(rules_, id, &injection_rule::id);
  if (match == rules_.end()) return 0;
  const auto hits = match->hits;
  seen = match->seen;
  rules_.erase(match);
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
    const bool is_match =
        rule.target == injection_target::any_call
            ? can_fail
            : rule.target == injection_target::call && matches(rule.pattern, function);
    if (is_match && advance(rule) && !code) code = rule.code;
  }
  return code;
}

std::optional<injected_launch> injection::on_launch(std::string_view kernel) {
  const std::lock_guard lock{mutex_};
  std::optional<injected_launch> failure;
  for (auto& rule : rules_) {
    const bool is_match = rule.target == injection_target::launch && matches(rule.pattern, kernel);
    if (is_match && advance(rule) && !failure) failure = {rule.code, rule.is_sticky};
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
