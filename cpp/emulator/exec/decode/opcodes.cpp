// SPDX-License-Identifier: Apache-2.0
// The table of PTX instructions.
#include "emulator/exec/decode/opcodes.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;
using ptx::qualifier;

// A set of qualifiers, without types and state spaces.
class words {
 public:
  constexpr words(std::initializer_list<qualifier> list) {
    for (qualifier word : list) add(word);
  }
  constexpr words operator|(const words& other) const {
    words both = *this;
    for (std::size_t i = 0; i < bits_.size(); ++i) both.bits_[i] |= other.bits_[i];
    return both;
  }
  constexpr bool has(qualifier word) const {
    auto bit = static_cast<std::size_t>(word);
    return bits_[bit / 64] >> bit % 64 & 1;
  }

 private:
  constexpr void add(qualifier word) {
    auto bit = static_cast<std::size_t>(word);
    bits_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  std::array<std::uint64_t, static_cast<std::size_t>(qualifier::unknown) / 64 + 1> bits_{};
};

struct count_range {
  std::uint8_t min, max;
  constexpr bool has(std::size_t n) const { return n >= min && n <= max; }
};

// The forms of an opcode that the emulator supports. Decoding checks a mnemonic against them.
struct opcode_entry {
  opcode name;
  decode_function decode = nullptr;
  count_range operands{}, types{};
  bool has_space = false;  // allows state spaces such as .global, and vectors
  words allowed{};
};

using q = qualifier;
constexpr bool with_space = true, no_space = false;
constexpr words rounding{q::rn, q::rz, q::rm, q::rp};
constexpr words scopes{q::cta, q::cluster, q::gpu, q::sys};
constexpr words atomic =
    scopes | words{q::add,     q::and_,    q::cas,     q::dec,     q::exch,
                   q::inc,     q::max,     q::min,     q::or_,     q::xor_,
                   q::relaxed, q::acquire, q::release, q::acq_rel, q::L2_cache_hint};
constexpr words access_words = scopes | words{q::weak,
                                              q::volatile_,
                                              q::relaxed,
                                              q::acquire,
                                              q::release,
                                              q::mmio,
                                              q::ca,
                                              q::cg,
                                              q::cs,
                                              q::lu,
                                              q::cv,
                                              q::wb,
                                              q::wt,
                                              q::nc,
                                              q::unified,
                                              q::L1_evict_first,
                                              q::L1_evict_last,
                                              q::L1_evict_normal,
                                              q::L1_evict_unchanged,
                                              q::L1_no_allocate,
                                              q::L2_128B,
                                              q::L2_256B,
                                              q::L2_64B,
                                              q::L2_cache_hint,
                                              q::L2_evict_first,
                                              q::L2_evict_last,
                                              q::L2_evict_normal};
constexpr words barrier =
    scopes | words{q::warp, q::sync, q::arrive,  q::red,     q::popc,    q::and_,   q::or_,
                   q::all,  q::wait, q::aligned, q::acquire, q::release, q::relaxed};
constexpr words fence_words =
    scopes | words{q::acquire, q::release, q::acq_rel, q::sc, q::gl, q::proxy};
constexpr words min_max{q::ftz, q::NaN, q::xorsign, q::abs, q::relu};
constexpr words geometries{q::x1d, q::x2d, q::x3d, q::a1d, q::a2d, q::cube, q::acube};
constexpr words surface_access = geometries | words{q::b, q::trap, q::clamp, q::zero};
constexpr words queries{q::width,
                        q::height,
                        q::depth,
                        q::array_size,
                        q::level,
                        q::channel_data_type,
                        q::channel_order,
                        q::normalized_coords,
                        q::num_mipmap_levels};
constexpr words comparisons{q::eq,  q::ne,  q::lt,   q::le,  q::gt,   q::ge,  q::lo,  q::ls,
                            q::hi,  q::hs,  q::equ,  q::neu, q::ltu,  q::leu, q::gtu, q::geu,
                            q::num, q::nan, q::and_, q::or_, q::xor_, q::ftz};

constexpr opcode_entry table[] = {
    {opcode::abs, &decode_arithmetic, {2, 2}, {1, 1}, no_space, words{q::ftz}},
    {opcode::activemask, &decode_activemask, {1, 1}, {1, 1}, no_space, words{}},
    {opcode::add,
     &decode_arithmetic,
     {3, 3},
     {1, 1},
     no_space,
     rounding | words{q::ftz, q::sat, q::cc}},
    {opcode::addc, &decode_carry, {3, 3}, {1, 1}, no_space, words{q::cc}},
    {opcode::and_, &decode_logic, {3, 3}, {1, 1}, no_space, words{}},
    {opcode::applypriority, &decode_nothing, {2, 2}, {0, 0}, with_space, words{q::L2_evict_normal}},
    {opcode::atom, &decode_atom, {3, 5}, {1, 1}, with_space, atomic | words{q::noftz}},
    {opcode::bar, &decode_bar, {1, 4}, {0, 1}, no_space, barrier},
    {opcode::barrier, &decode_bar, {0, 4}, {0, 1}, no_space, barrier},
    {opcode::bfe, &decode_arithmetic, {4, 4}, {1, 1}, no_space, words{}},
    {opcode::bfi, &decode_arithmetic, {5, 5}, {1, 1}, no_space, words{}},
    {opcode::bfind, &decode_arithmetic, {2, 2}, {1, 1}, no_space, words{q::shiftamt}},
    {opcode::bmsk, &decode_arithmetic, {3, 3}, {1, 1}, no_space, words{q::clamp, q::wrap}},
    {opcode::bra, &decode_bra, {1, 1}, {0, 0}, no_space, words{q::uni}},
    {opcode::brev, &decode_arithmetic, {2, 2}, {1, 1}, no_space, words{}},
    {opcode::brkpt, &decode_nothing, {0, 0}, {0, 0}, no_space, words{}},
    {opcode::brx, &decode_brx, {2, 2}, {0, 0}, no_space, words{q::idx, q::uni}},
    {opcode::call, &decode_call, {1, 4}, {0, 0}, no_space, words{q::uni}},
    {opcode::clz, &decode_arithmetic, {2, 2}, {1, 1}, no_space, words{}},
    {opcode::cnot, &decode_arithmetic, {2, 2}, {1, 1}, no_space, words{}},
    {opcode::copysign, &decode_arithmetic, {3, 3}, {1, 1}, no_space, words{}},
    {opcode::cos, &decode_approximate, {2, 2}, {1, 1}, no_space, words{q::approx, q::ftz}},
    {opcode::cvt,
     &decode_cvt,
     {2, 3},
     {2, 2},
     no_space,
     rounding | words{q::rni, q::rzi, q::rmi, q::rpi, q::ftz, q::sat, q::relu, q::satfinite}},
    {opcode::cvta, &decode_cvta, {2, 2}, {1, 1}, with_space, words{q::to}},
    {opcode::discard, &decode_touch, {2, 2}, {0, 0}, with_space, words{q::L2}},
    {opcode::div,
     &decode_arithmetic,
     {3, 3},
     {1, 1},
     no_space,
     rounding | words{q::ftz, q::approx, q::full}},
    {opcode::elect, &decode_elect, {2, 2}, {0, 0}, no_space, words{q::sync}},
    {opcode::ex2, &decode_approximate, {2, 2}, {1, 1}, no_space, words{q::approx, q::ftz}},
    {opcode::exit, &decode_exit, {0, 0}, {0, 0}, no_space, words{}},
    {opcode::fence, &decode_fence, {0, 0}, {0, 0}, no_space, fence_words},
    {opcode::fma,
     &decode_arithmetic,
     {4, 4},
     {1, 1},
     no_space,
     rounding | words{q::ftz, q::sat, q::relu}},
    {opcode::fns, &decode_arithmetic, {4, 4}, {1, 1}, no_space, words{}},
    {opcode::isspacep, &decode_isspacep, {2, 2}, {0, 0}, with_space, words{}},
    {opcode::ld, &decode_ld, {2, 3}, {1, 1}, with_space, access_words},
    {opcode::ldu, &decode_ld, {2, 2}, {1, 1}, with_space, words{}},
    {opcode::lg2, &decode_approximate, {2, 2}, {1, 1}, no_space, words{q::approx, q::ftz}},
    {opcode::lop3, &decode_lop3, {5, 6}, {1, 1}, no_space, words{q::and_, q::or_}},
    {opcode::mad,
     &decode_arithmetic,
     {4, 4},
     {1, 1},
     no_space,
     rounding | words{q::hi, q::lo, q::wide, q::sat, q::cc, q::ftz}},
    {opcode::mad24, &decode_arithmetic, {4, 4}, {1, 1}, no_space, words{q::hi, q::lo, q::sat}},
    {opcode::madc, &decode_carry, {4, 4}, {1, 1}, no_space, words{q::hi, q::lo, q::cc}},
    {opcode::match, &decode_match, {3, 3}, {1, 1}, no_space, words{q::any, q::all, q::sync}},
    {opcode::max, &decode_min_max, {3, 4}, {1, 1}, no_space, min_max},
    {opcode::membar, &decode_fence, {0, 0}, {0, 0}, no_space, fence_words},
    {opcode::min, &decode_min_max, {3, 4}, {1, 1}, no_space, min_max},
    {opcode::mov, &decode_mov, {2, 2}, {1, 1}, no_space, words{}},
    {opcode::mul,
     &decode_arithmetic,
     {3, 3},
     {1, 1},
     no_space,
     rounding | words{q::hi, q::lo, q::wide, q::ftz, q::sat}},
    {opcode::mul24, &decode_arithmetic, {3, 3}, {1, 1}, no_space, words{q::hi, q::lo}},
    {opcode::nanosleep, &decode_nanosleep, {1, 1}, {1, 1}, no_space, words{}},
    {opcode::neg, &decode_arithmetic, {2, 2}, {1, 1}, no_space, words{q::ftz}},
    {opcode::not_, &decode_logic, {2, 2}, {1, 1}, no_space, words{}},
    {opcode::or_, &decode_logic, {3, 3}, {1, 1}, no_space, words{}},
    {opcode::pmevent, &decode_nothing, {1, 1}, {0, 0}, no_space, words{}},
    {opcode::popc, &decode_arithmetic, {2, 2}, {1, 1}, no_space, words{}},
    {opcode::prefetch,
     &decode_nothing,
     {1, 1},
     {0, 0},
     with_space,
     words{q::L1, q::L2, q::L2_evict_last, q::L2_evict_normal}},
    {opcode::prefetchu, &decode_nothing, {1, 1}, {0, 0}, with_space, words{q::L1}},
    {opcode::prmt,
     &decode_prmt,
     {4, 4},
     {1, 1},
     no_space,
     words{q::f4e, q::b4e, q::rc8, q::ecl, q::ecr, q::rc16}},
    {opcode::rcp,
     &decode_arithmetic,
     {2, 2},
     {1, 1},
     no_space,
     rounding | words{q::ftz, q::approx}},
    {opcode::red, &decode_atom, {2, 4}, {1, 1}, with_space, atomic | words{q::noftz}},
    {opcode::redux,
     &decode_redux,
     {3, 3},
     {1, 1},
     no_space,
     words{q::sync, q::add, q::min, q::max, q::and_, q::or_, q::xor_}},
    {opcode::rem, &decode_arithmetic, {3, 3}, {1, 1}, no_space, words{}},
    {opcode::ret, &decode_ret, {0, 0}, {0, 0}, no_space, words{q::uni}},
    {opcode::rsqrt, &decode_approximate, {2, 2}, {1, 1}, no_space, words{q::approx, q::ftz}},
    {opcode::sad, &decode_arithmetic, {4, 4}, {1, 1}, no_space, words{}},
    {opcode::selp, &decode_selp, {4, 4}, {1, 1}, no_space, words{}},
    {opcode::set, &decode_set, {3, 4}, {2, 2}, no_space, comparisons},
    {opcode::setp, &decode_setp, {3, 4}, {1, 1}, no_space, comparisons},
    {opcode::shf,
     &decode_arithmetic,
     {4, 4},
     {1, 1},
     no_space,
     words{q::l, q::r, q::clamp, q::wrap}},
    {opcode::shfl,
     &decode_shfl,
     {4, 5},
     {1, 1},
     no_space,
     words{q::sync, q::up, q::down, q::bfly, q::idx}},
    {opcode::shl, &decode_arithmetic, {3, 3}, {1, 1}, no_space, words{}},
    {opcode::shr, &decode_arithmetic, {3, 3}, {1, 1}, no_space, words{}},
    {opcode::sin, &decode_approximate, {2, 2}, {1, 1}, no_space, words{q::approx, q::ftz}},
    {opcode::slct, &decode_slct, {4, 4}, {2, 2}, no_space, words{q::ftz}},
    {opcode::sqrt,
     &decode_arithmetic,
     {2, 2},
     {1, 1},
     no_space,
     rounding | words{q::ftz, q::approx}},
    {opcode::st, &decode_st, {2, 3}, {1, 1}, with_space, access_words},
    {opcode::sub,
     &decode_arithmetic,
     {3, 3},
     {1, 1},
     no_space,
     rounding | words{q::ftz, q::sat, q::cc}},
    {opcode::subc, &decode_carry, {3, 3}, {1, 1}, no_space, words{q::cc}},
    {opcode::suld,
     &decode_suld,
     {2, 2},
     {1, 1},
     with_space,
     surface_access | words{q::ca, q::cg, q::cs, q::cv}},
    {opcode::suq, &decode_txq, {2, 2}, {1, 1}, no_space, queries},
    {opcode::sured,
     &decode_sured,
     {2, 2},
     {1, 1},
     no_space,
     surface_access | words{q::add, q::min, q::max, q::and_, q::or_}},
    {opcode::sust,
     &decode_sust,
     {2, 2},
     {1, 1},
     with_space,
     surface_access | words{q::wb, q::cg, q::cs, q::wt}},
    {opcode::szext, &decode_arithmetic, {3, 3}, {1, 1}, no_space, words{q::clamp, q::wrap}},
    {opcode::tanh, &decode_approximate, {2, 2}, {1, 1}, no_space, words{q::approx}},
    {opcode::testp,
     &decode_testp,
     {2, 2},
     {1, 1},
     no_space,
     words{q::finite, q::infinite, q::number, q::notanumber, q::normal, q::subnormal}},
    {opcode::tex,
     &decode_tex,
     {2, 4},
     {2, 2},
     with_space,
     geometries | words{q::base, q::level, q::grad}},
    {opcode::tld4,
     &decode_tld4,
     {2, 2},
     {2, 2},
     with_space,
     geometries | words{q::r, q::g, q::b, q::a}},
    {opcode::trap, &decode_trap, {0, 0}, {0, 0}, no_space, words{}},
    {opcode::txq, &decode_txq, {2, 3}, {1, 1}, no_space, queries},
    {opcode::vote,
     &decode_vote,
     {3, 3},
     {1, 1},
     no_space,
     words{q::sync, q::all, q::any, q::uni, q::ballot}},
    {opcode::xor_, &decode_logic, {3, 3}, {1, 1}, no_space, words{}},
};

constexpr bool is_before(const opcode_entry& a, const opcode_entry& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(table), std::end(table), is_before));

void require_form(const function_decoder& d, const opcode_entry& entry) {
  const ptx::mnemonic& m = d.spelling();
  for (qualifier word : m.qualifiers()) {
    if (!entry.allowed.has(word)) {
      throw unsupported{"." + std::string(ptx::spelling(word)) + " with this instruction"};
    }
  }
  if (!entry.operands.has(d.operands().size())) throw unsupported{"number of operands"};
  if (!entry.types.has(m.type_count)) throw unsupported{"number of types"};
  bool has_space = m.space_count > 0 || m.vector_width > 1;
  if (has_space && !entry.has_space) throw unsupported{"state space or vector"};
}

}  // namespace

void decode_instruction(function_decoder& d, opcode name) {
  if (d.spelling().has_unknown_word) throw unsupported{"unknown qualifier"};
  auto entry = std::lower_bound(std::begin(table), std::end(table), opcode_entry{name}, is_before);
  if (entry == std::end(table) || entry->name != name) throw unsupported{"unknown instruction"};
  require_form(d, *entry);
  entry->decode(d);
}

std::string bits_name(int bits) { return "b" + std::to_string(bits); }

}  // namespace halfwarp::emulator::exec
