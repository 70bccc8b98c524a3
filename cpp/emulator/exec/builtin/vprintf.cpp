// SPDX-License-Identifier: Apache-2.0
// Implements printf in kernels.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::size_t max_characters = 4096;  // of one converted value

// Reads the arguments, which the compiler stored consecutively, each aligned to its size.
class argument_reader {
 public:
  argument_reader(warp& w, int lane, std::uint64_t address)
      : w_{w}, lane_{lane}, address_{address} {}

  template <class T>
  T next() {
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    read_generic(w_, lane_, address_, &value, sizeof(T));
    address_ += sizeof(T);
    ++count_;
    return value;
  }
  std::uint32_t count() const { return count_; }

 private:
  warp& w_;
  int lane_;
  std::uint64_t address_;
  std::uint32_t count_ = 0;
};

// A conversion specification. "%-8.3lld" has start "%-8.3", 64 bits and letter 'd'.
struct conversion {
  std::string start = "%";
  bool is_64_bit = false;
  int short_levels = 0;  // h: 1, hh: 2
  char letter = 0;
};

template <class... Values>
std::string formatted(const std::string& format, Values... values) {
  char buffer[max_characters];
  int length = std::snprintf(buffer, sizeof(buffer), format.c_str(), values...);
  if (length < 0) return {};
  return {buffer, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof(buffer) - 1)};
}

class formatter {
 public:
  formatter(warp& w, int lane, std::string format, std::uint64_t arguments)
      : w_{w}, lane_{lane}, format_{std::move(format)}, arguments_{w, lane, arguments} {}

  std::string run() {
    std::string text;
    while (at_ < format_.size()) {
      std::size_t percent = format_.find('%', at_);
      text.append(format_, at_, percent - at_);
      if (percent == std::string::npos) break;
      at_ = percent + 1;
      text += convert(read_conversion());
    }
    return text;
  }
  std::uint32_t count() const { return arguments_.count(); }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  // Devices do not support '*' and print such a conversion unchanged.
  void read_number(conversion& c) {
    while (std::isdigit(static_cast<unsigned char>(peek()))) c.start += format_[at_++];
  }

  conversion read_conversion() {
    conversion c;
    while (peek() && std::strchr("-+ #0", peek())) c.start += format_[at_++];
    read_number(c);
    if (peek() == '.') {
      c.start += format_[at_++];
      read_number(c);
    }
    for (; peek() && std::strchr("hlLjzt", peek()); ++at_) {
      if (peek() == 'h')
        ++c.short_levels;
      else
        c.is_64_bit = true;
    }
    c.letter = peek();
    ++at_;
    return c;
  }

  std::string convert(const conversion& c) {
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
        return formatted(c.start + c.letter, arguments_.next<double>());
      case 'c':
        return formatted(c.start + 'c', arguments_.next<std::int32_t>());
      case 's':
        return convert_text(c);
      case 'p':
        return formatted("0x%016llx", arguments_.next<unsigned long long>());
      case '%':
        return "%";
      case '\0':
        return c.start;  // end of the text
      default:
        return c.start + c.letter;  // unknown: printed unchanged
    }
  }

  std::string convert_signed(const conversion& c) {
    if (c.is_64_bit) return formatted(c.start + "ll" + c.letter, arguments_.next<long long>());
    std::int32_t value = arguments_.next<std::int32_t>();
    if (c.short_levels == 1) value = static_cast<std::int16_t>(value);
    if (c.short_levels == 2) value = static_cast<std::int8_t>(value);
    return formatted(c.start + c.letter, value);
  }
  std::string convert_unsigned(const conversion& c) {
    if (c.is_64_bit) {
      return formatted(c.start + "ll" + c.letter, arguments_.next<unsigned long long>());
    }
    std::uint32_t value = arguments_.next<std::uint32_t>();
    if (c.short_levels == 1) value = static_cast<std::uint16_t>(value);
    if (c.short_levels == 2) value = static_cast<std::uint8_t>(value);
    return formatted(c.start + c.letter, value);
  }
  std::string convert_text(const conversion& c) {
    std::uint64_t address = arguments_.next<std::uint64_t>();
    std::string text = address ? read_text(w_, lane_, address) : "(null)";
    return formatted(c.start + 's', text.c_str());
  }

  warp& w_;
  int lane_;
  std::string format_;
  argument_reader arguments_;
  std::size_t at_ = 0;
};

void write_result(warp& w, const instruction& instr, int lane, std::uint32_t value) {
  for (const parameter_copy& p : w.function->calls[instr.target].results) {
    std::byte* to =
        p.to_place == parameter_copy::place::memory
            ? w.local + static_cast<std::size_t>(lane) * w.local_stride + w.frame_base + p.to
            : w.at<std::byte>(p.to) + static_cast<std::size_t>(lane) * p.bytes;
    std::memcpy(to, &value, std::min<std::size_t>(sizeof(value), p.bytes));
  }
}

}  // namespace

// vprintf(format, arguments) -> number of arguments
void run_vprintf(warp& w, const instruction& instr) {
  launch_state& launch = *w.block->launch;
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    std::string format = read_text(w, lane, builtin_argument(w, instr, lane, 0));
    formatter f{w, lane, std::move(format), builtin_argument(w, instr, lane, 1)};
    std::string text = f.run();
    write_result(w, instr, lane, f.count());
    if (!launch.options.print) continue;
    std::lock_guard lock{launch.mutex};
    launch.options.print(text);
  }
}

}  // namespace halfwarp::emulator::exec
