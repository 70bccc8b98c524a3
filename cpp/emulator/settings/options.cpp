// SPDX-License-Identifier: Apache-2.0
// The table of options: parser, formatter and accepted values.
#include "emulator/settings/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "emulator/settings/injection_rule.hpp"
#include "emulator/settings/suppressions.hpp"

namespace halfwarp::emulator {
namespace {

constexpr std::string_view prefix = "HALFWARP_EMULATOR_";

template <class Value>
using named = std::pair<std::string_view, Value>;

constexpr named<run_mode> modes[] = {{"eager", run_mode::eager},
                                     {"async", run_mode::async},
                                     {"adversarial", run_mode::adversarial},
                                     {"null", run_mode::null}};
constexpr named<unsigned> check_names[] = {
    {"memory", check::memory},   {"sync", check::sync},        {"leak", check::leak},
    {"race", check::race},       {"init", check::init},        {"hazard", check::hazard},
    {"barrier", check::barrier}, {"neighbor", check::neighbor}};
constexpr named<unsigned> trace_names[] = {{"api", trace::api}, {"site", trace::site}};
constexpr named<destroyed_use> destroyed_uses[] = {{"report", destroyed_use::report},
                                                   {"abort", destroyed_use::abort},
                                                   {"answer", destroyed_use::answer}};
constexpr named<bool> booleans[] = {{"0", false},  {"1", true},   {"false", false}, {"true", true},
                                    {"no", false}, {"yes", true}, {"False", false}, {"True", true}};
constexpr named<std::pair<int, int>> capabilities[] = {
    {"7.5", {7, 5}},   {"8.0", {8, 0}},   {"8.6", {8, 6}},   {"8.7", {8, 7}},
    {"8.9", {8, 9}},   {"9.0", {9, 0}},   {"10.0", {10, 0}}, {"10.3", {10, 3}},
    {"11.0", {11, 0}}, {"12.0", {12, 0}}, {"12.1", {12, 1}}};

template <class Value, std::size_t N>
std::optional<Value> find_named(const named<Value> (&table)[N], std::string_view text) {
  for (const auto& [name, value] : table) {
    if (name == text) return value;
  }
  return std::nullopt;
}

template <class Value, std::size_t N>
std::string_view name_of(const named<Value> (&table)[N], Value value) {
  for (const auto& [name, known] : table) {
    if (known == value) return name;
  }
  return "";
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (bool is_last = text.empty(); !is_last;) {  // a part after the last comma may be empty
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    is_last = comma == text.npos;
    text.remove_prefix(is_last ? text.size() : comma + 1);
  }
  return parts;
}

template <std::size_t N>
std::optional<unsigned> read_set(const named<unsigned> (&table)[N], std::string_view text,
                                 unsigned all) {
  unsigned bits = 0;
  for (const auto part : split(text)) {
    if (part == "none" || part == "off") continue;
    const auto bit = part == "all" ? std::optional{all} : find_named(table, part);
    if (!bit) return std::nullopt;
    bits |= *bit;
  }
  return bits;
}

template <std::size_t N>
std::string show_set(const named<unsigned> (&table)[N], unsigned bits) {
  std::string text;
  for (const auto& [name, bit] : table) {
    if (bits & bit) text += (text.empty() ? "" : ",") + std::string{name};
  }
  return text.empty() ? "none" : text;
}

std::optional<std::uint64_t> read_number(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses a plain number, or a power of two written 2^N.
std::optional<std::uint64_t> read_count(std::string_view text) {
  if (!text.starts_with("2^")) return read_number(text);
  const auto exponent = read_number(text.substr(2));
  if (!exponent || *exponent > 62) return std::nullopt;
  return std::uint64_t{1} << *exponent;
}

std::optional<std::uint64_t> read_size(std::string_view text) {
  constexpr named<unsigned> units[] = {{"", 0},   {"B", 0},    {"K", 10}, {"KiB", 10},
                                       {"M", 20}, {"MiB", 20}, {"G", 30}, {"GiB", 30}};
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = read_number(text.substr(0, digits));
  auto unit = text.substr(digits);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto shift = find_named(units, unit);
  if (!number || !shift || *number > (UINT64_MAX >> *shift)) return std::nullopt;
  return *number << *shift;
}

template <class Field, class Value>
bool assign(Field& field, const std::optional<Value>& value) {
  if (value) field = *value;
  return value.has_value();
}

template <class Field>
bool assign_within(Field& field, std::optional<std::uint64_t> value, std::uint64_t low,
                   std::uint64_t high) {
  if (!value || *value < low || *value > high) return false;
  field = static_cast<Field>(*value);
  return true;
}

// Parses the capabilities of the devices in order, separated by commas.
std::optional<std::vector<std::pair<int, int>>> read_capabilities(std::string_view text) {
  std::vector<std::pair<int, int>> all;
  for (bool is_last = false; !is_last;) {
    const auto comma = text.find(',');
    const auto match = find_named(capabilities, text.substr(0, comma));
    if (!match) return std::nullopt;
    all.push_back(*match);
    is_last = comma == text.npos;
    text.remove_prefix(is_last ? text.size() : comma + 1);
  }
  return all;
}

std::string show_capabilities(const std::vector<std::pair<int, int>>& all) {
  std::string text;
  for (const auto& [major, minor] : all) {
    text += (text.empty() ? "" : ",") + std::to_string(major) + "." + std::to_string(minor);
  }
  return text;
}

using schedule_ranges = decltype(options::schedule);

// Parses the number of the first choices, or ranges of choices.
std::optional<schedule_ranges> read_schedule(std::string_view text) {
  if (text == "all") return options{}.schedule;
  if (text.empty()) return std::nullopt;
  schedule_ranges ranges;
  if (const auto count = read_number(text)) {
    if (*count) ranges.emplace_back(1, *count);
    return ranges;
  }
  for (const auto part : split(text)) {
    const auto hyphen = std::min(part.find('-'), part.size());
    const auto first = read_number(part.substr(0, hyphen));
    const auto last = read_number(part.substr(std::min(hyphen + 1, part.size())));
    const std::uint64_t before = ranges.empty() ? 0 : ranges.back().second;
    if (!first || !last || *first <= before || *last < *first) return std::nullopt;
    ranges.emplace_back(*first, *last);
  }
  return ranges;
}

std::string show_schedule(const schedule_ranges& ranges) {
  if (ranges == options{}.schedule) return "all";
  if (ranges.empty()) return "0";
  if (ranges.size() == 1 && ranges[0].first == 1) return std::to_string(ranges[0].second);
  std::string text;
  for (const auto& [first, last] : ranges) {
    text += (text.empty() ? "" : ",") + std::to_string(first) + "-" + std::to_string(last);
  }
  return text;
}

std::string problem_of_rules(std::string_view path) {
  std::string problem;
  suppressions::read(std::string{path}, problem);
  return problem;
}

struct entry {
  std::string_view name;
  bool (*read)(options&, std::string_view);
  std::string (*show)(const options&);
  std::string_view accepted;
  std::string (*problem_of)(std::string_view) = nullptr;  // a reason for a value
};

constexpr std::uint64_t smallest_memory = 16 << 20, largest_memory = std::uint64_t{60} << 30;

const entry entries[] = {
    {"devices",
     [](options& o, std::string_view t) { return assign_within(o.devices, read_number(t), 1, 16); },
     [](const options& o) { return std::to_string(o.devices); }, "1 to 16"},
    {"cc",
     [](options& o, std::string_view t) { return assign(o.capabilities, read_capabilities(t)); },
     [](const options& o) { return show_capabilities(o.capabilities); },
     "7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0 or 12.1, or several for several "
     "devices: 9.0,7.5"},
    {"memory",
     [](options& o, std::string_view t) {
       return assign_within(o.memory, read_size(t), smallest_memory, largest_memory);
     },
     [](const options& o) { return std::to_string(o.memory); },
     "16 MiB to 60 GiB, in bytes or with K, M, G, KiB, MiB or GiB"},
    {"multiprocessors",
     [](options& o, std::string_view t) {
       return assign_within(o.multiprocessors, read_number(t), 2, 1024);
     },
     [](const options& o) { return std::to_string(o.multiprocessors); }, "2 to 1024"},
    {"mode", [](options& o, std::string_view t) { return assign(o.mode, find_named(modes, t)); },
     [](const options& o) { return std::string{mode_name(o.mode)}; },
     "eager, async, adversarial or null"},
    {"seed", [](options& o, std::string_view t) { return assign(o.seed, read_number(t)); },
     [](const options& o) { return std::to_string(o.seed); }, "a number of 0 or more"},
    {"schedule",
     [](options& o, std::string_view t) { return assign(o.schedule, read_schedule(t)); },
     [](const options& o) { return show_schedule(o.schedule); },
     "a number of 0 or more; ranges of choices from 1, as 3-3,7-9; all"},
    {"threads",
     [](options& o, std::string_view t) {
       return assign_within(o.threads, read_number(t), 1, 256);
     },
     [](const options& o) { return std::to_string(o.threads); }, "1 to 256"},
    {"check",
     [](options& o, std::string_view t) {
       return assign(o.checks, read_set(check_names, t, check::all));
     },
     [](const options& o) { return show_set(check_names, o.checks); },
     "a comma-separated set of memory, sync, leak, race, init, hazard, barrier and neighbor; all; "
     "none"},
    {"fail",
     [](options& o, std::string_view t) {
       std::string problem;
       o.fail = t;
       parse_rules(t, problem);
       return problem.empty();
     },
     [](const options& o) { return o.fail; }, "rules FUNCTION:N[xTIMES]=CODE, comma-separated"},
    {"trace",
     [](options& o, std::string_view t) {
       return assign(o.traces, read_set(trace_names, t, trace::api | trace::site));
     },
     [](const options& o) {
       return o.traces ? show_set(trace_names, o.traces) : std::string{"off"};
     },
     "a comma-separated set of api and site; off"},
    {"step_limit",
     [](options& o, std::string_view t) {
       return assign_within(o.step_limit, read_count(t), 1, UINT64_MAX);
     },
     [](const options& o) { return std::to_string(o.step_limit); },
     "a number of 1 or more, or 2^N"},
    {"nccl_limit",
     [](options& o, std::string_view t) {
       return assign_within(o.nccl_limit, read_number(t), 1, 86400);
     },
     [](const options& o) { return std::to_string(o.nccl_limit); }, "1 to 86400 seconds"},
    {"report",
     [](options& o, std::string_view t) {
       o.report = t;
       return !t.empty();
     },
     [](const options& o) { return o.report; }, "stderr or the path of a file"},
    {"suppress",
     [](options& o, std::string_view t) {
       if (!t.empty() && !problem_of_rules(t).empty()) return false;
       o.suppress = t;
       return true;
     },
     [](const options& o) { return o.suppress; },
     "the path of a file of rules 'kind kernel-glob file-glob[:line] reason'", problem_of_rules},
    {"strict",
     [](options& o, std::string_view t) { return assign(o.is_strict, find_named(booleans, t)); },
     [](const options& o) { return std::string{o.is_strict ? "1" : "0"}; }, "0 or 1"},
    {"destroyed",
     [](options& o, std::string_view t) {
       return assign(o.destroyed, find_named(destroyed_uses, t));
     },
     [](const options& o) { return std::string{name_of(destroyed_uses, o.destroyed)}; },
     "report, abort or answer"},
    {"fidelity",
     [](options& o, std::string_view t) { return assign(o.fidelity, find_named(booleans, t)); },
     [](const options& o) { return std::string{o.fidelity ? "1" : "0"}; }, "0 or 1"},
    {"profile",
     [](options& o, std::string_view t) {
       o.profile = t;
       return true;
     },
     [](const options& o) { return o.profile; }, "the path of a file"},
    {"fork_in_init",
     [](options& o, std::string_view t) { return assign(o.fork_in_init, find_named(booleans, t)); },
     [](const options& o) { return std::string{o.fork_in_init ? "1" : "0"}; }, "0 or 1"},
};

const entry* find_entry(std::string_view name) {
  const auto* match = std::ranges::find(entries, name, &entry::name);
  return match == std::end(entries) ? nullptr : match;
}

std::string all_names() {
  std::string text;
  for (const auto& e : entries) text += (text.empty() ? "" : ", ") + std::string{e.name};
  return text;
}

}  // namespace

std::string set_option(options& target, std::string_view name, std::string_view value) {
  const entry* match = find_entry(name);
  if (!match) {
    return "the emulator has no option '" + std::string{name} + "'; its options are " + all_names();
  }
  if (match->read(target, value)) return {};
  const std::string refusal = "emulator option '" + std::string{name} + "': '" +
                              std::string{value} + "' is not accepted; it takes " +
                              std::string{match->accepted};
  return match->problem_of ? refusal + " (" + match->problem_of(value) + ")" : refusal;
}

std::string read_environment(options& target) {
  for (char** variable = environ; variable && *variable; ++variable) {
    std::string_view text{*variable};
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals + 1 == text.size()) continue;  // empty = unset
    std::string name{text.substr(0, equals)};
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (auto problem = set_option(target, name, text.substr(equals + 1)); !problem.empty()) {
      return problem + " (from the environment variable " + std::string{prefix} +
             std::string{text.substr(0, equals)} + ")";
    }
  }
  return {};
}

std::span<const std::string_view> option_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(entries)> list;
    std::ranges::transform(entries, list.begin(), &entry::name);
    return list;
  }();
  return names;
}

std::string show_option(const options& source, std::string_view name) {
  const entry* match = find_entry(name);
  return match ? match->show(source) : std::string{};
}

std::string_view mode_name(run_mode mode) { return name_of(modes, mode); }

}  // namespace halfwarp::emulator
