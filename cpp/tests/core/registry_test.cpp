// SPDX-License-Identifier: Apache-2.0
// registry: insertion, removal, look-up, and nodes whose last owner releases them concurrently.
#include "core/lifetime/registry.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace halfwarp::core {
namespace {

constexpr char kind = 0;
constexpr char other_kind = 0;

class registry_test : public testing::Test {
 protected:
  counted& add(std::uintptr_t key) {
    auto& node = *nodes.emplace_back(std::make_unique<counted>());
    node.kind = &kind;
    node.key = reinterpret_cast<void*>(key);
    table->insert(node);
    return node;
  }
  counted* find(std::uintptr_t key) { return table->find(&kind, reinterpret_cast<void*>(key)); }

  std::unique_ptr<registry> table = std::make_unique<registry>();
  std::vector<std::unique_ptr<counted>> nodes;
};

TEST_F(registry_test, a_look_up_adds_a_reference) {
  counted& node = add(0x1000);
  EXPECT_EQ(find(0x1000), &node);
  EXPECT_EQ(node.count, 2u);
  EXPECT_EQ(find(0x1010), nullptr);
}

TEST_F(registry_test, keys_that_share_a_bucket_are_distinct) {
  std::vector<counted*> added;
  for (std::uintptr_t i = 0; i < 5000; ++i) added.push_back(&add(0x1000 + i * 0x10));
  for (std::size_t i = 0; i < added.size(); i += 2) table->remove(*added[i]);
  for (std::size_t i = 0; i < added.size(); ++i) {
    EXPECT_EQ(find(0x1000 + i * 0x10), i % 2 == 0 ? nullptr : added[i]);
  }
}

TEST_F(registry_test, removing_twice_is_harmless) {
  counted& node = add(0x1000);
  table->remove(node);
  table->remove(node);
  EXPECT_EQ(find(0x1000), nullptr);
}

TEST_F(registry_test, a_node_without_holders_is_not_found) {
  counted& node = add(0x1000);
  EXPECT_TRUE(node.remove_references(1));
  EXPECT_EQ(find(0x1000), nullptr);
  EXPECT_EQ(node.count, 0u);
}

TEST_F(registry_test, a_dying_node_does_not_hide_a_live_one) {
  counted& live = add(0x1000);
  counted& dying = add(0x1000);
  EXPECT_TRUE(dying.remove_references(1));
  EXPECT_EQ(find(0x1000), &live);
}

TEST_F(registry_test, kinds_are_distinct) {
  add(0x1000);
  EXPECT_EQ(table->find(&other_kind, reinterpret_cast<void*>(0x1000)), nullptr);
}

TEST_F(registry_test, abandoning_removes_everything) {
  add(0x1000);
  table->abandon();
  EXPECT_EQ(find(0x1000), nullptr);
  counted& later = add(0x1000);
  EXPECT_EQ(find(0x1000), &later);
}

}  // namespace
}  // namespace halfwarp::core
