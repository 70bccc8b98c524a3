// SPDX-License-Identifier: Apache-2.0
// The log of findings in SARIF.
#include "emulator/observation/sarif.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>

namespace halfwarp::emulator {
namespace {

report::fault finding() {
  report::fault f;
  f.kind = report::fault_kind::race;
  f.kernel = "_Z1kv";
  f.detail = "two accesses";
  f.source_file = "src/a b.cu";
  f.source_line = 3;
  f.ptx_line = 17;
  f.seed = 9;
  f.earlier = report::earlier_access{};
  f.earlier->source_file = "/else/where.cu";
  f.earlier->source_line = 8;
  return f;
}

std::string log_of(std::initializer_list<report::fault> faults) {
  sarif_log log;
  for (const auto& each : faults) log.add(each);
  return log.text();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(sarif, an_empty_log_has_one_run) {
  EXPECT_EQ(log_of({}),
            R"({"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0",)"
            R"("runs":[{"tool":{"driver":{"name":"halfwarp","rules":[]}},"results":[]}]})"
            "\n");
}

TEST(sarif, a_result_has_its_rule_places_and_key) {
  const std::string text = log_of({finding()});
  EXPECT_TRUE(has(text, R"("rules":[{"id":"halfwarp/race","name":"race"}])")) << text;
  EXPECT_TRUE(has(text, R"({"ruleId":"halfwarp/race","level":"error","occurrenceCount":1,)"));
  EXPECT_TRUE(has(text, R"("locations":[{"physicalLocation":{"artifactLocation":{"uri":)"
                        R"("src/a%20b.cu","uriBaseId":"SRCROOT"},"region":{"startLine":3}},)"
                        R"("message":{"text":"the access"}}])"))
      << text;
  EXPECT_TRUE(has(text, R"("relatedLocations":[{"physicalLocation":{"artifactLocation":{"uri":)"
                        R"("file:///else/where.cu"},"region":{"startLine":8}},)"
                        R"("message":{"text":"the earlier access"}}])"))
      << text;
  EXPECT_TRUE(has(text, R"("partialFingerprints":{"halfwarpKey/v1":)"
                        R"("race k() /else/where.cu:8 src/a b.cu:3"})"))
      << text;
  EXPECT_TRUE(has(text, R"x("properties":{"seed":9,"kernel":"k()"})x")) << text;
}

TEST(sarif, equal_findings_are_counted) {
  report::fault second = finding(), other = finding();
  second.count = 4;
  other.source_line = 5;
  const std::string text = log_of({finding(), second, other});
  EXPECT_TRUE(has(text, R"("occurrenceCount":5,)")) << text;
  EXPECT_TRUE(has(text, R"("occurrenceCount":1,)")) << text;
}

TEST(sarif, the_key_does_not_depend_on_the_order_of_two_accesses) {
  report::fault reversed = finding();
  std::swap(reversed.source_file, reversed.earlier->source_file);
  std::swap(reversed.source_line, reversed.earlier->source_line);
  EXPECT_TRUE(has(log_of({finding(), reversed}), R"("occurrenceCount":2,)"));
}

TEST(sarif, the_key_has_the_place_of_the_allocation_and_of_a_hazard) {
  report::fault f = finding();
  f.earlier.reset();
  f.source_line = 0;
  f.nearest = memory::allocation{};
  EXPECT_TRUE(has(log_of({f}), R"("race k() :0 src/a b.cu:17")"));
  f.nearest->created_at = "a.py:1";
  EXPECT_TRUE(has(log_of({f}), R"("race k() :0 src/a b.cu:17 a.py:1")"));
  f.kind = report::fault_kind::hazard;
  EXPECT_TRUE(has(log_of({f}), R"("hazard k() :0 src/a b.cu:17 a.py:1 two accesses")"));
  EXPECT_TRUE(has(log_of({f}), R"("locations":[],"relatedLocations":[],)"));
}

TEST(sarif, a_file_below_the_folder_is_relative_to_it) {
  char folder[PATH_MAX];
  ASSERT_NE(getcwd(folder, sizeof folder), nullptr);
  report::fault f = finding();
  f.source_file = std::string{folder} + "/x/~y-._z\xc3.cu";
  EXPECT_TRUE(has(log_of({f}), R"("uri":"x/~y-._z%C3.cu","uriBaseId":"SRCROOT")")) << log_of({f});
  f.source_file = "";
  EXPECT_TRUE(has(log_of({f}), R"("locations":[],)"));
}

}  // namespace
}  // namespace halfwarp::emulator
