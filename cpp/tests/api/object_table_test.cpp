// SPDX-License-Identifier: Apache-2.0
// Handles: numbered for ever, recognised when stale, foreign or made up.
#include "emulator/object/object_table.hpp"

#include <gtest/gtest.h>

namespace halfwarp::emulator {
namespace {

struct sample : object {
  static constexpr object_kind kind_of = object_kind::event;
  explicit sample(std::uint64_t context = 0) : object{kind_of, context} {}
};

std::uint64_t raw_of(const object& of) {
  return reinterpret_cast<std::uint64_t>(of.handle_as<void*>());
}

TEST(handles, lead_to_their_object_until_it_is_removed) {
  object_table table;
  const auto made = table.make<sample>();
  const auto raw = made->handle_as<void*>();
  EXPECT_EQ(table.find<sample>(raw), made);
  table.remove(*made);
  EXPECT_EQ(table.find<sample>(raw), nullptr);
  EXPECT_EQ(table.count(object_kind::event), 0u);
}

TEST(handles, are_never_used_again) {
  object_table table;
  const auto first = raw_of(*table.make<sample>());
  table.remove(*table.find<sample>(reinterpret_cast<void*>(first)));
  EXPECT_NE(raw_of(*table.make<sample>()), first);
}

TEST(handles, are_told_apart) {
  object_table table;
  const auto made = table.make<sample>();
  const auto raw = raw_of(*made);
  using enum handle_state;
  EXPECT_EQ(table.classify(object_kind::event, raw), live);
  EXPECT_EQ(table.classify(object_kind::event, 0), null);
  EXPECT_EQ(table.classify(object_kind::stream, raw), other_kind);
  EXPECT_EQ(table.classify(object_kind::event, raw + 16), garbage);
  EXPECT_EQ(table.classify(object_kind::event, raw + 1), garbage);
  EXPECT_EQ(table.classify(object_kind::event, 0xdeadbeef), garbage);
  EXPECT_EQ(table.classify(object_kind::event, ~std::uint64_t{0}), garbage);
  table.remove(*made);
  EXPECT_EQ(table.classify(object_kind::event, raw), destroyed);
}

TEST(handles, are_described_in_words) {
  object_table table;
  const auto made = table.make<sample>();
  const auto raw = raw_of(*made);
  EXPECT_EQ(table.describe(object_kind::stream, raw),
            "the handle of event 1 where a stream is needed");
  EXPECT_EQ(table.describe(object_kind::event, 0), "a null event handle");
  EXPECT_EQ(table.describe(object_kind::event, 0xbad), "0xbad, which was never an event handle");
  table.remove(*made);
  EXPECT_EQ(table.describe(object_kind::event, raw), "the handle of event 1, which was destroyed");
}

TEST(contexts, take_their_objects_with_them) {
  object_table table;
  const auto inside = table.make<sample>(7), outside = table.make<sample>(8);
  table.remove_all_of(7);
  EXPECT_EQ(table.count(object_kind::event), 1u);
  EXPECT_EQ(table.find<sample>(inside->handle_as<void*>()), nullptr);
  EXPECT_EQ(table.find<sample>(outside->handle_as<void*>()), outside);
}

TEST(listing, is_in_the_order_of_age) {
  object_table table;
  for (int i = 0; i < 50; ++i) table.make<sample>();
  std::uint64_t last = 0;
  table.for_each(object_kind::event, [&](const object& each) {
    EXPECT_EQ(each.id(), last + 1);
    last = each.id();
  });
  EXPECT_EQ(last, 50u);
}

}  // namespace
}  // namespace halfwarp::emulator
