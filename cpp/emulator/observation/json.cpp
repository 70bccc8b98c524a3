// SPDX-License-Identifier: Apache-2.0
// Quotes texts and separates values of JSON.
#include "emulator/observation/json.hpp"

#include <cstdio>

namespace halfwarp::emulator {

void json_writer::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = false;
}

json_writer& json_writer::open(char bracket, char closing) {
  separate();
  text_ += bracket;
  closing_ += closing;
  return *this;
}

json_writer& json_writer::close() {
  text_ += closing_.back();
  closing_.pop_back();
  needs_comma_ = true;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  quote(text);
  needs_comma_ = true;
  return *this;
}

json_writer& json_writer::raw(std::string_view text) {
  separate();
  text_ += text;
  needs_comma_ = true;
  return *this;
}

void json_writer::quote(std::string_view text) {
  text_ += '"';
  for (const unsigned char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += static_cast<char>(c);
    } else if (c < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      text_ += escape;
    } else {
      text_ += static_cast<char>(c);
    }
  }
  text_ += '"';
}

}  // namespace halfwarp::emulator
