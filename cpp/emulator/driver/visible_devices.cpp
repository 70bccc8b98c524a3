// SPDX-License-Identifier: Apache-2.0
// Parses CUDA_VISIBLE_DEVICES.
#include "emulator/driver/visible_devices.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/device/device.hpp"

namespace halfwarp::emulator {
namespace {

constexpr std::string_view blanks = " \t\n\r\f\v", uuid_prefix = "GPU-";

std::string uuid_text(const options& chosen, int number) {
  const auto [major, minor] = chosen.capability_of(number);
  const CUuuid uuid = device_uuid(*find_architecture(major, minor), number);
  std::string text{uuid_prefix};
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

// Returns the device whose UUID starts with the text, if there is exactly one.
std::optional<int> device_of_uuid(const options& chosen, std::string_view text) {
  std::optional<int> match;
  for (int number = 0; number < chosen.devices; ++number) {
    if (!uuid_text(chosen, number).starts_with(text)) continue;
    if (match) return std::nullopt;
    match = number;
  }
  return match;
}

// Drivers ignore text after the digits of an index.
std::optional<int> device_of_index(const options& chosen, std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_valid = error == std::errc{} && number >= 0 && number < chosen.devices;
  return is_valid ? std::optional{number} : std::nullopt;
}

}  // namespace

std::vector<int> visible_devices(const options& chosen, const char* variable) {
  std::vector<int> result;
  if (variable == nullptr) {
    for (int number = 0; number < chosen.devices; ++number) result.push_back(number);
    return result;
  }
  std::string_view remaining{variable};
  for (bool is_last = false; !is_last;) {
    const auto comma = remaining.find(',');
    is_last = comma == remaining.npos;
    std::string_view element = remaining.substr(0, comma);
    element.remove_prefix(std::min(element.find_first_not_of(blanks), element.size()));
    const auto number = element.starts_with(uuid_prefix) ? device_of_uuid(chosen, element)
                                                         : device_of_index(chosen, element);
    if (!number) break;
    if (std::ranges::find(result, *number) != result.end()) return {};
    result.push_back(*number);
    if (!is_last) remaining.remove_prefix(comma + 1);
  }
  return result;
}

}  // namespace halfwarp::emulator
