// SPDX-License-Identifier: Apache-2.0
// printf in kernels.
#include <gtest/gtest.h>

#include "machine.hpp"

namespace halfwarp::tests {
namespace {

std::string bytes_of(const std::string& text) {
  std::string list;
  for (unsigned char c : text) list += std::to_string(c) + ", ";
  return "{" + list + "0}";
}

// Calls printf with the arguments that `stores` writes to local memory at l.
std::string printed(const std::string& format, const std::string& stores,
                    std::uint32_t threads = 1) {
  machine m;
  std::string size = std::to_string(format.size() + 1);
  m.load(
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 text[" +
      size + "] = " + bytes_of(format) +
      ";\n"
      ".global .align 1 .b8 word[4] = {97, 98, 99, 0};\n"
      ".visible .entry k(.param .u64 out) { .local .align 8 .b8 l[64]; .reg .b64 a, t; .reg .b32 "
      "i, r;\n"
      ".param .b64 f; .param .b64 args; .param .b32 back;\n"
      "mov.u32 i, %tid.x; mov.u64 a, l;\n" +
      stores +
      "\ncvta.local.u64 a, a; mov.u64 t, text; cvta.global.u64 t, t;\n"
      "st.param.b64 [f], t; st.param.b64 [args], a; call (back), vprintf, (f, args); ld.param.b32 "
      "r, [back];\n"
      "ld.param.u64 a, [out]; st.global.u32 [a], r; ret; }");
  memory::address out = m.allocate(4);
  auto result = m.run("k", {1}, {threads}, out);
  EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
  return m.printed + "|" + std::to_string(*m.view<std::int32_t>(out));
}

TEST(printf, converts_every_kind_of_argument) {
  EXPECT_EQ(printed("%d %u %x %c\n",
                    "st.local.b32 [a], -5; st.local.b32 [a+4], 7; st.local.b32 [a+8], 255; "
                    "st.local.b32 [a+12], 65;"),
            "-5 7 ff A\n|4");
  EXPECT_EQ(printed("%5.2f|%e|%g",
                    "st.local.b64 [a], 0d4004000000000000; st.local.b64 [a+8], 0d3FF0000000000000; "
                    "st.local.b64 [a+16], 0d3FE0000000000000;"),
            " 2.50|1.000000e+00|0.5|3");
  EXPECT_EQ(
      printed("%lld %llx %lu",
              "st.local.b64 [a], -7; st.local.b64 [a+8], 1099511627776; st.local.b64 [a+16], 3;"),
      "-7 10000000000 3|3");
  EXPECT_EQ(printed("%hd %hhu", "st.local.b32 [a], 65535; st.local.b32 [a+4], 258;"), "-1 2|2");
}

TEST(printf, strings_are_read_from_device_memory) {
  EXPECT_EQ(
      printed(
          "<%5s|%-5s|%.2s>",
          "mov.u64 t, word; st.local.b64 [a], t; st.local.b64 [a+8], t; st.local.b64 [a+16], t;"),
      "<  abc|abc  |ab>|3");
  EXPECT_EQ(printed("%s", "st.local.b64 [a], 0;"), "(null)|1");
}

// Recorded on an H100 with driver 580.
TEST(printf, an_argument_can_be_the_width_but_not_the_precision) {
  EXPECT_EQ(printed("<%*d|%-*u>",
                    "st.local.b32 [a], 4; st.local.b32 [a+4], 31; st.local.b32 [a+8], 3; "
                    "st.local.b32 [a+12], 8;"),
            "<  31|8  >|4");
  EXPECT_EQ(printed("<%*c>", "st.local.b32 [a], -3; st.local.b32 [a+4], 81;"), "<Q  >|2");
  EXPECT_EQ(printed("%.*f|%*.*f", ""), "%.*f|%*.*f|0");
  EXPECT_EQ(printed("%6*d", ""), "%6*d|0");
}

TEST(printf, pointers_have_the_form_of_the_host) {
  EXPECT_EQ(printed("<%p|%12p>", "st.local.b64 [a], 48879; st.local.b64 [a+8], 0;"),
            "<0xbeef|       (nil)>|2");
}

TEST(printf, widths_and_precisions_are_limited) {
  const std::size_t most = 70000;
  EXPECT_LT(printed("%2000000000d", "st.local.b32 [a], 1;").size(), most);
  EXPECT_LT(printed("%.2000000000d", "st.local.b32 [a], 1;").size(), most);
  EXPECT_LT(printed("%.1999999999f", "st.local.b64 [a], 0d3FF0000000000000;").size(), most);
  EXPECT_LT(printed("%*s", "st.local.b32 [a], 2147483647; mov.u64 t, word; st.local.b64 [a+8], t;")
                .size(),
            most);
  EXPECT_LT(printed("%*d", "st.local.b32 [a], -2147483648; st.local.b32 [a+4], 1;").size(), most);
  EXPECT_EQ(printed("%6000d", "st.local.b32 [a], 5;").size(), 6002u);
}

TEST(printf, percent_signs_and_unknown_conversions_are_kept) {
  EXPECT_EQ(printed("100%% %y", ""), "100% %y|0");
  EXPECT_EQ(printed("end %", ""), "end %|0");
}

TEST(printf, arguments_are_aligned_to_their_size) {
  EXPECT_EQ(
      printed(
          "%d %f %d",
          "st.local.b32 [a], 1; st.local.b64 [a+8], 0d4000000000000000; st.local.b32 [a+16], 3;"),
      "1 2.000000 3|3");
}

TEST(printf, threads_print_in_ascending_order) {
  EXPECT_EQ(printed("%d;", "st.local.b32 [a], i;", 5), "0;1;2;3;4;|1");
}

}  // namespace
}  // namespace halfwarp::tests
