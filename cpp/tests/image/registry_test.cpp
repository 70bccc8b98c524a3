// SPDX-License-Identifier: Apache-2.0
// The registry of cubins and their PTX.
#include "emulator/image/registry.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "emulator/image/original.hpp"

namespace {

using namespace halfwarp::emulator::image;

bytes bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

TEST(Digest, ChangesWithEveryBitAndWithTheLength) {
  std::set<digest> seen;
  std::string data(100, '\0');
  seen.insert(digest_of(bytes_of(data)));
  for (std::size_t i = 0; i < data.size() * 8; ++i) {
    data[i / 8] = static_cast<char>(1 << (i % 8));
    seen.insert(digest_of(bytes_of(data)));
    data[i / 8] = 0;
  }
  for (std::size_t n = 0; n < 100; ++n) seen.insert(digest_of(bytes_of(data).first(n)));
  EXPECT_EQ(seen.size(), 1u + 800u + 100u);
}

TEST(Registry, FindsWhatWasAdded) {
  cubin_registry registry;
  registry.add(bytes_of("one"), "text 1");
  registry.add(bytes_of("two"), "text 2");
  ASSERT_NE(registry.find(bytes_of("one")), nullptr);
  EXPECT_EQ(*registry.find(bytes_of("one")), "text 1");
  EXPECT_EQ(registry.find(bytes_of("three")), nullptr);
  registry.add(bytes_of("one"), "newer");
  EXPECT_EQ(*registry.find(bytes_of("one")), "newer");
  EXPECT_EQ(registry.size(), 2u);
  registry.clear();
  EXPECT_EQ(registry.find(bytes_of("one")), nullptr);
}

TEST(Registry, DropsWhatWasNotUsedForLongest) {
  cubin_registry registry{250};
  registry.add(bytes_of("a"), std::string(100, 'a'));
  registry.add(bytes_of("b"), std::string(100, 'b'));
  registry.find(bytes_of("a"));
  registry.add(bytes_of("c"), std::string(100, 'c'));
  EXPECT_EQ(registry.find(bytes_of("b")), nullptr);
  EXPECT_NE(registry.find(bytes_of("a")), nullptr);
  EXPECT_NE(registry.find(bytes_of("c")), nullptr);
  registry.add(bytes_of("d"), std::string(1000, 'd'));
  EXPECT_EQ(registry.size(), 1u);
  EXPECT_NE(registry.find(bytes_of("d")), nullptr);
}

TEST(Registry, HasTheWholeLimitAfterEachRemoval) {
  cubin_registry registry{200};
  for (int turn = 0; turn < 3; ++turn) {
    registry.add(bytes_of("a"), std::string(100, 'a'));
    registry.add(bytes_of("b"), std::string(100, 'b'));
    EXPECT_EQ(registry.size(), 2u) << turn;
    registry.add(bytes_of("c"), "c");
    EXPECT_EQ(registry.size(), 2u) << turn;
    registry.clear();
    EXPECT_EQ(registry.size(), 0u);
  }
}

TEST(Registry, SubstitutesTextsWithoutTheirEnds) {
  EXPECT_EQ(executed_ptx("first"), "first");
  EXPECT_EQ(original_ptx("second"), nullptr);
  substitute_ptx(std::string_view{"first\n\0", 7}, "second\n");
  EXPECT_EQ(executed_ptx("first"), "second\n");
  EXPECT_EQ(executed_ptx("first\n\n"), "second\n");
  EXPECT_EQ(executed_ptx("\nfirst"), "\nfirst");
  EXPECT_EQ(executed_ptx("firsT"), "firsT");
  ASSERT_NE(original_ptx("second"), nullptr);
  EXPECT_EQ(*original_ptx("second"), (std::string{"first\n\0", 7}));
  EXPECT_EQ(original_ptx("first"), nullptr);
  substitute_ptx("first", "third");
  EXPECT_EQ(executed_ptx("first"), "third");
}

TEST(Registry, MayBeUsedFromManyThreads) {
  cubin_registry registry{1000};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&registry, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string key = std::to_string((i + t) % 20);
        registry.add(bytes_of(key), key + std::string(90, 'x'));
        const auto match = registry.find(bytes_of(key));
        EXPECT_TRUE(match == nullptr || match->starts_with(key));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(registry.size(), 11u);
}

}  // namespace
