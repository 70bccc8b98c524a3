// SPDX-License-Identifier: Apache-2.0
// Derives from the name of a handler how it treats undefined values.
#include "emulator/exec/check/init/init_site.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/exec/builtin/stack.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/matrix/product.hpp"
#include "emulator/exec/matrix/warpgroup.hpp"
#include "emulator/exec/scalar/scalar.hpp"
#include "emulator/exec/scalar/video.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/tensor/tensor_instructions.hpp"
#include "emulator/exec/texture/texture_site.hpp"
#include "emulator/exec/watch/access_shape.hpp"

namespace halfwarp::emulator::exec {
namespace {

using name_parts = std::vector<std::string_view>;

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 15> bitwise = {"and",  "bfe",  "bfi", "brev", "extend",
                                                      "lop3", "mov",  "not", "or",   "pack",
                                                      "prmt", "selp", "shf", "shl",  "shr"};
constexpr std::array<std::string_view, 5> without_result = {"check", "fence", "nothing", "touch"};
constexpr std::array<std::string_view, 4> always_defined = {"activemask", "elect", "local_address",
                                                            "special"};
constexpr std::array<std::string_view, 3> collective = {"match", "redux", "vote"};
// Their results have 32 bits, whatever the operand has.
constexpr std::array<std::string_view, 4> counting = {"bfind", "clz", "match", "popc"};

void set_access(init_site& site, const name_parts& part) {
  site.is_narrow = part[1] == "shared32";
  if (part[1].starts_with("shared")) site.space = value_space::shared;
  if (part[1] == "local") site.space = value_space::local;
  if (part[0] == "atom") {
    site.rule = part[2] == "exch" ? value_rule::exchange_memory : value_rule::atomic;
    site.bytes = site.result_bytes = bytes_of_type(part[3]);
    site.results = 1;
    return;
  }
  site.bytes = bytes_of_type(part[2]);
  site.result_bytes = bytes_of_type(part[3]);
  site.is_signed = part[2].starts_with("s");
  site.rule = part[0] == "st" ? value_rule::store : value_rule::load;
  if (part[1] == "param") site.rule = value_rule::define;
}

std::uint8_t result_bytes_of(const name_parts& part) {
  if (is_one_of(part[0], counting) || part.back() == "half") return 4;
  // The result of a clamp keeps the width of its source.
  if (part[0] == "clamp" || (part[0] == "cvt" && part.size() == 3)) return bytes_of_type(part[1]);
  if (part[0] == "cvt") return bytes_of_type(part[part.size() - 2]);
  const bool has_type = part.back().find_first_of("0123456789") != part.back().npos;
  const bool is_wide = part.size() > 1 && part[1] == "wide";
  if (part[0] == "prmt" || !has_type || part[0] == "elect") return 4;
  return static_cast<std::uint8_t>(bytes_of_type(part.back()) * (is_wide ? 2 : 1));
}

void set_comparison(init_site& site, const name_parts& part) {
  site.has_predicate = true;
  site.bytes = bytes_of_type(part.back());
  const bool is_half = part.back().ends_with("x2");
  site.rule = is_half           ? value_rule::compute
              : part[1] == "eq" ? value_rule::compare_equal
                                : value_rule::compare;
}

void set_computation(init_site& site, const name_parts& part) {
  site.rule = value_rule::compute;
  if (is_one_of(part[0], bitwise) || part[0] == "truncate" || part[0] == "unpack") {
    site.rule = value_rule::per_bit;
  }
  if (is_one_of(part[0], always_defined)) site.rule = value_rule::define;
  if (is_one_of(part[0], collective)) site.rule = value_rule::between_lanes;
  if (part[0] == "shfl") site.rule = value_rule::shuffle;
  site.has_carry = part[0] == "carry";
  site.has_second_result =
      part[0] == "shfl" || part[0] == "elect" || (part[0] == "match" && part[1] == "all");
  site.has_predicate = part.back() == "pred" || part[0] == "testp";
  if (site.has_predicate) return;
  site.result_bytes = result_bytes_of(part);
  site.results = 1;
  if (part[0] != "unpack") return;
  site.first_result = 1;
  site.results = static_cast<std::uint8_t>(bytes_of_type(part[1]) / site.result_bytes);
}

init_site site_of_name(std::string_view name) {
  const name_parts part = parts_of_name(name);
  init_site site;
  if (is_one_of(part[0], without_result)) return site;
  if (part[0] == "ld" || part[0] == "st" || part[0] == "atom") {
    set_access(site, part);
  } else if (part[0] == "setp") {
    set_comparison(site, part);
  } else if (part[0] == "mma" || part[0] == "wgmma" || part[0] == "tcgen05") {
    site.rule = value_rule::forget;
  } else {
    set_computation(site, part);
  }
  return site;
}

const std::unordered_map<handler, init_site>& named_sites() {
  static const auto all = [] {
    std::unordered_map<handler, init_site> result;
    for (const handler_family& family : all_handler_families()) {
      for (const handler_entry& entry : family) result.emplace(entry.run, site_of_name(entry.name));
    }
    return result;
  }();
  return all;
}

// Their results count as defined. They write no memory that the check follows.
constexpr handler without_rule[] = {
    &run_phase_barrier,
    &run_load_matrix,
    &run_product,
    &run_quad_product,
    &run_warpgroup_product,
    &run_wait_products,
    &run_transpose_matrix,
    &run_texture_fetch,
    &run_texture_gather,
    &run_texture_query,
    &run_surface_load,
    &run_surface_store,
    &run_surface_reduce,
    &run_small_from_pair,
    &run_tf32,
    &run_trap,
    &run_pair_from_small,
    &run_pack,
    &run_stochastic,
    &run_clear_outside,
    &run_reduce_floats,
    &run_copy_arrive,
    &run_video,
    &run_mapa,
    &run_getctarank,
    &run_alloca,
    &run_stacksave,
    &run_stackrestore,
    &run_commit_bulk,
    &run_release_tensor,
    &run_relinquish_tensor,
    &run_load_tensor,
    &run_store_tensor,
    &run_wait_tensor,
    &run_copy_to_tensor,
    &run_shift_tensor,
    &run_commit_tensor,
};

value_rule rule_of(handler run) {
  if (run == &run_copy) return value_rule::copy_async;
  if (run == &run_store_matrix || run == &run_allocate_tensor) return value_rule::store_matrix;
  if (run == &run_commit_copies || run == &run_wait_copies) return value_rule::none;
  if (run == &run_commit_products || run == &run_whole_warp) return value_rule::none;
  const bool is_known = std::ranges::find(without_rule, run) != std::end(without_rule);
  return is_known ? value_rule::forget : value_rule::store_anywhere;
}

}  // namespace

init_site make_init_site(const function_code& function, const instruction& instr) {
  init_site site;
  if (instr.run && instr.kind != flow::builtin) {
    const auto match = named_sites().find(instr.run);
    if (match == named_sites().end()) {
      site.rule = rule_of(instr.run);
    } else {
      site = match->second;
    }
  }
  site.function = &function;
  site.at = &instr;
  const bool is_vector = site.rule == value_rule::load || site.rule == value_rule::store ||
                         (site.rule == value_rule::define && site.bytes);
  if (is_vector) site.results = instr.flags & access_flag::count;
  return site;
}

}  // namespace halfwarp::emulator::exec
