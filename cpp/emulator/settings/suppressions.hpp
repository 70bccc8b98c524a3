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
  // Returns nothing if the file cannot be read or a line has another form.
  static std::optional<suppressions> read(const std::string& path);

  // Returns whether a rule covers a finding of a kind in a kernel.
  bool cover(const std::string& kind, const std::string& kernel, const std::string& file,
             std::uint32_t line) const;

 private:
  struct rule {
    std::string kind, kernel, file;
    std::uint32_t line = 0;  // 0: each
  };
  std::vector<rule> rules_;
};

}  // namespace halfwarp::emulator
