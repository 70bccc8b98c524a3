// SPDX-License-Identifier: Apache-2.0
// Implements printf in kernels.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "emulator/exec/access.hpp"
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/exec/check/init/init_checker.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

// Limit of a width and a precision: a kernel must not fill the host's memory or disk.
constexpr std::uint32_t max_width = 1 << 16;

// Reads the arguments, which the compiler stored consecutively, each aligned to its size.
class argument_reader {
 public:
  argument_reader(warp& w, const instruction& call, int lane, std::uint64_t address)
      : w_{w}, call_{call}, lane_{lane}, address_{address} {}

  template <class T>
  T next() {
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (auto* definedness = w_.block->launch->definedness) {
      definedness->use_argument(w_, call_, lane_, address_, sizeof(T));
    }
    read_generic(w_, lane_, address_, &value, sizeof(T));
    address_ += sizeof(T);
    ++count_;
    return value;
  }
  std::uint32_t count() const { return count_; }

 private:
  warp& w_;
  const instruction& call_;
  int lane_;
  std::uint64_t address_;
  std::uint32_t count_ = 0;
};

// A conversion specification. "%-8.3lld" has the flag '-', width 8, precision 3, 64 bits and
// letter 'd'.
struct conversion {
  std::string text;  // as it is in the format
  std::string flags;
  std::optional<std::uint32_t> width, precision;
  bool has_width_argument = false;  // '*'
  bool is_64_bit = false;
  int short_levels = 0;  // h: 1, hh: 2
  char letter = 0;

  // Returns the specification for snprintf without its letter.
  std::string start() const {
    std::string result = "%" + flags;
    if (width) result += std::to_string(*width);
    if (precision) result += "." + std::to_string(*precision);
    return result;
  }
};

template <class... Values>
std::string formatted(const std::string& format, Values... values) {
  const int length = std::snprintf(nullptr, 0, format.c_str(), values...);
  if (length < 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), values...);
  text.pop_back();
  return text;
}

class formatter {
 public:
  formatter(warp& w, const instruction& call, int lane, std::string format)
      : w_{w},
        lane_{lane},
        format_{std::move(format)},
        arguments_{w, call, lane, builtin_argument(w, call, lane, 1)} {}

  std::string run() {
    std::string text;
    while (at_ < format_.size()) {
      std::size_t percent = format_.find('%', at_);
      text.append(format_, at_, percent - at_);
      if (percent == std::string::npos) break;
      at_ = percent + 1;
      conversion c = read_conversion(percent);
      text += convert(c);
    }
    return text;
  }
  std::uint32_t count() const { return arguments_.count(); }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  bool is_at_digit() const { return std::isdigit(static_cast<unsigned char>(peek())) != 0; }

  // Reads digits; a larger number than the limit is the limit.
  std::uint32_t read_number() {
    std::uint32_t number = 0;
    for (; is_at_digit(); ++at_) {
      number = std::min(number * 10 + static_cast<std::uint32_t>(peek() - '0'), max_width);
    }
    return number;
  }

  // Devices accept '*' as a width, but not as a precision.
  conversion read_conversion(std::size_t percent) {
    conversion c;
    while (peek() && std::strchr("-+ #0", peek())) c.flags += format_[at_++];
    if (peek() == '*') {
      c.has_width_argument = true;
      ++at_;
    } else if (is_at_digit()) {
      c.width = read_number();
    }
    if (peek() == '.') {
      ++at_;
      c.precision = read_number();
    }
    for (; peek() && std::strchr("hlLjzt", peek()); ++at_) {
      if (peek() == 'h')
        ++c.short_levels;
      else
        c.is_64_bit = true;
    }
    c.letter = peek();
    at_ = std::min(at_ + 1, format_.size());
    c.text = format_.substr(percent, at_ - percent);
    return c;
  }

  // A negative width aligns to the left.
  void read_width_argument(conversion& c) {
    const std::int64_t width = arguments_.next<std::int32_t>();
    if (width < 0) c.flags += '-';
    c.width = static_cast<std::uint32_t>(std::min<std::int64_t>(std::abs(width), max_width));
  }

  std::string convert(conversion& c) {
    const bool is_known = c.letter && std::strchr("diuoxXfFeEgGaAcsp", c.letter);
    if (is_known && c.has_width_argument) read_width_argument(c);
    switch (c.letter) {
      case 'd':
      case 'i':
        return convert_signed(c);
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return convert_unsigned(c);
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return formatted(c.start() + c.letter, arguments_.next<double>());
      case 'c':
        return formatted(c.start() + 'c', arguments_.next<std::int32_t>());
      case 's':
        return convert_text(c);
      case 'p':
        return formatted(c.start() + 'p', arguments_.next<const void*>());
      case '%':
        return "%";
      default:
        return c.text;  // unknown, or at the end of the format: printed unchanged
    }
  }

  std::string convert_signed(const conversion& c) {
    if (c.is_64_bit) return formatted(c.start() + "ll" + c.letter, arguments_.next<long long>());
    std::int32_t value = arguments_.next<std::int32_t>();
    if (c.short_levels == 1) value = static_cast<std::int16_t>(value);
    if (c.short_levels == 2) value = static_cast<std::int8_t>(value);
    return formatted(c.start() + c.letter, value);
  }
  std::string convert_unsigned(const conversion& c) {
    if (c.is_64_bit) {
      return formatted(c.start() + "ll" + c.letter, arguments_.next<unsigned long long>());
    }
    std::uint32_t value = arguments_.next<std::uint32_t>();
    if (c.short_levels == 1) value = static_cast<std::uint16_t>(value);
    if (c.short_levels == 2) value = static_cast<std::uint8_t>(value);
    return formatted(c.start() + c.letter, value);
  }
  std::string convert_text(const conversion& c) {
    std::uint64_t address = arguments_.next<std::uint64_t>();
    std::string text = address ? read_text(w_, lane_, address) : "(null)";
    return formatted(c.start() + 's', text.c_str());
  }

  warp& w_;
  int lane_;
  std::string format_;
  argument_reader arguments_;
  std::size_t at_ = 0;
};

}  // namespace

// vprintf(format, arguments) -> number of arguments
void run_vprintf(warp& w, const instruction& instr) {
  launch_state& launch = *w.block->launch;
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    std::string format = read_text(w, lane, builtin_argument(w, instr, lane, 0));
    formatter f{w, instr, lane, std::move(format)};
    std::string text = f.run();
    set_builtin_result(w, instr, lane, f.count());
    if (!launch.options.print) continue;
    std::lock_guard lock{launch.mutex};
    launch.options.print(text);
  }
}

}  // namespace halfwarp::emulator::exec
