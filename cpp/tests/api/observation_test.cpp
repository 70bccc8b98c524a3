// SPDX-License-Identifier: Apache-2.0
// The driver's log, the stream of reports, the log of faults, known findings and fault rules.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emulator/observation/driver_log.hpp"
#include "emulator/observation/fault_log.hpp"
#include "emulator/observation/injection.hpp"
#include "emulator/observation/report_stream.hpp"

namespace halfwarp::emulator {
namespace {

namespace fs = std::filesystem;

class files : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("halfwarp_observation_" + std::to_string(getpid()));
    fs::create_directory(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path path(const std::string& name, const std::string& text) const {
    std::ofstream{folder / name} << text;
    return folder / name;
  }
  static std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
  }

  fs::path folder;
};

TEST(driver_log, numbers_its_entries_and_drops_the_oldest) {
  driver_log log;
  EXPECT_EQ(log.end(), 0u);
  log.write("cuInit", CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "a reason");
  log.write("cuInit", CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "");
  EXPECT_EQ(log.end(), 3u);
  std::uint32_t end = 0;
  const std::string text = log.text(1, end);
  EXPECT_EQ(end, 3u);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_NE(text.find("[CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuInit\n"),
            std::string::npos);
  EXPECT_TRUE(text.ends_with("[CUDA][E] Returning 100 (CUDA_ERROR_NO_DEVICE) from cuInit\n"));
  for (int i = 0; i < 99; ++i) log.write("cuInit", CUDA_ERROR_NO_DEVICE, "x", "");
  EXPECT_EQ(log.end(), 102u);
  const std::string all = log.text(0, end);
  EXPECT_EQ(end, 102u);
  EXPECT_EQ(std::ranges::count(all, '\n'), 100);
  EXPECT_NE(all.find("CUDA_ERROR_NO_DEVICE"), std::string::npos);  // entry 2 is the oldest one
  EXPECT_EQ(all.find("CUDA_ERROR_INVALID_VALUE"), std::string::npos);
  EXPECT_EQ(log.text(102, end), "");
}

TEST(driver_log, removes_a_listener_once) {
  driver_log log;
  int calls = 0;
  const auto count = [](void* data, CUlogLevel, char*, std::size_t) { ++*static_cast<int*>(data); };
  const auto first = log.add(count, &calls), second = log.add(count, &calls);
  EXPECT_NE(first, second);
  log.write("cuInit", CUDA_ERROR_NO_DEVICE, "x", "a reason");
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(log.remove(first));
  EXPECT_FALSE(log.remove(first));
  log.write("cuInit", CUDA_ERROR_NO_DEVICE, "x", "");
  EXPECT_EQ(calls, 5);
}

report::fault trap() {
  report::fault f;
  f.kind = report::fault_kind::trap;
  f.access = report::access_kind::load;
  f.bytes = 4;
  f.address = 0x1040;
  f.kernel = "_Z1kv";
  f.device = 1;
  f.stream = 2;
  f.grid = {3, 4, 5};
  f.block = {6, 7, 8};
  f.block_index = {1, 2, 3};
  f.thread = {4, 5, 6};
  f.other_threads = 9;
  f.ptx_line = 10;
  f.source_file = "a.cu";
  f.source_line = 11;
  f.instruction = "trap";
  f.detail = "a detail";
  f.hint = "a hint";
  f.seed = 12;
  return f;
}

constexpr std::string_view start_of_trap =
    R"({"kind":"trap","code":719,"is_sticky":true,"is_of_lifetime":false,"is_finding":false,)"
    R"x("access":"load","bytes":4,"address":4160,"kernel":"k()","device":1,"stream":2,)x"
    R"("grid":[3,4,5],"block":[6,7,8],"block_index":[1,2,3],"thread":[4,5,6],"other_threads":9,)"
    R"("ptx_line":10,"source_file":"a.cu","source_line":11,"instruction":"trap","nearest":)";

TEST(json_of_a_fault, has_all_members) {
  report::fault f = trap();
  const std::string text = to_json(f);
  EXPECT_TRUE(text.starts_with(std::string{start_of_trap} +
                               R"(null,"earlier":null,"count":1,"detail":"a detail",)"
                               R"("hint":"a hint","seed":12,"first_line":"trap load of 4 bytes)"))
      << text;
  EXPECT_NE(text.find(R"(","text":"trap load of 4 bytes)"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\"}"));
}

TEST(json_of_a_fault, has_the_allocation_and_the_earlier_access) {
  report::fault f = trap();
  f.nearest = memory::allocation{};
  f.nearest->base = 1, f.nearest->size = 2, f.nearest->is_live = false, f.nearest->stream = 3;
  f.nearest->freed_stream = 4, f.nearest->name = "n", f.nearest->created_at = "c:1";
  f.nearest->freed_at = "f:2";
  f.earlier = report::earlier_access{};
  f.earlier->access = report::access_kind::store;
  f.earlier->block_index = {1, 2, 3}, f.earlier->thread = {4, 5, 6}, f.earlier->ptx_line = 7;
  f.earlier->source_file = "b.cu", f.earlier->source_line = 8, f.earlier->instruction = "st";
  f.count = 5;
  EXPECT_TRUE(to_json(f).starts_with(
      std::string{start_of_trap} +
      R"({"base":1,"size":2,"is_live":false,"stream":3,"freed_stream":4,"name":"n",)"
      R"("created_at":"c:1","freed_at":"f:2"},"earlier":{"access":"store","block_index":[1,2,3],)"
      R"("thread":[4,5,6],"ptx_line":7,"source_file":"b.cu","source_line":8,"instruction":"st"},)"
      R"("count":5,)"))
      << to_json(f);
}

TEST_F(files, receive_reports_as_text) {
  const fs::path file = path("a.txt", "before\n");
  report_stream stream{file};
  stream.note("leak", "one");
  stream.fault(trap());
  stream.note("leak", "two");
  EXPECT_EQ(content(file),
            "before\nemulator: one\n" + report::full_text(trap()) + "emulator: two\n");
  const auto counts = stream.written();
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts.at("leak"), 2u);
  EXPECT_EQ(counts.at("trap"), 1u);
}

TEST_F(files, receive_reports_as_lines_of_json) {
  const fs::path file = folder / "a.jsonl";
  report_stream stream{file};
  stream.note("leak", "one");
  stream.fault(trap());
  EXPECT_EQ(content(file), R"({"kind":"leak","text":"one"})"
                           "\n" +
                               to_json(trap()) + "\n");
}

TEST_F(files, receive_a_sarif_log_that_replaces_the_previous_one) {
  const fs::path file = path("a.sarif", "");
  report_stream stream{file};
  stream.fault(trap());
  const std::string first = content(file);
  EXPECT_NE(first.find("\"occurrenceCount\":1,"), std::string::npos);
  stream.fault(trap());
  const std::string second = content(file);
  EXPECT_NE(second.find("\"occurrenceCount\":2,"), std::string::npos);
  EXPECT_EQ(second.size(), first.size());
  EXPECT_EQ(stream.written().at("trap"), 2u);
  testing::internal::CaptureStderr();
  stream.note("leak", "one");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "emulator: one\n");
  EXPECT_EQ(content(file), second);
}

TEST_F(files, that_cannot_be_written_are_replaced_by_standard_error) {
  for (const char* const name : {"absent/a.txt", "absent/a.sarif"}) {
    const std::string target = folder / name;
    report_stream stream{target};
    testing::internal::CaptureStderr();
    stream.fault(trap());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "emulator: cannot write reports to '" +
                                                          target + "'; they follow here\n" +
                                                          report::full_text(trap()));
    testing::internal::CaptureStderr();
    stream.fault(trap());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), report::full_text(trap()));
  }
}

TEST_F(files, of_known_findings_cover_them) {
  const fs::path file = path("known.txt",
                             "# a comment\n\nrace k* a.cu:11 a reason\n"
                             "uninitialized * src/*.cu another reason of words\n"
                             "* other * never\n");
  std::string problem;
  auto known = suppressions::read(file, problem);
  ASSERT_TRUE(known) << problem;
  EXPECT_EQ(known->unused().size(), 3u);
  EXPECT_TRUE(known->cover("race", "kernel", "a.cu", 11));
  EXPECT_TRUE(known->cover("race", "k", "/x/y/a.cu", 11));
  EXPECT_FALSE(known->cover("race", "k", "a.cu", 12));
  EXPECT_FALSE(known->cover("race", "k", "ba.cu", 11));
  EXPECT_FALSE(known->cover("race", "j", "a.cu", 11));
  EXPECT_FALSE(known->cover("barrier", "k", "a.cu", 11));
  EXPECT_TRUE(known->cover("uninitialized", "x", "/w/src/b.cu", 99));
  EXPECT_FALSE(known->cover("uninitialized", "x", "b.cu", 99));
  EXPECT_EQ(known->unused(), std::vector{file.string() + ":5: * other * never"});
  EXPECT_TRUE(known->cover("hazard", "other", "", 0));
  EXPECT_TRUE(known->unused().empty());
}

TEST_F(files, of_known_findings_have_one_form) {
  for (const char* const line : {"race", "race k", "race k a.cu", "race k a.cu:x reason",
                                 "race k a.cu:1x reason", "race k a.cu: reason"}) {
    const fs::path file = path("known.txt", "race k * good\n" + std::string{line} + "\n");
    std::string problem;
    EXPECT_FALSE(suppressions::read(file, problem));
    EXPECT_EQ(problem, file.string() + ":2: '" + line +
                           "' is not of the form 'kind kernel-glob file-glob[:line] reason'");
  }
  std::string problem;
  EXPECT_TRUE(suppressions::read(path("empty.txt", ""), problem));
  EXPECT_EQ(problem, "");
  EXPECT_FALSE(suppressions::read(folder / "absent", problem));
  EXPECT_EQ(problem, (folder / "absent").string() + ": No such file or directory");
  EXPECT_FALSE(suppressions::read(folder, problem));
  EXPECT_EQ(problem, folder.string() + ": Is a directory");
}

report::fault race() {
  report::fault f = trap();
  f.kind = report::fault_kind::race;
  return f;
}

TEST_F(files, with_faults_are_counted_and_limited) {
  report_stream stream{folder / "a.txt"};
  std::string problem;
  const auto known = suppressions::read(path("known.txt", "race k* * why\n"), problem);
  fault_log strict{stream, {}, true}, lenient{stream, {}, false}, suppressed{stream, *known, true};
  ASSERT_EQ(suppressed.unused_rules().size(), 1u);
  EXPECT_TRUE(suppressed.unused_rules()[0].ends_with(":1: race k* * why"));
  EXPECT_TRUE(strict.record(race()));
  EXPECT_FALSE(strict.record(trap()));
  EXPECT_FALSE(lenient.record(race()));
  EXPECT_EQ(content(folder / "a.txt"),
            report::full_text(race()) + report::full_text(trap()) + report::full_text(race()));
  EXPECT_FALSE(suppressed.record(race()));
  EXPECT_EQ(suppressed.count(), 0u);
  EXPECT_FALSE(suppressed.last());
  EXPECT_TRUE(suppressed.unused_rules().empty());
  EXPECT_EQ(strict.count(), 2u);
  EXPECT_EQ(strict.last()->kind, report::fault_kind::trap);
  EXPECT_EQ(strict.faults()[0].kind, report::fault_kind::race);
  for (int i = 0; i < 100; ++i) strict.record(trap());
  EXPECT_EQ(strict.faults().size(), 100u);
  EXPECT_EQ(strict.count(), 102u);
  strict.clear();
  EXPECT_TRUE(strict.faults().empty());
  EXPECT_FALSE(strict.last());
  EXPECT_EQ(strict.count(), 102u);
}

TEST(fault_rules, have_numbers_and_are_removed_one_by_one) {
  injection rules;
  std::string problem;
  EXPECT_EQ(rules.arm("", problem), 0u);
  EXPECT_FALSE(rules.is_armed());
  const auto second = rules.arm("cuInit:1=1,cuMemFree:2x3=2", problem);
  const auto third = rules.arm("delay@*=4", problem);
  EXPECT_EQ(third, second + 1);
  std::uint64_t seen = 77;
  EXPECT_EQ(rules.disarm(third + 1, seen), 0u);
  EXPECT_EQ(seen, 77u);
  EXPECT_EQ(rules.delay_of(12), 4u);
  EXPECT_EQ(rules.disarm(third, seen), 1u);
  EXPECT_EQ(rules.delay_of(12), 0u);
  EXPECT_FALSE(rules.on_call("cuMemFree", true));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rules.on_call("cuMemFree", true), CUDA_ERROR_OUT_OF_MEMORY);
  }
  EXPECT_FALSE(rules.on_call("cuMemFree", true));
  EXPECT_EQ(rules.disarm(second, seen), 3u);
  EXPECT_EQ(seen, 5u);
  EXPECT_TRUE(rules.is_armed());
  rules.clear();
  EXPECT_FALSE(rules.is_armed());
  EXPECT_FALSE(rules.on_call("cuInit", true));
}

TEST(fault_rules, are_counted_even_if_an_earlier_one_decides) {
  injection rules;
  std::string problem;
  rules.arm("cuInit:1=1,cu*:1x2=2", problem);
  EXPECT_EQ(rules.on_call("cuInit", true), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(rules.on_call("cuInit", true), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_FALSE(rules.on_call("cuInit", true));
  rules.arm("launch@a:1=700,launch@*:1x2=719!", problem);
  auto first = rules.on_launch("a"), next = rules.on_launch("a");
  ASSERT_TRUE(first && next);
  EXPECT_EQ(first->code, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_FALSE(first->is_sticky);
  EXPECT_EQ(next->code, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_TRUE(next->is_sticky);
}

TEST(fault_rules, have_one_message_for_what_is_not_understood) {
  for (const char* const wrong :
       {"f:1x0=2", "f:0=2", "f:x2=2", "f:1x=2x", "f=2", "launch@:1=2", "delay@=5",
        "delay@1=", "delay@1=5x", "f:1=CUDA_SUCCESS", "f:1=-1", "any=2"}) {
    std::string problem;
    EXPECT_TRUE(parse_rules(wrong, problem).empty());
    EXPECT_TRUE(problem.starts_with("fault rule '" + std::string{wrong} + "' is not understood; "))
        << wrong << problem;
  }
}

}  // namespace
}  // namespace halfwarp::emulator
