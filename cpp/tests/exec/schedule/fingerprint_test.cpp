// SPDX-License-Identifier: Apache-2.0
// Each part of the state of a block changes its digest, and what has no meaning changes none.
#include "emulator/exec/watch/fingerprint.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace halfwarp::tests {
namespace {

using namespace emulator::exec;

constexpr std::size_t line = 64;

// Two warps of two splits. The frames of a warp have one parent.
class scene {
 public:
  scene() {
    block.warps.resize(2);
    block.shared.resize(2 * line);
    block.local.resize(line);
    for (warp_state& w : block.warps) {
      frame* const parent = add_frame(w, nullptr);
      for (const std::uint32_t lanes : {0xffff'0000u, 0x0000'ffffu}) {
        warp_split f;
        f.lanes = lanes;
        f.top_frame = add_frame(w, parent);
        w.splits.add(f);
      }
    }
  }

  warp_state& warp() { return block.warps[1]; }
  warp_split& split() { return warp().splits[0]; }
  frame& top() { return *split().top_frame; }

  std::uint64_t positions() const {
    digest result;
    add_positions(result, block);
    return result.value();
  }
  std::uint64_t contents() const {
    digest result;
    add_contents(result, block);
    return result.value();
  }

  block_state block;
  function_code called[2];

 private:
  frame* add_frame(warp_state& w, frame* parent) {
    w.frames.push_back(std::make_unique<frame>());
    frame& added = *w.frames.back();
    added.function = nullptr;
    added.parent = parent;
    added.users = 1;
    added.values.resize(line);
    return &added;
  }
};

using change_of = std::function<void(scene&)>;
using reading = std::uint64_t (scene::*)() const;

// Expects that all scenes differ from the first one and from each other.
void expect_different(const std::vector<change_of>& changes, reading of) {
  std::set<std::uint64_t> digests{(scene{}.*of)()};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    scene changed;
    changes[i](changed);
    EXPECT_TRUE(digests.insert((changed.*of)()).second) << "change " << i;
  }
}

// Adds a change of each bit of a number.
template <class Number>
void add_bits(std::vector<change_of>& to, unsigned bits,
              const std::function<Number&(scene&)>& number) {
  for (unsigned bit = 0; bit < bits; ++bit) {
    to.push_back([=](scene& s) { number(s) ^= Number{1} << bit; });
  }
}

TEST(positions, depend_on_the_place_of_each_split) {
  std::vector<change_of> changes;
  add_bits<std::uint64_t>(changes, 32, [](scene& s) -> auto& { return s.block.number; });
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.block.live_threads; });
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.warp().view.live; });
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.split().next; });
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.split().lanes; });
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.split().members; });
  add_bits<std::uint32_t>(changes, 4, [](scene& s) -> auto& { return s.split().barrier; });
  for (const auto state : {split_state::running, split_state::at_barrier, split_state::at_cluster,
                           split_state::before_aligned, split_state::at_collective}) {
    changes.push_back([=](scene& s) { s.split().state = state; });
  }
  changes.push_back([](scene& s) { s.warp().splits.remove(0); });
  expect_different(changes, &scene::positions);
}

TEST(contents, depend_on_barriers_frames_and_memory) {
  std::vector<change_of> changes;
  for (const std::size_t i : {0, 15}) {
    const auto barrier = [i](scene& s) -> auto& { return s.block.barriers[i]; };
    add_bits<std::uint32_t>(changes, 11, [=](scene& s) -> auto& { return barrier(s).arrived; });
    add_bits<std::uint32_t>(changes, 11, [=](scene& s) -> auto& { return barrier(s).expected; });
    add_bits<std::uint32_t>(changes, 32, [=](scene& s) -> auto& { return barrier(s).any; });
    add_bits<std::uint32_t>(changes, 32, [=](scene& s) -> auto& { return barrier(s).all; });
    add_bits<std::uint32_t>(changes, 11, [=](scene& s) -> auto& { return barrier(s).count; });
    changes.push_back([=](scene& s) { barrier(s).is_reduction = true; });
  }
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.top().return_index; });
  add_bits<std::uint32_t>(changes, 6, [](scene& s) -> auto& { return s.top().users; });
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.top().base; });
  add_bits<std::uint32_t>(changes, 32, [](scene& s) -> auto& { return s.top().depth; });
  add_bits<std::uint32_t>(changes, 1, [](scene& s) -> auto& { return s.top().parent->base; });
  changes.push_back([](scene& s) { s.top().function = &s.called[0]; });
  changes.push_back([](scene& s) { s.top().function = &s.called[1]; });
  changes.push_back([](scene& s) { s.top().parent = nullptr; });
  changes.push_back([](scene& s) { s.warp().splits[1].top_frame = &s.top(); });
  for (std::size_t i = 0; i < line; ++i) {
    changes.push_back([=](scene& s) { s.top().values.data()[i] = std::byte{1}; });
    changes.push_back([=](scene& s) { s.block.local.data()[i] = std::byte{1}; });
  }
  for (std::size_t i = 0; i < 2 * line; ++i) {
    changes.push_back([=](scene& s) { s.block.shared.data()[i] = std::byte{1}; });
  }
  expect_different(changes, &scene::contents);
}

TEST(digests, exclude_the_order_of_splits_and_addresses_of_frames) {
  scene first, second;
  std::swap(second.warp().splits[0], second.warp().splits[1]);
  std::swap(second.warp().frames[1], second.warp().frames[2]);
  second.warp().view.active = 3;
  EXPECT_EQ(first.positions(), second.positions());
  EXPECT_EQ(first.contents(), second.contents());
}

TEST(digests, depend_on_the_order_of_numbers) {
  const auto of = [](std::uint64_t a, std::uint64_t b) {
    digest result;
    result.add(a);
    result.add(b);
    return result.value();
  };
  std::set<std::uint64_t> values;
  for (std::uint64_t a = 0; a < 32; ++a) {
    for (std::uint64_t b = 0; b < 32; ++b) values.insert(of(a, b));
  }
  EXPECT_EQ(values.size(), 1024u);
}

TEST(content_bytes, count_shared_and_local_memory_and_registers) {
  scene s;
  EXPECT_EQ(content_bytes(s.block), 3 * line + 6 * line);
  s.top().values.resize(5 * line);
  EXPECT_EQ(content_bytes(s.block), 3 * line + 10 * line);
}

}  // namespace
}  // namespace halfwarp::tests
