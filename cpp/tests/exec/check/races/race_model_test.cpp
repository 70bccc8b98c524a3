// SPDX-License-Identifier: Apache-2.0
// Compares the races of random kernels with a model, which knows the clocks of all threads.
#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "../checked.hpp"

namespace halfwarp::tests {
namespace {

constexpr std::uint32_t memory_bytes = 2048, max_threads = 96;

// An instruction of the kernel, and the text by which a finding names it.
struct site {
  enum class kind { load, store, update } use = kind::load;
  std::uint32_t bytes = 4;  // of one thread
  std::string text;
};

// Accesses by one thread: its clock says which segments of others are ordered before it.
struct entry {
  std::size_t site = 0;
  std::uint32_t thread = 0, segment = 0;              // the thread in the grid
  const std::vector<std::uint32_t>* known = nullptr;  // by thread
};

constexpr std::size_t any_load = ~std::size_t{0};
using site_pair = std::pair<std::size_t, std::size_t>;  // the lower number first
site_pair pair_of(std::size_t a, std::size_t b) { return std::minmax(a, b); }

class random_kernel {
 public:
  explicit random_kernel(std::uint32_t seed)
      : random_{seed}, is_exact_{seed % 2 != 0}, is_sparse_{seed % 8 >= 1} {
    threads = std::array{32u, 64u, 96u, 40u}[choose(4)];
    blocks = 1 + (choose(is_sparse_ ? 4 : 2) == 0);
    const std::uint32_t all = threads * blocks;
    for (std::uint32_t i = 0; i < all; ++i) {
      states_.emplace_back(all)[i] = 1;
      clocks_.push_back(&states_.back());
    }
    const std::uint32_t groups = (is_sparse_ ? 3 : 2) + choose(4);
    for (std::uint32_t i = 0; i < groups; ++i) {
      add_group();
      if (choose(3) != 0) add_order();
    }
    // A barrier of a number of threads, at which no access follows.
    if (is_exact_) body_ += "bar.sync 2, " + std::to_string((threads + 31) / 32 * 32) + ";\n";
  }

  std::string text() const {
    return head + ".shared .align 64 .b8 s[" + std::to_string(memory_bytes) +
           "];\n"
           ".visible .entry k(.param .u64 x, .param .u64 y) {\n"
           ".reg .b64 a, b, g, tab, q<99>; .reg .b32 t, all, n, m<99>, w<999>; .reg .pred p, r;\n"
           ".reg .b64 d<999>;\n"
           "ld.param.u64 a, [x]; ld.param.u64 tab, [y]; mov.u32 t, %tid.x;\n"
           "mov.u32 n, %ctaid.x; mov.u32 all, %ntid.x; mad.lo.u32 all, n, all, t;\n"
           "mul.wide.u32 b, t, 4; add.u64 tab, tab, b;\n"
           "mov.u32 n, s; cvt.u64.u32 b, n; cvta.shared.u64 g, b;\n" +
           body_ + "ret; }\n";
  }

  // Without barriers of some threads, the check keeps only the last of several readers.
  std::size_t named(std::size_t number) const {
    return is_exact_ || sites[number].use != site::kind::load ? number : any_load;
  }

  // All pairs of instructions that race, by byte.
  std::map<std::uint64_t, std::set<site_pair>> races() const {
    std::map<std::uint64_t, std::set<site_pair>> all;
    for (const auto& [byte, entries] : accesses_) {
      for (std::size_t i = 0; i < entries.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (!do_race(entries[j], entries[i])) continue;
          all[byte].insert(pair_of(named(entries[j].site), named(entries[i].site)));
        }
      }
    }
    return all;
  }

  // Returns whether an access of a thread in the grid at a byte races with the other site.
  bool does_race(std::size_t number, std::uint32_t thread, std::size_t other,
                 std::uint64_t byte) const {
    const auto match = accesses_.find(byte);
    if (match == accesses_.end()) return false;
    return std::ranges::any_of(match->second, [&](const entry& mine) {
      return mine.site == number && mine.thread == thread &&
             std::ranges::any_of(match->second, [&](const entry& each) {
               return named(each.site) == named(other) &&
                      (do_race(mine, each) || do_race(each, mine));
             });
    });
  }

  std::uint32_t threads = 0, blocks = 0;
  std::vector<std::uint32_t> table;  // offsets of threads, by group
  std::vector<site> sites;

 private:
  std::uint32_t choose(std::uint32_t count) {
    return static_cast<std::uint32_t>(random_() % count);
  }

  bool do_race(const entry& a, const entry& b) const {
    const site &first = sites[a.site], &second = sites[b.site];
    if (a.thread == b.thread || a.segment <= (*b.known)[a.thread]) return false;
    if (first.use == site::kind::load && second.use == site::kind::load) return false;
    return first.use != site::kind::update || second.use != site::kind::update;
  }

  // Returns the offset of a thread, a multiple of the width.
  std::uint32_t offset_of(std::uint32_t pattern, std::uint32_t t, std::uint32_t bytes,
                          std::uint32_t detail) const {
    switch (pattern) {
      case 0:
        return t * bytes;
      case 1:
        return t % 32 * bytes;
      case 2:
        return t % 16 * bytes;
      case 3:
        return 0;
      case 4:
        return t / 16 * 64;
      case 5:
        return (t ^ (detail % 32)) * bytes;
      case 6:
        return t * detail % 24 * bytes;
      default:
        return t / 32 * 32 * bytes + (31 - t % 32) * bytes;
    }
  }

  // Instructions whose addresses differ by a fixed distance.
  void add_group() {
    const bool is_shared = choose(is_sparse_ ? 4 : 2) != 0, is_generic = choose(4) == 0;
    const std::uint32_t number = group_++, detail = 1 + choose(31);
    const std::uint32_t step = choose(3) ? 4u : std::array{1u, 2u, 8u, 16u}[choose(4)];
    // Threads that store equal values at one address do not race, so bytes have different ones.
    const std::uint32_t pattern = step < 4     ? std::array{0u, 1u, 5u, 7u}[choose(4)]
                                  : is_sparse_ ? std::array{0u, 3u, 3u, 5u}[choose(4)]
                                               : choose(8);
    const std::uint32_t one = 1u << choose(10), other = 1u << choose(10);
    const std::uint32_t active =
        is_sparse_ ? std::array{one, one | other, one | other, 0xffu, 0x1ffffu}[choose(5)]
                   : std::array{~0u, ~0u, ~0u, 0xffffu, 0xffff0000u, 0x00ff0f31u}[choose(6)];
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t t = 0; t < max_threads; ++t) {
      offsets.push_back(offset_of(pattern, t, step, detail));
      table.push_back(offsets.back());
    }
    const std::string m = "m" + std::to_string(number), q = "q" + std::to_string(number);
    body_ += "ld.global.u32 " + m + ", [tab+" + std::to_string(number * max_threads * 4) + "];\n";
    if (is_shared && !is_generic) {
      body_ += "add.u32 " + m + ", " + m + ", n;\n";
    } else {
      body_ += "cvt.u64.u32 " + q + ", " + m + "; add.u64 " + q + ", " + q + ", " +
               (is_shared ? "g" : "a") + ";\n";
    }
    const std::string address = is_shared && !is_generic ? m : q;
    const std::string space = is_generic ? "" : is_shared ? ".shared" : ".global";
    if (active != ~0u) {
      body_ += "and.b32 w0, t, 31; shr.u32 w0, " + std::to_string(active) +
               ", w0; and.b32 w0, w0, 1; setp.ne.u32 p, w0, 0;\n";
    }
    const std::uint32_t start = choose(2) ? 0 : 4 * choose(is_sparse_ ? 4 : 20);
    const std::uint32_t count = 1 + choose(is_sparse_ ? 2 : 4), mix = choose(5);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t kind = mix < 2 ? 0 : mix == 2 ? choose(5) : mix == 3 ? 1 : choose(2);
      add_access(space, address, (start + i * std::array{4u, 64u, 16u}[detail % 3]) / step * step,
                 step, kind, active);
      record(offsets, is_shared, active);
    }
  }

  void add_access(const std::string& space, const std::string& address, std::uint32_t distance,
                  std::uint32_t bytes, std::uint32_t kind, std::uint32_t active) {
    const std::string n = std::to_string(sites.size() + 1);
    site added{.bytes = bytes, .text = {}};
    if (kind >= 1) added.use = kind == 4 && bytes == 4 ? site::kind::update : site::kind::store;
    const std::string place = "[" + address + "+" + std::to_string(distance) + "]";
    const std::string value = bytes == 8 ? "d" + n : "w" + n;
    const std::string four = "{w" + n + ", w" + n + ", w" + n + ", w" + n + "}";
    const std::string type = bytes == 16 ? ".v4.u32" : ".u" + std::to_string(8 * bytes);
    if (added.use == site::kind::load) {
      const std::string to = bytes == 16 ? "{w" + n + ", w901, w902, w903}" : value;
      added.text = "ld" + space + type + " " + to + ", " + place;
    } else if (added.use == site::kind::update) {
      added.text = "red" + space + ".add.u32 " + place + ", all";
    } else {
      body_ += "mad.lo.u32 w" + n + ", all, 65, " + n + ";\n";
      if (bytes == 8) body_ += "mov.b64 d" + n + ", {w" + n + ", w" + n + "};\n";
      added.text = "st" + space + type + " " + place + ", " + (bytes == 16 ? four : value);
    }
    if (active != ~0u) added.text = "@p " + added.text;
    body_ += added.text + ";\n";
    sites.push_back(std::move(added));
    distance_ = distance;
  }

  // Records the access by all threads of all blocks.
  void record(const std::vector<std::uint32_t>& offsets, bool is_shared, std::uint32_t active) {
    for (std::uint32_t thread = 0; thread < clocks_.size(); ++thread) {
      const std::uint32_t t = thread % threads;
      if (!(active >> t % 32 & 1)) continue;
      const std::uint64_t space = is_shared ? 1 + thread / threads : 0;
      for (std::uint32_t i = 0; i < sites.back().bytes; ++i) {
        accesses_[space * 65536 + offsets[t] + distance_ + i].push_back(
            {sites.size() - 1, thread, (*clocks_[thread])[thread], clocks_[thread]});
      }
    }
  }

  void add_order() {
    const std::uint32_t warps = (threads + 31) / 32, kind = choose(is_exact_ ? 7 : 3);
    if (kind <= 1) {
      body_ += kind ? "bar.sync 0;\n" : "bar.warp.sync -1;\n";
      for (std::uint32_t block = 0; block < blocks; ++block) {
        for (std::uint32_t w = 0; w < warps; ++w) {
          if (!kind) join(block, w * 32, w * 32 + 32, ~0u);
        }
        if (kind) join(block, 0, threads, ~0u);
      }
    } else if (kind == 3 && warps > 1) {
      const std::string label = "L" + std::to_string(sites.size()) + "_" + std::to_string(group_);
      body_ += "setp.ge.u32 r, t, 64; @r bra " + label + "; bar.sync 1, 64; " + label + ":\n";
      if (threads < 64) return add_whole_count();
      for (std::uint32_t block = 0; block < blocks; ++block) join(block, 0, 64, ~0u);
    } else if (kind > 3) {
      body_ += "and.b32 w0, t, 31; setp.lt.u32 r, w0, 8; @r bar.warp.sync 0xff;\n";
      for (std::uint32_t block = 0; block < blocks; ++block) {
        for (std::uint32_t w = 0; w < warps; ++w) join(block, w * 32, w * 32 + 32, 0xff);
      }
    }
  }

  // A barrier counts whole warps, so 40 threads arrive as 64.
  void add_whole_count() {
    for (std::uint32_t block = 0; block < blocks; ++block) join(block, 0, threads, ~0u);
  }

  // Orders what some threads of a block did before what they do next.
  void join(std::uint32_t block, std::uint32_t first, std::uint32_t last, std::uint32_t lanes) {
    std::vector<std::uint32_t> members, all(clocks_.size());
    for (std::uint32_t t = first; t < std::min(last, threads); ++t) {
      if (lanes >> t % 32 & 1) members.push_back(block * threads + t);
    }
    for (const std::uint32_t each : members) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], (*clocks_[each])[i]);
    }
    for (const std::uint32_t each : members) {
      clocks_[each] = &states_.emplace_back(all);
      ++states_.back()[each];
    }
  }

  std::mt19937 random_;
  bool is_exact_ = false, is_sparse_ = false;  // sparse: few lanes take part in each access
  std::string body_;
  std::uint32_t group_ = 0, distance_ = 0;
  std::deque<std::vector<std::uint32_t>> states_;
  std::vector<const std::vector<std::uint32_t>*> clocks_;  // the present ones, by thread
  std::map<std::uint64_t, std::vector<entry>> accesses_;
};

class race_model : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  race_model() { m.options.check_races = true; }
  machine m;
};

std::size_t number_of(const std::vector<site>& sites, const std::string& text) {
  const auto match = std::ranges::find(sites, text, &site::text);
  EXPECT_NE(match, sites.end()) << text;
  return static_cast<std::size_t>(match - sites.begin());
}

// A store of the value that is there does not race: only narrow values are equal by chance. An
// update hides what its own thread did before from the updates of others.
bool may_be_missing(const random_kernel& kernel, site_pair pair) {
  const auto is_weak = [&](std::size_t n) {
    if (n == any_load) return false;
    const site& each = kernel.sites[n];
    return each.use == site::kind::update || (each.use == site::kind::store && each.bytes < 4);
  };
  return is_weak(pair.first) || is_weak(pair.second);
}

// Returns whether the thread of a finding races at its address.
bool has_place(const random_kernel& kernel, const report::fault& f, std::size_t second,
               std::size_t first, memory::address data) {
  const bool is_shared = f.space == report::memory_space::shared;
  const std::uint32_t block = f.block_index[0];
  const std::uint64_t start = is_shared ? f.address + (1 + block) * 65536 : f.address - data;
  for (std::uint64_t byte = start; byte < start + kernel.sites[second].bytes; ++byte) {
    if (kernel.does_race(second, block * kernel.threads + f.thread[0], first, byte)) return true;
  }
  return false;
}

std::string texts_of(const random_kernel& kernel, const std::set<site_pair>& pairs) {
  std::string texts;
  for (const auto& [first, second] : pairs) {
    texts += kernel.sites[first].text + " and " +
             (second == any_load ? "a load" : kernel.sites[second].text) + "\n";
  }
  return texts;
}

TEST_P(race_model, has_the_races_that_the_check_finds) {
  const memory::address data = m.allocate(4 * memory_bytes), table = m.allocate(4096);
  for (std::uint32_t seed = GetParam(); seed < GetParam() + 100; ++seed) {
    const random_kernel kernel{seed};
    std::memset(m.view<char>(data), 0xff, 4 * memory_bytes);
    std::memcpy(m.view<char>(table), kernel.table.data(), 4 * kernel.table.size());
    const std::string text = kernel.text();
    m.load(text);
    const auto result = m.run("k", {kernel.blocks, 1, 1}, {kernel.threads, 1, 1}, data, table);
    ASSERT_FALSE(result.fault) << report::full_text(*result.fault) << text;
    const auto races = kernel.races();
    std::set<site_pair> reported;
    for (const report::fault& each : result.findings) {
      const std::size_t second = number_of(kernel.sites, each.instruction);
      const std::size_t first =
          each.earlier ? number_of(kernel.sites, each.earlier->instruction) : second;
      EXPECT_TRUE(has_place(kernel, each, second, first, data))
          << seed << ": no race of " << report::full_text(each) << " after "
          << kernel.sites[first].text << "\n"
          << text;
      reported.insert(pair_of(kernel.named(first), kernel.named(second)));
    }
    for (const auto& [byte, pairs] : races) {
      if (std::ranges::any_of(pairs, [&](site_pair each) { return may_be_missing(kernel, each); }))
        continue;
      EXPECT_TRUE(
          std::ranges::any_of(pairs, [&](site_pair each) { return reported.contains(each); }))
          << seed << ": a race at byte " << byte << " is missing\n"
          << texts_of(kernel, pairs) << text;
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, race_model, testing::Values(0, 100, 200, 300));

}  // namespace
}  // namespace halfwarp::tests
