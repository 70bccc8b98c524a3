// SPDX-License-Identifier: Apache-2.0
// Reads a file.
#pragma once

#include <fstream>
#include <optional>
#include <string>

namespace halfwarp::emulator::image {

// Returns nullopt if the file is not readable, such as a folder. Stream iterators would throw.
inline std::optional<std::string> read_file(const char* path) {
  std::ifstream file{path, std::ios::binary};
  std::string content;
  char block[1 << 12];
  while (file.read(block, sizeof block), file.gcount() > 0) {
    content.append(block, static_cast<std::size_t>(file.gcount()));
  }
  return file.eof() ? std::optional{std::move(content)} : std::nullopt;
}

}  // namespace halfwarp::emulator::image
