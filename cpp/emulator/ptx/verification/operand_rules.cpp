// SPDX-License-Identifier: Apache-2.0
// The kinds of operands of instructions that are no arithmetic, as a table of texts.
#include "emulator/ptx/verification/operand_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "emulator/ptx/matrix_forms.hpp"
#include "emulator/ptx/verification/register_rules.hpp"

namespace halfwarp::emulator::ptx {
namespace {

using q = qualifier;
using enum scalar_type;

// The kinds of a form with each number of operands, one letter for an operand:
//   a address   g address with coordinates of a tensor   o vector of offsets
//   v vector whose length the words define   m, n, e and c the matrices A, B, C and D of a product
//   i integer constant   u integer of 32 bits   b 32 bits   f 32 bits, as a constant a float
//   h 16 bits   l integer of 64 bits   x address as a number   y the same or a variable
//   p predicate   t first type   w value of a type that another table has   * anything
// A capital letter is a register alone, S a register of 64 bits or the sink, and Z a result or the
// sink. A letter before '|' may have a predicate beside it, one before '&' has it. The first row of
// an opcode whose form the mnemonic has applies.
struct operand_rule {
  opcode name;
  qualifier form;  // unknown: every form
  std::string_view kinds;
};
constexpr auto every_form = qualifier::unknown;
constexpr operand_rule rules[] = {
    {opcode::activemask, every_form, "B"},
    {opcode::alloca, every_form, "Tt Tti"},
    {opcode::applypriority, every_form, "ai"},
    {opcode::atom, q::cas, "Zaww"},
    {opcode::atom, every_form, "Zaw"},
    {opcode::bar, q::warp, "u"},
    {opcode::bar, q::arrive, "uu"},
    {opcode::bar, q::popc, "Uup Uuup"},
    {opcode::bar, q::red, "Pup Puup"},
    {opcode::bar, every_form, "u uu"},
    {opcode::barrier, q::cluster, ""},
    {opcode::barrier, q::arrive, "uu"},
    {opcode::barrier, q::popc, "Uup Uuup"},
    {opcode::barrier, q::red, "Pup Puup"},
    {opcode::barrier, every_form, "u uu"},
    {opcode::bmsk, every_form, "Uuu"},
    {opcode::clusterlaunchcontrol, q::try_cancel, "aa"},
    {opcode::cp, q::mbarrier, "a"},
    {opcode::cp, q::wait_group, "i"},
    {opcode::cp, q::wait_all, ""},
    {opcode::cp, q::commit_group, ""},
    {opcode::cp, q::ca, "aai aaiu aaip"},
    {opcode::cp, q::cg, "aai aaiu aaip"},
    {opcode::cp, q::im2col, "go agao agaoh"},
    {opcode::cp, q::im2col_w, "go agao agaoh"},
    {opcode::cp, q::im2col_w_128, "go agao agaoh"},
    {opcode::cp, q::tensor, "g ga aga agah"},
    {opcode::cp, q::prefetch, "au"},
    {opcode::cp, q::cp_mask, "aauh"},
    {opcode::cp, q::multicast_cluster, "aauah"},
    {opcode::cp, q::mbarrier_complete_tx_bytes, "aaua"},
    {opcode::cp, q::bulk_group, "aau"},
    {opcode::createpolicy, q::fractional, "L Lf"},
    {opcode::createpolicy, q::range, "Lauu"},
    {opcode::createpolicy, q::cvt, "Ll"},
    {opcode::cvta, q::to, "Ww"},
    {opcode::cvta, every_form, "Wy"},
    {opcode::discard, every_form, "ai"},
    {opcode::elect, every_form, "U&u"},
    {opcode::fence, q::tensormap_generic, "ai "},
    {opcode::fns, every_form, "Bbbb"},
    {opcode::getctarank, every_form, "Uy"},
    {opcode::isspacep, every_form, "Px"},
    {opcode::istypep, every_form, "Pl"},
    {opcode::ld, every_form, "Wa"},
    {opcode::ldmatrix, every_form, "va"},
    {opcode::ldu, every_form, "Wa"},
    {opcode::lop3, q::and_, "B&bbbip"},
    {opcode::lop3, q::or_, "B&bbbip"},
    {opcode::lop3, q::xor_, "B&bbbip"},
    {opcode::lop3, every_form, "Zbbbi"},
    {opcode::mapa, every_form, "Wyu"},
    {opcode::match, q::all, "U|tu"},
    {opcode::match, every_form, "Utu"},
    {opcode::mbarrier, q::init, "au"},
    {opcode::mbarrier, q::inval, "a"},
    {opcode::mbarrier, q::noComplete, "Sau"},
    {opcode::mbarrier, q::complete_tx, "au"},
    {opcode::mbarrier, q::arrive, "Sa Sau"},
    {opcode::mbarrier, q::arrive_drop, "Sa Sau"},
    {opcode::mbarrier, q::expect_tx, "au"},
    {opcode::mbarrier, q::parity, "Pau Pauu"},
    {opcode::mbarrier, q::test_wait, "Pal"},
    {opcode::mbarrier, q::try_wait, "Pal Palu"},
    {opcode::mbarrier, q::pending_count, "Ul"},
    {opcode::mma, q::block_scale, "cmneb*b* cmneuib*b*"},
    {opcode::mma, every_form, "cmne cmneui"},
    {opcode::movmatrix, every_form, "BB"},
    {opcode::multimem, q::ld_reduce, "Ta"},
    {opcode::multimem, q::bulk, "aau aauh"},
    {opcode::multimem, every_form, "at"},
    {opcode::nanosleep, every_form, "u"},
    {opcode::pmevent, every_form, "i"},
    {opcode::prefetch, every_form, "a"},
    {opcode::prefetchu, every_form, "a"},
    {opcode::red, q::async, "ata"},
    {opcode::red, every_form, "aw"},
    {opcode::redux, q::and_, "Uuu"},
    {opcode::redux, q::or_, "Uuu"},
    {opcode::redux, q::xor_, "Uuu"},
    {opcode::redux, every_form, "Ttu"},
    {opcode::selp, every_form, "Wwwp"},
    {opcode::set, q::and_, "Wwwp"},
    {opcode::set, q::or_, "Wwwp"},
    {opcode::set, q::xor_, "Wwwp"},
    {opcode::set, every_form, "Www"},
    {opcode::setmaxnreg, every_form, "i"},
    {opcode::setp, q::and_, "*wwp"},
    {opcode::setp, q::or_, "*wwp"},
    {opcode::setp, q::xor_, "*wwp"},
    {opcode::setp, every_form, "*ww"},
    {opcode::shfl, q::sync, "T|tbbu"},
    {opcode::shfl, every_form, "T|tbb"},
    {opcode::st, q::async, "ata"},
    {opcode::st, q::bulk, "awi"},
    {opcode::st, every_form, "aw"},
    {opcode::stackrestore, every_form, "T"},
    {opcode::stacksave, every_form, "T"},
    {opcode::stmatrix, every_form, "av"},
    {opcode::szext, every_form, "Ttu"},
    {opcode::tcgen05, q::alloc, "au"},
    {opcode::tcgen05, q::commit, "a ah"},
    {opcode::tcgen05, q::cp, "al"},
    {opcode::tcgen05, q::dealloc, "uu"},
    {opcode::tcgen05, q::ld, "*a *ai **a **ai"},
    {opcode::tcgen05, q::shift, "a"},
    {opcode::tcgen05, q::st, "a* ai*"},
    {opcode::tensormap, q::cp_fenceproxy, "aai"},
    {opcode::testp, every_form, "Pt"},
    {opcode::vote, q::ballot, "Bpu Bp"},
    {opcode::vote, every_form, "Ppu Pp"},
    {opcode::wgmma, q::wait_group, "i"},
    {opcode::wmma, q::load, "va vau"},
    {opcode::wmma, q::store, "av avu"},
};
constexpr bool is_before(const operand_rule& a, const operand_rule& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(rules), std::end(rules), is_before));

const operand_rule* rule_of(const mnemonic& word) noexcept {
  const auto* rule = std::ranges::lower_bound(rules, word.opcode, {}, &operand_rule::name);
  for (; rule != std::end(rules) && rule->name == word.opcode; ++rule) {
    if (rule->form == every_form || word.has(rule->form)) return rule;
  }
  return nullptr;
}

// The values of a constant operand: multiples of a step, from a first to a last one.
struct constant_rule {
  opcode name;
  qualifier form, other_form;  // the form has the first, and not the second
  std::uint8_t position;
  std::int64_t first, last, step = 1;  // step 0: powers of two
};
constexpr std::int64_t last_barrier = 15, last_thread = 4096, largest = INT64_MAX;
constexpr std::int64_t last_bit = 255, last_count = (1 << 20) - 1;
constexpr constant_rule constant_rules[] = {
    {opcode::alloca, every_form, every_form, 2, 1, largest, 0},
    {opcode::applypriority, every_form, every_form, 1, 128, 128},
    {opcode::bar, q::red, every_form, 1, 0, last_barrier},
    {opcode::bar, q::arrive, every_form, 0, 0, last_barrier},
    {opcode::bar, q::arrive, every_form, 1, 32, last_thread, 32},
    {opcode::bar, q::sync, q::warp, 0, 0, last_barrier},
    {opcode::bar, q::sync, q::warp, 1, 32, last_thread, 32},
    {opcode::barrier, q::red, every_form, 1, 0, last_barrier},
    {opcode::barrier, q::arrive, every_form, 0, 0, last_barrier},
    {opcode::barrier, q::arrive, every_form, 1, 32, last_thread, 32},
    {opcode::barrier, q::sync, every_form, 0, 0, last_barrier},
    {opcode::barrier, q::sync, every_form, 1, 32, last_thread, 32},
    {opcode::bfe, every_form, every_form, 2, 0, last_bit},
    {opcode::bfe, every_form, every_form, 3, 0, last_bit},
    {opcode::bfi, every_form, every_form, 3, 0, last_bit},
    {opcode::bfi, every_form, every_form, 4, 0, last_bit},
    {opcode::cp, q::bulk, q::prefetch, 2, 0, largest, 16},
    {opcode::cp, q::ca, every_form, 3, 0, 16},
    {opcode::cp, q::cg, every_form, 3, 0, 16},
    {opcode::cp, q::prefetch, every_form, 1, 0, largest, 16},
    {opcode::discard, every_form, every_form, 1, 128, 128},
    {opcode::fence, q::tensormap_generic, every_form, 1, 128, 128},
    {opcode::mbarrier, q::arrive, q::expect_tx, 2, 1, largest},
    {opcode::mbarrier, q::init, every_form, 1, 1, last_count},
    {opcode::mbarrier, q::parity, every_form, 2, 0, 1},
    {opcode::pmevent, q::mask, every_form, 0, 0, 65535},
    {opcode::pmevent, every_form, q::mask, 0, 0, 15},
    {opcode::setmaxnreg, every_form, every_form, 0, 24, 256, 8},
    {opcode::tcgen05, q::alloc, every_form, 1, 32, 512, 0},
    {opcode::tcgen05, q::dealloc, every_form, 1, 32, 512, 0},
    {opcode::tensormap, q::cp_fenceproxy, every_form, 2, 128, 128},
};
static_assert(std::is_sorted(std::begin(constant_rules), std::end(constant_rules),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

scalar_type type_of(const function& f, const operand& o) {
  const bool is_whole = o.component == component::none && f.registers[o.index].vector_width == 1;
  return is_whole ? f.registers[o.index].type : none;
}

// Returns the registers that a warp needs for each lane of a matrix of wmma.
unsigned count_of_fragment(const mnemonic& word) noexcept {
  const wmma_shape* const shape = find_wmma_shape(word);
  if (!shape) return 0;
  constexpr unsigned lanes = 32, halves_of_each_lane = 8;
  const bool is_a = word.has(q::a), is_b = word.has(q::b);
  if ((is_a || is_b) && word.type() == f16) return halves_of_each_lane;
  const int elements = is_a   ? shape->m * shape->k
                       : is_b ? shape->n * shape->k
                              : shape->m * shape->n;
  return static_cast<unsigned>(elements) * info(word.type()).bits /
         (lanes * (word.type() == f64 ? 64u : 32u));
}

// The vector of registers that a lane has of a matrix.
struct fragment {
  unsigned count;  // 0: any number
  scalar_type type;
};

// Returns the vector that the words of the mnemonic define.
fragment fragment_of(const mnemonic& word) noexcept {
  const bool is_float = word.type() == f32 || word.type() == f64;
  if (word.opcode == opcode::wmma) return {count_of_fragment(word), is_float ? word.type() : b32};
  const unsigned matrices = word.has(q::x1) ? 1 : word.has(q::x2) ? 2 : 4;
  return {word.has(q::m16n16) ? 2 * matrices : matrices, b32};
}

// Returns the matrix of a product that a letter names.
fragment fragment_of(const mnemonic& word, char letter) noexcept {
  const matrix_shape* const shape = find_shape(word);
  const bool is_quad = word.has(q::m8n8k4) && word.type(1) == f16;
  if (!shape || !(is_quad || find_family(word))) return {0, b32};
  constexpr unsigned columns = 8, lanes = 32;
  const bool has_bytes = word.has(q::kind_f8f6f4) || word.has(q::kind_mxf8f6f4);
  const bool is_sum = letter == 'c' || letter == 'e';
  const scalar_type type = word.type(letter == 'c' ? 0 : letter == 'm' ? 1 : letter == 'n' ? 2 : 3);
  const unsigned rows = letter == 'n' ? columns : shape->rows;
  const unsigned depth = is_sum ? columns : shape->depth;
  const bool has_halves = word.has(q::kind_mxf4) || word.has(q::kind_mxf4nvf4);
  const unsigned bits = is_sum ? info(type).bits : has_bytes ? 8 : has_halves ? 4 : info(type).bits;
  const unsigned width = type == f64 ? 64 : 32;
  const unsigned all = rows * depth * bits * (is_quad ? 4 : 1) / (lanes * width);
  const scalar_type plain = type == f64 ? b64 : b32;
  return {letter == 'm' && is_sparse(word) ? all / 2 : all,
          is_sum && (type == f32 || type == f64) ? type : plain};
}

bool is_fragment(const function& f, const operand& o, const fragment& needed) {
  return o.kind == operand_kind::vector && (!needed.count || o.count == needed.count) &&
         std::ranges::all_of(f.elements_of(o), [&](const operand& each) {
           if (each.kind != operand_kind::register_) return true;
           const scalar_type type = type_of(f, each);
           return type == none || fits(needed.type, type, false);
         });
}

// Returns the coordinates of an element of a tensor; 0: any number.
unsigned count_of_coordinates(const mnemonic& word) noexcept {
  if (word.has(q::tile_gather4) || word.has(q::tile_scatter4)) return 5;
  constexpr q ranks[] = {q::x1d, q::x2d, q::x3d, q::x4d, q::x5d};
  const auto* const rank = std::ranges::find_if(ranks, [&](q each) { return word.has(each); });
  return rank == std::end(ranks) ? 0 : static_cast<unsigned>(rank - ranks) + 1;
}

// Returns the type that a letter names.
scalar_type type_named(char letter, const mnemonic& word) noexcept {
  switch (letter) {
    case 'u':
      return u32;
    case 'b':
    case 'f':
      return b32;
    case 'h':
      return b16;
    case 'p':
      return pred;
    case 't':
      return word.type();
    default:
      return u64;
  }
}

constexpr char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_value(const function& f, const operand& o, char letter, const mnemonic& word) {
  const char small = lower(letter);
  const bool is_typed = small != 'w' && small != 'z';
  switch (o.kind) {
    case operand_kind::register_: {
      const scalar_type type = type_of(f, o);
      const bool is_address = small == 'x' || small == 'y';
      return type == none || !is_typed || fits(type_named(small, word), type, false) ||
             (is_address && fits(u32, type, false));
    }
    case operand_kind::special_register:
      return true;  // a rule of its own
    case operand_kind::integer:
    case operand_kind::float_bits:
    case operand_kind::double_bits:
      if (small != letter) return false;
      return !is_typed || takes_constant(small == 'f' ? f32 : type_named(small, word), o.kind);
    case operand_kind::sink:
      return letter == 'S' || letter == 'Z';
    case operand_kind::symbol:
      return letter == 'y';
    case operand_kind::vector:
      return (word.vector_width > 1 || o.count == 1) && (small == 't' || !is_typed);
    default:
      return false;
  }
}

// The offsets of a copy by im2col are in 16 bits each, two less than the coordinates.
bool are_offsets(const function& f, const operand& o, const mnemonic& word) {
  const std::size_t count = word.has(q::im2col) ? count_of_coordinates(word) - 2 : o.count;
  return o.count == count && std::ranges::all_of(f.elements_of(o), [&](const operand& each) {
           return is_value(f, each, 'h', word);
         });
}

bool is_of_kind(const function& f, const operand& o, char letter, const mnemonic& word) {
  switch (letter) {
    case '*':
      return true;
    case 'a':
      return o.kind == operand_kind::address;
    case 'i':
      return o.kind == operand_kind::integer;
    case 'o':
      return o.kind == operand_kind::vector && are_offsets(f, o, word);
    case 'v':
      return is_fragment(f, o, fragment_of(word));
    case 'c':
    case 'e':
    case 'm':
    case 'n':
      return is_fragment(f, o, fragment_of(word, letter));
    case 'g': {
      if (o.kind != operand_kind::address_group || o.count != 2) return false;
      const operand& coordinates = f.elements_of(o)[1];
      const unsigned count = count_of_coordinates(word);
      return coordinates.kind == operand_kind::vector && (!count || coordinates.count == count);
    }
    default:
      return is_value(f, o, letter, word);
  }
}

const char* name_of(char letter) noexcept {
  switch (lower(letter)) {
    case 'a':
      return "an address in brackets";
    case 'i':
      return "an integer constant";
    case 'g':
      return "an address with the coordinates of an element";
    case 'o':
      return "a vector of offsets in 16 bits";
    case 'v':
    case 'c':
    case 'e':
    case 'm':
    case 'n':
      return "another vector of registers";
    case 'u':
      return "an integer of 32 bits";
    case 'b':
    case 'f':
      return "32 bits";
    case 'h':
      return "16 bits";
    case 'p':
      return "a predicate";
    case 't':
    case 'w':
    case 'z':
      return "a value of its type";
    default:
      return "an integer of 64 bits";
  }
}

bool is_pair(const function& f, const operand& o, char letter, bool has_predicate,
             const mnemonic& word) {
  const std::span<const operand> pair = f.elements_of(o);
  const bool is_first =
      (has_predicate && pair[0].kind == operand_kind::sink) || is_value(f, pair[0], letter, word);
  return is_first && ((!has_predicate && pair[1].kind == operand_kind::sink) ||
                      is_value(f, pair[1], 'P', word));
}

// Returns the position of the first operand that its letter does not allow, or npos.
std::size_t misplaced(const function& f, std::span<const operand> operands, std::string_view kinds,
                      const mnemonic& word, char& letter) {
  std::size_t at = 0;
  for (std::size_t n = 0; n < operands.size(); ++n, ++at) {
    letter = kinds[at];
    const char mark = at + 1 < kinds.size() ? kinds[at + 1] : ' ';
    const bool may_be_pair = mark == '|' || mark == '&';
    at += may_be_pair;
    if (mark == '&' && operands[n].kind != operand_kind::pair) return n;
    if (operands[n].kind == operand_kind::pair && may_be_pair) {
      if (!is_pair(f, operands[n], letter, mark == '&', word)) return n;
    } else if (!is_of_kind(f, operands[n], letter, word)) {
      return n;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string kind_problem(const function& f, std::span<const operand> operands, const mnemonic& word,
                         std::string_view otherwise) {
  const operand_rule* const rule = rule_of(word);
  if (!rule && otherwise.empty()) return {};
  const bool has_policy = word.has(q::L2_cache_hint) && word.opcode != opcode::createpolicy;
  if (has_policy && operands.empty()) return "needs a cache policy";
  if (has_policy) {
    if (!is_value(f, operands.back(), 'l', word)) return "needs a cache policy";
    operands = operands.first(operands.size() - 1);
  }
  std::size_t furthest = std::string_view::npos;
  char needed = '*';
  std::string_view alternatives = rule ? rule->kinds : otherwise;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = alternatives.find(' ');
    const std::string_view kinds = alternatives.substr(0, end);
    is_last = end == std::string_view::npos;
    if (!is_last) alternatives.remove_prefix(end + 1);
    const auto marks = std::ranges::count_if(kinds, [](char c) { return c == '|' || c == '&'; });
    if (kinds.size() - static_cast<std::size_t>(marks) != operands.size()) continue;
    char letter = '*';
    const std::size_t wrong = misplaced(f, operands, kinds, word, letter);
    if (wrong == std::string_view::npos) return {};
    if (furthest != std::string_view::npos && wrong < furthest) continue;
    furthest = wrong;
    needed = letter;
  }
  if (furthest == std::string_view::npos)
    return "has " + std::to_string(operands.size()) + " operands";
  return "needs " + std::string{name_of(needed)} + " as operand " + std::to_string(furthest + 1);
}

std::string constant_problem(std::span<const operand> operands, const mnemonic& word) {
  for (const constant_rule& rule :
       std::ranges::equal_range(constant_rules, word.opcode, {}, &constant_rule::name)) {
    if (rule.position >= operands.size()) continue;
    const operand& o = operands[rule.position];
    const bool applies = o.kind == operand_kind::integer && !word.has(rule.other_form) &&
                         (rule.form == every_form || word.has(rule.form));
    if (!applies) continue;
    const bool is_power = (o.value & (o.value - 1)) == 0;
    const bool is_multiple = rule.step ? o.value % rule.step == 0 : is_power;
    if (o.value >= rule.first && o.value <= rule.last && is_multiple) continue;
    std::string needed = std::to_string(rule.first);
    if (!rule.step) needed = "a power of two from " + needed;
    if (rule.step > 1) needed = "a multiple of " + std::to_string(rule.step) + " from " + needed;
    if (rule.last > rule.first && rule.last != largest)
      needed += " to " + std::to_string(rule.last);
    if (rule.last == largest) needed += " on";
    return "needs " + needed + " as operand " + std::to_string(rule.position + 1) + ", not " +
           std::to_string(o.value);
  }
  return {};
}

since first_of_operands(const function& f, std::span<const operand> operands,
                        const mnemonic& word) noexcept {
  const bool is_small_copy = word.opcode == opcode::cp && (word.has(q::ca) || word.has(q::cg));
  if (is_small_copy && operands.size() > 3 && operands[3].kind == operand_kind::register_ &&
      type_of(f, operands[3]) == pred) {
    return {75, 80};
  }
  const bool is_extreme = word.opcode == opcode::max || word.opcode == opcode::min;
  if (is_extreme && operands.size() > 3) return {88, 100};
  const bool has_count = word.opcode == opcode::mbarrier && operands.size() > 2 &&
                         (word.has(q::arrive) || word.has(q::arrive_drop));
  return has_count && !word.has(q::noComplete) ? since{78, 90} : since{};
}

}  // namespace halfwarp::emulator::ptx
