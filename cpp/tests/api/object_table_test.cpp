// SPDX-License-Identifier: Apache-2.0
// Handles: numbered for ever, recognised when stale, foreign or made up.
#include "emulator/object/object_table.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulator/object/use.hpp"

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
  EXPECT_EQ(table.describe(object_kind::event, raw),
            "the handle of event 1, which was destroyed by a reset");
}

TEST(handles, remember_the_call_that_destroyed_them) {
  object_table table;
  const auto made = table.make<sample>();
  enter_call("cuEventQuery");
  const std::string thread = " on thread " + std::to_string(this_call().thread);
  std::thread{[&] {
    enter_call("cuEventDestroy");
    table.remove(*made);
  }}.join();
  EXPECT_TRUE(table.was_destroyed_during_call(raw_of(*made)));
  EXPECT_NE(table.describe(object_kind::event, raw_of(*made)).find("destroyed by cuEventDestroy"),
            std::string::npos);
  EXPECT_EQ(table.describe(object_kind::event, raw_of(*made)).find(thread), std::string::npos);
  enter_call("cuEventQuery");  // the next call
  EXPECT_FALSE(table.was_destroyed_during_call(raw_of(*made)));
  leave_call();
}

class overlaps : public testing::Test {
 protected:
  overlaps() {
    table.on_conflict = [this](const object&, const std::string& by, const std::string& user) {
      told.push_back(by.substr(0, by.find(' ')) + " / " + user.substr(0, user.find(' ')));
    };
  }
  ~overlaps() override { leave_call(); }

  void use_in_another_thread() {
    std::thread{[this] {
      enter_call("cuEventRecord");
      objects_in_use used;
      used.add(made);
    }}.join();
  }

  object_table table;
  std::shared_ptr<sample> made = table.make<sample>();
  std::vector<std::string> told;
};

TEST_F(overlaps, of_a_destroying_call_with_one_that_ended_meanwhile_are_told) {
  enter_call("cuEventDestroy");
  use_in_another_thread();
  table.remove(*made);
  EXPECT_EQ(told, std::vector<std::string>{"cuEventDestroy / cuEventRecord"});
}

TEST_F(overlaps, are_none_when_the_use_ended_before) {
  use_in_another_thread();
  enter_call("cuEventDestroy");
  table.remove(*made);
  EXPECT_TRUE(told.empty());
}

TEST_F(overlaps, with_a_call_that_still_waits_are_told) {
  std::mutex lock;
  std::condition_variable changed;
  bool is_inside = false, may_end = false;
  std::thread waiting{[&] {
    enter_call("cuEventSynchronize");
    std::unique_lock guard{lock};
    objects_in_use used;
    used.add(made);
    is_inside = true;
    changed.notify_all();
    changed.wait(guard, [&] { return may_end; });
  }};
  {
    std::unique_lock guard{lock};
    changed.wait(guard, [&] { return is_inside; });
    enter_call("cuEventDestroy");
    table.remove(*made);
    may_end = true;
  }
  changed.notify_all();
  waiting.join();
  EXPECT_EQ(told, std::vector<std::string>{"cuEventDestroy / cuEventSynchronize"});
}

TEST_F(overlaps, of_a_thread_with_itself_are_none) {
  enter_call("cuEventDestroy");
  objects_in_use used;
  used.add(made);
  table.remove(*made);
  EXPECT_TRUE(told.empty());
}

TEST(contexts, take_their_objects_with_them) {
  object_table table;
  const auto inside = table.make<sample>(7), outside = table.make<sample>(8);
  table.remove_context_objects(7);
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
