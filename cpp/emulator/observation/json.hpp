// SPDX-License-Identifier: Apache-2.0
// Writes JSON text, for reports and for the records that Python reads.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace halfwarp::emulator {

// Inserts separators between members and elements. Every open_* call needs a close().
class json_writer {
 public:
  json_writer& open_object() { return open('{', '}'); }
  json_writer& open_array() { return open('[', ']'); }
  json_writer& close();

  json_writer& key(std::string_view name);

  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view{text}); }
  json_writer& value(bool truth) { return raw(truth ? "true" : "false"); }
  template <std::integral Number>
  json_writer& value(Number number) {
    return raw(std::to_string(number));
  }
  json_writer& null() { return raw("null"); }

  template <class Value>
  json_writer& member(std::string_view name, const Value& value_arg) {
    return key(name).value(value_arg);
  }

  const std::string& text() const { return text_; }

 private:
  json_writer& open(char bracket, char closing);
  json_writer& raw(std::string_view text);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  std::string closing_;
  bool needs_comma_ = false;
};

}  // namespace halfwarp::emulator
