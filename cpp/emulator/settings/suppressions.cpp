// SPDX-License-Identifier: Apache-2.0
// Parses and applies the rules of known findings.
#include "emulator/settings/suppressions.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

namespace halfwarp::emulator {
namespace {

bool is_match(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

// A glob without a folder names the file in any folder.
bool is_file_match(const std::string& glob, const std::string& file) {
  return is_match(glob, file) || (!file.empty() && is_match("*/" + glob, file));
}

std::string read_file(const std::string& path, std::string& problem) {
  std::ifstream file{path};
  std::ostringstream text;
  // Inserts nothing, and fails, for an empty file. A folder opens, but cannot be read.
  if (file && (file.peek() == std::ifstream::traits_type::eof() || text << file.rdbuf())) {
    if (!file.bad()) return text.str();
  }
  problem = path + ": " + std::generic_category().message(errno);
  return {};
}

}  // namespace

std::optional<suppressions> suppressions::read(const std::string& path, std::string& problem) {
  errno = 0;
  std::istringstream lines{read_file(path, problem)};
  if (!problem.empty()) return std::nullopt;
  suppressions result;
  std::size_t number = 0;
  for (std::string text; std::getline(lines, text);) {
    const std::string place = path + ":" + std::to_string(++number) + ": ";
    std::istringstream fields{text};
    rule each;
    if (!(fields >> each.kind) || each.kind.starts_with('#')) continue;
    std::string reason;
    bool is_complete = static_cast<bool>(fields >> each.kernel >> each.file >> reason);
    if (const auto colon = each.file.find(':'); colon != each.file.npos) {
      const char* const end = each.file.data() + each.file.size();
      const auto parsed = std::from_chars(each.file.data() + colon + 1, end, each.line);
      is_complete &= parsed.ptr == end && parsed.ec == std::errc{};
      each.file.resize(colon);
    }
    if (!is_complete) {
      problem =
          place + "'" + text + "' is not of the form 'kind kernel-glob file-glob[:line] reason'";
      return std::nullopt;
    }
    each.text = place + text;
    result.rules_.push_back(std::move(each));
  }
  return result;
}

bool suppressions::cover(const std::string& kind, const std::string& kernel,
                         const std::string& file, std::uint32_t line) {
  const auto match = std::ranges::find_if(rules_, [&](const rule& each) {
    return is_match(each.kind, kind) && is_match(each.kernel, kernel) &&
           is_file_match(each.file, file) && (!each.line || each.line == line);
  });
  if (match == rules_.end()) return false;
  match->is_used = true;
  return true;
}

std::vector<std::string> suppressions::unused() const {
  std::vector<std::string> texts;
  for (const rule& each : rules_) {
    if (!each.is_used) texts.push_back(each.text);
  }
  return texts;
}

}  // namespace halfwarp::emulator
