// SPDX-License-Identifier: Apache-2.0
// The log of writes: who wrote a word, and how unwritten bytes came to their place.
#include "emulator/observation/write_log.hpp"

#include <gtest/gtest.h>

#include "emulator/memory/written_bytes.hpp"

namespace halfwarp::emulator {
namespace {

class write_logs : public testing::Test {
 protected:
  memory::address allocate(std::uint64_t size) {
    memory::allocation_request request;
    request.size = size;
    request.created_at = "a.py:1";
    return space.allocate(request).value_or(0);
  }
  // A copy or fill, after all allocations until now.
  void add(const std::string& title, memory::address first, std::uint64_t bytes,
           memory::address source = 0) {
    log.add({title, "a.py:7", nullptr, space.next_sequence(), first, bytes, source});
    space.states()->mark(first, bytes, memory::written);
  }
  // A kernel that wrote a run of words, and one byte.
  void add_kernel(memory::address first, std::uint64_t words, memory::address byte) {
    auto writes = std::make_shared<report::launch_writes>();
    writes->grid = {2, 3, 1};
    writes->block = {4, 2, 5};
    report::earlier_access place;
    place.ptx_line = 12;
    place.source_file = "k.cu";
    place.source_line = 3;
    place.instruction = "st.global.u32";
    place.unwritten = carried;
    writes->places = {place};
    const auto size = static_cast<std::uint32_t>(4 * words);
    writes->entries = {{first, size, 3, 2, 0, true}, {byte, 1, 5, 9, 0, false}};
    log.add({"kernel k", "", writes, space.next_sequence()});
    space.states()->mark(first, size, memory::written);
  }

  memory::address_space space{{.tracks_writes = true}};
  write_log log;
  memory::address carried = 0;
};

constexpr std::string_view no_place =
    R"("block_index":[0,0,0],"thread":[0,0,0],"ptx_line":0,"source_file":"","source_line":0,)"
    R"("instruction":""})";

std::string of_operation(int offset, std::string_view title) {
  return R"({"offset":)" + std::to_string(offset) + R"(,"operation":")" + std::string{title} +
         R"(","created_at":"a.py:7",)" + std::string{no_place};
}

std::string of_thread(int offset, std::string_view block, std::string_view thread) {
  return R"({"offset":)" + std::to_string(offset) +
         R"(,"operation":"kernel k","created_at":"","block_index":)" + std::string{block} +
         R"(,"thread":)" + std::string{thread} +
         R"(,"ptx_line":12,"source_file":"k.cu","source_line":3,"instruction":"st.global.u32"})";
}

TEST_F(write_logs, name_the_last_writer_of_each_word) {
  const auto base = allocate(64);
  EXPECT_EQ(log.origins(space, base, 64), "[]");
  add("a fill", base + 8, 8);
  EXPECT_EQ(log.origins(space, base, 64),
            "[" + of_operation(8, "a fill") + "," + of_operation(12, "a fill") + "]");
  add("a copy", base + 12, 4);
  EXPECT_EQ(log.origins(space, base, 16),
            "[" + of_operation(8, "a fill") + "," + of_operation(12, "a copy") + "]");
  EXPECT_EQ(log.origins(space, base + 8, 4), "[" + of_operation(0, "a fill") + "]");
  EXPECT_EQ(log.origins(space, base, 8), "[]");
  EXPECT_EQ(log.origins(space, base + 64, 8), "[]") << "outside of the allocation";
  EXPECT_EQ(log.origins(space, base + 10, 8),
            "[" + of_operation(0, "a fill") + "," + of_operation(2, "a copy") + "]");
}

TEST_F(write_logs, name_the_thread_of_each_word_of_a_run) {
  const auto base = allocate(64);
  add_kernel(base + 4, 3, base + 33);
  EXPECT_EQ(log.origins(space, base, 32), "[" + of_thread(4, "[1,1,0]", "[2,0,0]") + "," +
                                              of_thread(8, "[1,1,0]", "[3,0,0]") + "," +
                                              of_thread(12, "[1,1,0]", "[0,1,0]") + "]");
  EXPECT_EQ(log.origins(space, base + 33, 1), "[" + of_thread(0, "[1,2,0]", "[1,0,1]") + "]");
  EXPECT_EQ(log.origins(space, base + 34, 1), "[]");
}

TEST_F(write_logs, list_at_most_4096_words) {
  const auto base = allocate(20'000);
  add("a fill", base, 20'000);
  const std::string text = log.origins(space, base, 20'000);
  EXPECT_NE(text.find("\"offset\":16380,"), std::string::npos);
  EXPECT_EQ(text.find("\"offset\":16384,"), std::string::npos);
}

TEST_F(write_logs, forget_what_was_written_before_an_allocation) {
  const auto base = allocate(64);
  log.add({"a fill", "", nullptr, 0, base, 64});
  EXPECT_EQ(log.origins(space, base, 64), "[]");
}

TEST_F(write_logs, discard_the_oldest_operations) {
  const auto base = allocate(64);
  add("a fill", base, 4);
  auto large = std::make_shared<report::launch_writes>();
  large->entries.resize((1 << 20) - 1);
  log.add({"kernel k", "", large, space.next_sequence()});
  EXPECT_NE(log.origins(space, base, 4), "[]");
  log.add({"a fill", "", nullptr, space.next_sequence(), base + 8, 4});
  EXPECT_EQ(log.origins(space, base, 4), "[]");
  large = std::make_shared<report::launch_writes>();
  large->entries.resize((1 << 20) + 5);
  large->entries.back() = {base, 4, 0, 0, 0, false};
  large->entries.back().first = base;
  log.add({"kernel k", "b.py:1", large, space.next_sequence()});
  EXPECT_NE(log.origins(space, base, 4).find("b.py:1"), std::string::npos) << "the last one stays";
}

TEST_F(write_logs, tell_how_unwritten_bytes_came) {
  const auto first = allocate(64), second = allocate(64);
  EXPECT_EQ(log.history(space, second + 8), "");
  add("a fill", first, 4);
  add("a fill", first + 12, 4);
  add("a copy", second, 16, first);
  const std::string origin = "  came from: 8 bytes into the live 64-byte allocation at " +
                             report::hexadecimal(first) +
                             ", which a copy at a.py:7 copied\n  allocated at: a.py:1\n";
  EXPECT_EQ(log.history(space, second + 8), origin +
                                                "  neighbor, byte 3: a fill at a.py:7 stored\n"
                                                "  neighbor, byte 12: a fill at a.py:7 stored\n");
}

TEST_F(write_logs, follow_a_chain_of_copies) {
  const auto first = allocate(64), second = allocate(64), third = allocate(64);
  add("copy one", second, 16, first);
  carried = second + 4;
  add_kernel(third, 4, third + 40);
  const std::string text = log.history(space, third + 4);
  const auto from_kernel =
      text.find("4 bytes into the live 64-byte allocation at " + report::hexadecimal(second) +
                ", which kernel k, thread "
                "(3,0,0) of block (1,1,0), copied at k.cu:3, PTX line 12");
  const auto from_copy =
      text.find("4 bytes into the live 64-byte allocation at " + report::hexadecimal(first) +
                ", which copy one at a.py:7 copied");
  EXPECT_NE(from_kernel, std::string::npos) << text;
  EXPECT_NE(from_copy, std::string::npos) << text;
  EXPECT_LT(from_kernel, from_copy);
}

TEST_F(write_logs, follow_at_most_eight_copies) {
  auto last = allocate(64);
  for (int i = 0; i < 10; ++i) {
    const auto next = allocate(64);
    add("a copy", next, 16, last);
    last = next;
  }
  const std::string text = log.history(space, last);
  std::size_t count = 0;
  for (auto at = text.find("came from"); at != text.npos; at = text.find("came from", at + 1))
    ++count;
  EXPECT_EQ(count, 8u);
}

TEST_F(write_logs, search_neighbors_up_to_a_megabyte_away) {
  constexpr std::uint64_t megabyte = 1 << 20;
  const auto base = allocate(4 * megabyte);
  add("far", base, 1);
  add("near", base + 2 * megabyte + 5, 1);
  EXPECT_EQ(log.history(space, base + 2 * megabyte),
            "  neighbor, byte " + std::to_string(2 * megabyte + 5) + ": near at a.py:7 stored\n");
  EXPECT_EQ(log.history(space, base + megabyte), "  neighbor, byte 0: far at a.py:7 stored\n");
  EXPECT_EQ(log.history(space, base + megabyte + 1), "");
}

}  // namespace
}  // namespace halfwarp::emulator
