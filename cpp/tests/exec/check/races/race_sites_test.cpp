// SPDX-License-Identifier: Apache-2.0
// Tests how the race check reads instructions: as accesses with a scope, as fences, as other order.
#include "../checked.hpp"
#include "emulator/exec/check/race_site.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/program.hpp"

namespace halfwarp::tests {
namespace {

using exec::memory_use;
using exec::race_site;
using exec::race::scope;
using role = race_site::role;

class race_sites : public ::testing::Test {
 protected:
  // Returns the sites of a body, without those that mean nothing to the check.
  std::vector<race_site> sites_of(const std::string& body, scope of_cluster = scope::cta) {
    const exec::kernel& k =
        *m.load(kernel(body, ".shared .align 16 .b8 s[1024];\n")).find_kernel("k");
    std::vector<race_site> all;
    const exec::function_code& function = exec::code_of(k.owner(), k.function()).functions.front();
    for (const exec::instruction& instr : function.code) {
      const race_site site = exec::make_race_site(*k.owner().source, function, instr, of_cluster);
      orders |= exec::orders_some_threads(site);
      if (site.use != role::none) all.push_back(site);
    }
    return all;
  }
  bool orders_some(const std::string& body) {
    orders = false;
    sites_of(body);
    return orders;
  }
  machine m;
  bool orders = false;
};

TEST_F(race_sites, of_accesses_have_their_scope) {
  struct row {
    const char* text;
    scope reach;
    memory_use use;
    std::uint32_t bytes;
  };
  const row rows[] = {
      {"ld.global.u32 u, [a];", scope::weak, memory_use::load, 4},
      {"ld.weak.global.u64 c, [a];", scope::weak, memory_use::load, 8},
      {"ld.volatile.global.u32 u, [a];", scope::sys, memory_use::load, 4},
      {"ld.relaxed.cta.global.u32 u, [a];", scope::cta, memory_use::load, 4},
      {"ld.relaxed.gpu.global.u32 u, [a];", scope::gpu, memory_use::load, 4},
      {"ld.relaxed.sys.global.u8 u, [a];", scope::sys, memory_use::load, 1},
      {"ld.relaxed.cluster.global.u32 u, [a];", scope::cta, memory_use::load, 4},
      {"ld.mmio.relaxed.sys.global.u32 u, [a];", scope::sys, memory_use::load, 4},
      {"st.global.u16 [a], h;", scope::weak, memory_use::store, 2},
      {"st.volatile.shared.u32 [s], u;", scope::sys, memory_use::store, 4},
      {"st.relaxed.gpu.global.u32 [a], u;", scope::gpu, memory_use::store, 4},
      {"atom.global.add.u32 u, [a], 1;", scope::gpu, memory_use::update, 4},
      {"atom.relaxed.cta.global.add.u32 u, [a], 1;", scope::cta, memory_use::update, 4},
      {"atom.sys.global.exch.b64 c, [a], d;", scope::sys, memory_use::exch, 8},
      {"atom.shared.cas.b32 u, [s], v, w;", scope::gpu, memory_use::cas, 4},
      {"red.cluster.global.add.u32 [a], 1;", scope::cta, memory_use::update, 4},
  };
  for (const row& each : rows) {
    std::vector<race_site> sites = sites_of(each.text);
    ASSERT_EQ(sites.size(), 1u) << each.text;
    EXPECT_EQ(sites[0].use, role::access) << each.text;
    EXPECT_EQ(sites[0].reach, each.reach) << each.text;
    EXPECT_EQ(sites[0].shape.use, each.use) << each.text;
    EXPECT_EQ(sites[0].shape.bytes, each.bytes) << each.text;
    EXPECT_EQ(sites[0].shape.is_shared,
              std::string_view{each.text}.find("[s]") != std::string::npos)
        << each.text;
    EXPECT_FALSE(sites[0].acquires || sites[0].releases) << each.text;
  }
  EXPECT_EQ(sites_of("red.cluster.global.add.u32 [a], 1;", scope::gpu).at(0).reach, scope::gpu);
}

TEST_F(race_sites, of_atomic_operations_acquire_and_release) {
  struct row {
    const char* order;
    bool acquires, releases;
  };
  const row rows[] = {{"relaxed", false, false},
                      {"acquire", true, false},
                      {"release", false, true},
                      {"acq_rel", true, true}};
  for (const row& each : rows) {
    const std::string text = std::string{"atom."} + each.order + ".gpu.global.add.u32 u, [a], 1;";
    const auto sites = sites_of(text);
    ASSERT_EQ(sites.size(), 1u) << text;
    EXPECT_EQ(sites[0].acquires, each.acquires) << text;
    EXPECT_EQ(sites[0].releases, each.releases) << text;
    EXPECT_EQ(orders_some(text), each.acquires || each.releases) << text;
  }
}

TEST_F(race_sites, of_fences_have_their_scope) {
  const std::pair<const char*, scope> rows[] = {
      {"membar.cta;", scope::cta},       {"membar.gl;", scope::gpu},
      {"membar.sys;", scope::sys},       {"fence.acq_rel.cta;", scope::cta},
      {"fence.sc.gpu;", scope::gpu},     {"fence.acq_rel.sys;", scope::sys},
      {"fence.sc.cluster;", scope::cta}, {"fence.proxy.async;", scope::sys}};
  for (const auto& [text, reach] : rows) {
    const auto sites = sites_of(text);
    ASSERT_EQ(sites.size(), 1u) << text;
    EXPECT_EQ(sites[0].use, role::fence) << text;
    EXPECT_EQ(sites[0].reach, reach) << text;
    EXPECT_EQ(sites[0].is_between_proxies,
              std::string_view{text}.find("proxy") != std::string::npos)
        << text;
  }
  EXPECT_EQ(sites_of("fence.sc.cluster;", scope::gpu).at(0).reach, scope::gpu);
}

// Barriers of the whole block and of whole warps need no lists of readers.
TEST_F(race_sites, that_order_some_threads_are_known) {
  for (const std::string text :
       {"bar.sync 0;", "bar.sync 3;", "barrier.sync 1;", "bar.red.popc.u32 u, 0, p;",
        "bar.warp.sync -1;", "shfl.sync.idx.b32 u, v, 0, 31, -1;", "vote.sync.any.pred p, p, -1;",
        "ld.global.u32 u, [a];", "st.shared.u32 [s], u;", "red.global.add.u32 [a], 1;",
        "ld.relaxed.gpu.global.u32 u, [a];", "add.u32 u, u, 1;",
        "cp.async.ca.shared.global [s], [a], 4; cp.async.wait_all;"}) {
    EXPECT_FALSE(orders_some(text)) << text;
  }
  for (const std::string text :
       {"bar.sync 0, 64;", "bar.arrive 1, 64;", "barrier.sync 1, 32;",
        "bar.red.popc.u32 u, 0, 64, p;", "barrier.cluster.arrive; barrier.cluster.wait;",
        "bar.warp.sync 3;", "bar.warp.sync t;", "shfl.sync.idx.b32 u, v, 0, 31, 0xffff;",
        "membar.gl;", "fence.acq_rel.gpu;", "ld.acquire.gpu.global.u32 u, [a];",
        "st.release.gpu.global.u32 [a], u;", "mbarrier.init.shared.b64 [s], 1;"}) {
    EXPECT_TRUE(orders_some(text)) << text;
  }
}

TEST_F(race_sites, of_copies_and_barriers_of_phases) {
  auto sites = sites_of(
      "cp.async.ca.shared.global [s], [a], 4; cp.async.commit_group; cp.async.wait_group 0;");
  ASSERT_EQ(sites.size(), 3u);
  for (const race_site& each : sites) EXPECT_EQ(each.use, role::copy);
  EXPECT_EQ(sites[0].shape.use, memory_use::store);
  EXPECT_EQ(sites[0].shape.bytes, 4u);
  EXPECT_TRUE(sites[0].shape.is_shared);
  const std::pair<const char*, scope> rows[] = {
      {"mbarrier.init.shared.b64 [s], 1;", scope::cta},
      {"mbarrier.arrive.shared.b64 c, [s];", scope::cta},
      {"mbarrier.arrive.release.cluster.shared::cta.b64 c, [s];", scope::gpu},
      {"cp.async.mbarrier.arrive.shared.b64 [s];", scope::cta}};
  for (const auto& [text, reach] : rows) {
    sites = sites_of(text);
    ASSERT_EQ(sites.size(), 1u) << text;
    EXPECT_EQ(sites[0].use, role::phase_barrier) << text;
    EXPECT_EQ(sites[0].reach, reach) << text;
    EXPECT_EQ(sites[0].shape.bytes, 8u) << text;
    EXPECT_TRUE(sites[0].shape.is_shared) << text;
  }
}

TEST_F(race_sites, of_matrices_are_of_whole_warps) {
  const auto rows = sites_of(
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {u}, [s];"
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {u};");
  ASSERT_EQ(rows.size(), 2u);
  for (const race_site& each : rows) {
    EXPECT_EQ(each.use, role::rows);
    EXPECT_EQ(each.shape.bytes, 4u);
    EXPECT_TRUE(each.shape.is_shared);
  }
  EXPECT_EQ(rows[0].shape.use, memory_use::load);
  EXPECT_EQ(rows[1].shape.use, memory_use::store);
}

}  // namespace
}  // namespace halfwarp::tests
