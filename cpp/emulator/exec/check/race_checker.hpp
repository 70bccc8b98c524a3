// SPDX-License-Identifier: Apache-2.0
// Finds accesses of two threads to the same bytes without order between them, in one launch.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emulator/exec/check/race_site.hpp"
#include "emulator/exec/check/runs/load_run.hpp"
#include "emulator/exec/check/shadow.hpp"
#include "emulator/exec/check/warp_access.hpp"
#include "emulator/report/fault.hpp"
#include "emulator/report/launch_writes.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;
struct block_state;
struct kernel_code;
class init_checker;

// Used by one host thread. The scheduler calls it before accesses and after synchronizations.
class race_checker final : private race::conflict_listener {
 public:
  race_checker(const launch_state& launch, const launch_sites& sites);
  race_checker(const race_checker&) = delete;  // the shadow refers to it

  void begin(const block_state& block);
  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access);
  // This function does so for an access with a pattern whose cells need no comparison of clocks. It
  // returns false for another access.
  bool pass(const warp_access& access);
  // Records loads of 4 bytes by all lanes. `nearest` has the addresses of the least distance.
  // Returns whether the shadow is the same as before.
  bool record(const warp_access& nearest, const load_group& group);
  // Returns a number of the time between two barriers of a block.
  std::uint32_t phase_of(const warp& w) { return order_of(w).warps[w.index].full; }
  // Call when an asynchronous copy to shared memory counts as a store by a lane.
  void record_copy(warp& w, const instruction& instr, std::uint32_t lane, const std::byte* to,
                   std::uint32_t bytes);
  // Call when a lane starts an asynchronous copy from shared memory by the async proxy.
  void record_source(warp& w, const instruction& instr, std::uint32_t lane, const std::byte* from,
                     std::uint32_t bytes);
  // Call after `record_copy`, if an mbarrier signals the copy.
  void signal_copy(const warp& w, std::uint32_t lane, const std::byte* barrier);
  // Call when lanes arrive at a barrier, and when it opens.
  void arrive(const warp& w, std::uint32_t barrier, lane_mask lanes, bool waits);
  void open(const block_state& block, std::uint32_t barrier);
  // Call when lanes arrive at the barrier of the cluster, and when a warp continues after it.
  void arrive_at_cluster(const warp& w, const instruction& instr, lane_mask lanes);
  void leave_cluster(const warp& w);
  // Call after the members of a mask have executed an instruction together.
  void meet(const warp& w, const instruction& instr, lane_mask members);

  std::vector<report::fault> findings() const;
  // Returns the last writers. The other check knows which instructions stored unwritten bytes.
  report::launch_writes writes(const init_checker* definedness) const;

 private:
  // The access that is compared with the shadow.
  struct present_access {
    warp* view = nullptr;
    const instruction* instr = nullptr;
    const race_site* site = nullptr;
    std::uint32_t element = 0;
    lane_mask lanes = 0;
    std::array<shared_word, warp_size> words{};
    bool is_located = true;  // `words` has the addresses of the lanes
  };
  using finding_key = std::tuple<race::conflict, std::uint32_t, std::uint32_t>;

  // An access with a pattern whose halves have cells of lines, or read one word each.
  static bool has_halves(const warp_access& access);
  const race_site& site_of(const warp& w, const instruction& instr) const;
  bool has_qualifier(const warp& w, const instruction& instr, ptx::qualifier q) const;
  std::uint32_t number_of(const race_site& site) const;
  race::block_order& order_of(const warp& w);

  void record_access(const warp_access& access);
  bool pass_half(const race::accessor& by, const warp_access::half& part, std::uint32_t lane);
  bool compare_halves(const warp_access& access);
  void record_matrix(const warp_access& access);
  void record_phase(const warp_access& access);
  void record_fence(const warp_access& access);
  bool is_proxied(const race::block_order& block, const warp& issuer, race::cell writer) const;
  void locate(lane_mask lanes);
  void compare();
  bool compare_half(race::accessor& by, std::uint32_t first, lane_mask lanes);
  void compare_lane(race::accessor& by, std::uint32_t lane);
  void drop_equal_addresses();
  void record_order(race::block_order& block);
  bool stores_present_value(std::uint32_t lane);
  bool is_failing_swap(std::uint32_t lane);
  static void set_space(race::accessor& by, bool is_shared);
  race::accessor accessor_of(const warp& w, const race_site& site, std::size_t number);

  bool has_other_width(race::cell first) const override;
  void on_conflict(race::conflict kind, race::cell first, const race::accessor& by,
                   std::uint32_t lane, std::uint64_t address) override;
  void add_finding(const finding_key& key, std::optional<race::cell> first, std::uint32_t lane);
  report::earlier_access describe(race::cell access, lane_mask lanes = all_lanes) const;

  static constexpr std::size_t max_findings = 100;

  const launch_state& launch_;
  const launch_sites& positions_;
  const std::vector<race_site>& sites_;
  race::launch_order order_;
  race::shadow shadow_{*this};
  std::unordered_map<const block_state*, race::block_order> blocks_;
  const block_state* last_block_ = nullptr;
  race::block_order* last_order_ = nullptr;  // of this block
  present_access now_;
  std::map<finding_key, report::fault> findings_;
};

inline race::block_order& race_checker::order_of(const warp& w) {
  if (w.block != last_block_) [[unlikely]] {
    last_block_ = w.block;
    last_order_ = &blocks_.at(w.block);
  }
  return *last_order_;
}

inline race::accessor race_checker::accessor_of(const warp& w, const race_site& site,
                                                std::size_t number) {
  race::block_order& block = order_of(w);
  const race::cell mine{block.warps[w.index].segment, race::cell_kind::one, site.reach, 0,
                        static_cast<std::uint32_t>(number)};
  return {order_, block, w.index, false, site.shape.use != memory_use::load, mine};
}

// Other blocks of a cluster access shared memory too, so it counts as memory of the grid.
inline void race_checker::set_space(race::accessor& by, bool is_shared) {
  by.is_in_cluster = is_shared && by.block.cluster_first != 0;
  by.is_shared = is_shared && !by.is_in_cluster;
}

inline bool race_checker::has_halves(const warp_access& access) {
  using pattern = warp_access::pattern;
  if (!access.is_regular || access.bytes != 4 || access.site.reach != race::scope::weak) {
    return false;
  }
  if (access.site.shape.use == memory_use::load) return true;
  const auto& [low, high] = access.halves;
  const bool is_run = low.kind != pattern::uniform && high.kind != pattern::uniform;
  const bool has_both = low.kind == high.kind;
  return is_run && !(has_both && low.cell + half_warp * 4 > high.cell);
}

[[gnu::always_inline]] inline bool race_checker::pass_half(const race::accessor& by,
                                                           const warp_access::half& part,
                                                           std::uint32_t lane) {
  using pattern = warp_access::pattern;
  if (part.kind == pattern::run) return shadow_.pass_line(by, part.cell, lane);
  return part.kind == pattern::absent || shadow_.pass_uniform(by, part.cell, lane);
}

[[gnu::always_inline]] inline bool race_checker::pass(const warp_access& access) {
  if (!has_halves(access) || order_.segments.is_exhausted()) return false;
  race::accessor by = accessor_of(access.view, access.site, access.number);
  set_space(by, access.is_shared);
  return pass_half(by, access.halves[0], 0) && pass_half(by, access.halves[1], half_warp);
}

}  // namespace halfwarp::emulator::exec
