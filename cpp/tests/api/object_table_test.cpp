// SPDX-License-Identifier: Apache-2.0
// Handles: unique, and recognized if stale, foreign or invalid.
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
  const auto created = table.make<sample>();
  const auto raw = created->handle_as<void*>();
  EXPECT_EQ(table.find<sample>(raw), created);
  table.remove(*created);
  EXPECT_EQ(table.find<sample>(raw), nullptr);
  EXPECT_EQ(table.count(object_kind::event), 0u);
}

TEST(handles, are_never_used_again) {
  object_table table;
  const auto first = raw_of(*table.make<sample>());
  table.remove(*table.find<sample>(reinterpret_cast<void*>(first)));
  EXPECT_NE(raw_of(*table.make<sample>()), first);
}

TEST(handles, are_classified) {
  object_table table;
  const auto created = table.make<sample>();
  const auto raw = raw_of(*created);
  using enum handle_state;
  EXPECT_EQ(table.classify(object_kind::event, raw), live);
  EXPECT_EQ(table.classify(object_kind::event, 0), null);
  EXPECT_EQ(table.classify(object_kind::stream, raw), other_kind);
  EXPECT_EQ(table.classify(object_kind::event, raw + 16), garbage);
  EXPECT_EQ(table.classify(object_kind::event, raw + 1), garbage);
  EXPECT_EQ(table.classify(object_kind::event, 0xdeadbeef), garbage);
  EXPECT_EQ(table.classify(object_kind::event, ~std::uint64_t{0}), garbage);
  table.remove(*created);
  EXPECT_EQ(table.classify(object_kind::event, raw), destroyed);
}

TEST(handles, are_described) {
  object_table table;
  const auto created = table.make<sample>();
  const auto raw = raw_of(*created);
  EXPECT_EQ(table.describe(object_kind::stream, raw),
            "the handle of event 1 where a stream is needed");
  EXPECT_EQ(table.describe(object_kind::event, 0), "a null event handle");
  EXPECT_EQ(table.describe(object_kind::event, 0xbad), "0xbad, which was never an event handle");
  table.remove(*created);
  EXPECT_EQ(table.describe(object_kind::event, raw),
            "the handle of event 1, which was destroyed by a reset");
}

TEST(handles, name_the_call_that_destroyed_them) {
  object_table table;
  const auto created = table.make<sample>();
  enter_call("cuEventQuery");
  const std::string thread = " on thread " + std::to_string(this_call().thread);
  std::thread{[&] {
    enter_call("cuEventDestroy");
    table.remove(*created);
  }}.join();
  EXPECT_TRUE(table.was_destroyed_during_call(raw_of(*created)));
  EXPECT_NE(
      table.describe(object_kind::event, raw_of(*created)).find("destroyed by cuEventDestroy"),
      std::string::npos);
  EXPECT_EQ(table.describe(object_kind::event, raw_of(*created)).find(thread), std::string::npos);
  enter_call("cuEventQuery");  // the next call
  EXPECT_FALSE(table.was_destroyed_during_call(raw_of(*created)));
  leave_call();
}

class overlaps : public testing::Test {
 protected:
  overlaps() {
    table.on_conflict = [this](const object&, const std::string& by, const std::string& user) {
      reports.push_back(by.substr(0, by.find(' ')) + " / " + user.substr(0, user.find(' ')));
    };
  }
  ~overlaps() override { leave_call(); }

  void use_in_another_thread() {
    std::thread{[this] {
      enter_call("cuEventRecord");
      objects_in_use used;
      used.add(created);
    }}.join();
  }

  object_table table;
  std::shared_ptr<sample> created = table.make<sample>();
  std::vector<std::string> reports;
};

TEST_F(overlaps, of_a_destroying_call_with_a_call_that_ended_during_it_are_reported) {
  enter_call("cuEventDestroy");
  use_in_another_thread();
  table.remove(*created);
  EXPECT_EQ(reports, std::vector<std::string>{"cuEventDestroy / cuEventRecord"});
}

TEST_F(overlaps, are_absent_if_the_use_ended_earlier) {
  use_in_another_thread();
  enter_call("cuEventDestroy");
  table.remove(*created);
  EXPECT_TRUE(reports.empty());
}

TEST_F(overlaps, with_a_waiting_call_are_reported) {
  std::mutex lock;
  std::condition_variable changed;
  bool is_inside = false, may_end = false;
  std::thread waiting{[&] {
    enter_call("cuEventSynchronize");
    std::unique_lock guard{lock};
    objects_in_use used;
    used.add(created);
    is_inside = true;
    changed.notify_all();
    changed.wait(guard, [&] { return may_end; });
  }};
  {
    std::unique_lock guard{lock};
    changed.wait(guard, [&] { return is_inside; });
    enter_call("cuEventDestroy");
    table.remove(*created);
    may_end = true;
  }
  changed.notify_all();
  waiting.join();
  EXPECT_EQ(reports, std::vector<std::string>{"cuEventDestroy / cuEventSynchronize"});
}

TEST_F(overlaps, of_a_thread_with_itself_are_absent) {
  enter_call("cuEventDestroy");
  objects_in_use used;
  used.add(created);
  table.remove(*created);
  EXPECT_TRUE(reports.empty());
}

TEST(contexts, destroy_their_objects) {
  object_table table;
  const auto inside = table.make<sample>(7), outside = table.make<sample>(8);
  table.remove_context_objects(7);
  EXPECT_EQ(table.count(object_kind::event), 1u);
  EXPECT_EQ(table.find<sample>(inside->handle_as<void*>()), nullptr);
  EXPECT_EQ(table.find<sample>(outside->handle_as<void*>()), outside);
}

TEST(listing, is_in_order_of_creation) {
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
