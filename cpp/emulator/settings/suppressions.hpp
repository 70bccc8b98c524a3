// SPDX-License-Identifier: Apache-2.0
// Rules of known findings, from the file of option `suppress`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halfwarp::emulator {

class suppressions {
 public:
  // Reads rules `kind kernel-glob file-glob[:line] reason`, one a line; # begins a comment.
  // Returns nothing, and writes the problem, if the file cannot be read or a line has another form.
  static std::optional<suppressions> read(const std::string& path, std::string& problem);

  // Returns whether a rule covers a finding of a kind in a kernel.
  bool cover(const std::string& kind, const std::string& kernel, const std::string& file,
             std::uint32_t line);
  // Returns the rules that covered no finding, each with its place: "known.txt:3: race k * why".
  std::vector<std::string> unused() const;

 private:
  struct rule {
    std::string kind, kernel, file;
    std::uint32_t line = 0;  // 0: each
    std::string text;        // with its place
    bool is_used = false;
  };
  std::vector<rule> rules_;
};

}  // namespace halfwarp::emulator
