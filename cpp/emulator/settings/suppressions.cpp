// SPDX-License-Identifier: Apache-2.0
// Parses and applies the rules of known findings.
#include "emulator/settings/suppressions.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace halfwarp::emulator {
namespace {

bool is_match(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

// A glob without a folder names the file in any folder.
bool is_file_match(const std::string& glob, const std::string& file) {
  return is_match(glob, file) || (!file.empty() && is_match("*/" + glob, file));
}

}  // namespace

std::optional<suppressions> suppressions::read(const std::string& path) {
  std::ifstream file{path};
  if (!file) return std::nullopt;
  suppressions result;
  for (std::string text; std::getline(file, text);) {
    std::istringstream fields{text};
    rule each;
    if (!(fields >> each.kind) || each.kind.starts_with('#')) continue;
    std::string reason;
    if (!(fields >> each.kernel >> each.file >> reason)) return std::nullopt;
    if (const auto colon = each.file.find(':'); colon != each.file.npos) {
      const char* const end = each.file.data() + each.file.size();
      const auto parsed = std::from_chars(each.file.data() + colon + 1, end, each.line);
      if (parsed.ptr != end) return std::nullopt;
      each.file.resize(colon);
    }
    result.rules_.push_back(std::move(each));
  }
  return result;
}

bool suppressions::cover(const std::string& kind, const std::string& kernel,
                         const std::string& file, std::uint32_t line) const {
  return std::ranges::any_of(rules_, [&](const rule& each) {
    return is_match(each.kind, kind) && is_match(each.kernel, kernel) &&
           is_file_match(each.file, file) && (!each.line || each.line == line);
  });
}

}  // namespace halfwarp::emulator
