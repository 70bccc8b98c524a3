// SPDX-License-Identifier: Apache-2.0
// Tests the JSON writer: separators and escapes.
#include "emulator/observation/json.hpp"

#include <gtest/gtest.h>

namespace halfwarp::emulator {
namespace {

TEST(json, separates_members_and_elements) {
  json_writer json;
  json.open_object().member("a", 1).key("b").open_array().value(true).value("x").null().close();
  json.key("c").open_object().close().member("d", "").close();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[true,"x",null],"c":{},"d":""})");
}

TEST(json, escapes_special_characters) {
  json_writer json;
  json.value("quote \" backslash \\ line\nend \x01");
  EXPECT_EQ(json.text(), R"("quote \" backslash \\ line\u000aend \u0001")");
}

}  // namespace
}  // namespace halfwarp::emulator
