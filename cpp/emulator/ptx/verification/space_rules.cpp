// SPDX-License-Identifier: Apache-2.0
#include "emulator/ptx/verification/space_rules.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::ptx {
namespace {

using q = qualifier;
using spaces = std::uint16_t;
constexpr spaces bit(state_space space) {
  return static_cast<spaces>(1u << static_cast<unsigned>(space));
}
static_assert(static_cast<unsigned>(state_space::count_) <= 16);
constexpr spaces generic = bit(state_space::generic), global = bit(state_space::global),
                 local = bit(state_space::local), of_block = bit(state_space::shared_cta),
                 of_cluster = bit(state_space::shared_cluster),
                 own_shared = bit(state_space::shared) | of_block, shared = own_shared | of_cluster,
                 parameters = bit(state_space::param) | bit(state_space::param_entry) |
                              bit(state_space::param_func),
                 constants = bit(state_space::const_) | parameters,
                 any_space = static_cast<spaces>(~0u);

// The state spaces of an instruction, or of its form with a word. Each rule of a mnemonic applies.
struct space_rule {
  opcode name;
  q form;  // unknown: every form
  spaces first, second = any_space;
};
constexpr auto every_form = q::unknown;
constexpr spaces with_generic = generic | global;
constexpr space_rule rules[] = {
    {opcode::applypriority, every_form, with_generic},
    {opcode::atom, every_form, with_generic | shared},
    {opcode::atom, q::L2_cache_hint, with_generic},
    {opcode::clusterlaunchcontrol, q::try_cancel, generic | own_shared},
    {opcode::cp, q::ca, own_shared, global},
    {opcode::cp, q::cg, own_shared, global},
    {opcode::cp, q::prefetch, global},
    {opcode::cp, q::bulk_group, global, of_block},
    {opcode::cp, q::mbarrier_complete_tx_bytes, of_block | of_cluster, global | of_block},
    {opcode::cp, q::mbarrier, generic | own_shared},
    {opcode::cp, q::reduce, global | of_cluster, of_block},
    {opcode::createpolicy, every_form, with_generic},
    {opcode::cvta, every_form, global | shared | local | constants},
    {opcode::discard, every_form, with_generic},
    {opcode::getctarank, every_form, generic | of_cluster},
    {opcode::isspacep, every_form, global | shared | local | constants},
    {opcode::ld, q::L1_evict_first, with_generic},
    {opcode::ld, q::L1_evict_last, with_generic},
    {opcode::ld, q::L1_evict_normal, with_generic},
    {opcode::ld, q::L1_evict_unchanged, with_generic},
    {opcode::ld, q::L1_no_allocate, with_generic},
    {opcode::ld, q::L2_64B, with_generic},
    {opcode::ld, q::L2_128B, with_generic},
    {opcode::ld, q::L2_256B, with_generic},
    {opcode::ld, q::L2_cache_hint, with_generic},
    {opcode::ld, q::acquire, with_generic | shared},
    {opcode::ld, q::mmio, with_generic},
    {opcode::ld, q::nc, global},
    {opcode::ld, q::relaxed, with_generic | shared},
    {opcode::ldmatrix, every_form, generic | own_shared},
    {opcode::ldu, every_form, with_generic},
    {opcode::mapa, every_form, generic | of_cluster},
    {opcode::mbarrier, every_form, generic | shared},
    {opcode::mbarrier, q::init, generic | own_shared},
    {opcode::mbarrier, q::inval, generic | own_shared},
    {opcode::mbarrier, q::test_wait, generic | own_shared},
    {opcode::mbarrier, q::try_wait, generic | own_shared},
    {opcode::multimem, q::ld_reduce, with_generic},
    {opcode::multimem, q::red, with_generic},
    {opcode::multimem, q::st, with_generic},
    {opcode::prefetch, q::L1, with_generic | local},
    {opcode::prefetch, q::L2, with_generic | local},
    {opcode::prefetch, q::L2_evict_last, with_generic},
    {opcode::prefetch, q::L2_evict_normal, with_generic},
    {opcode::prefetch, q::tensormap, generic | constants},
    {opcode::red, every_form, with_generic | shared},
    {opcode::red, q::L2_cache_hint, with_generic},
    {opcode::red, q::async, generic | of_cluster},
    {opcode::st, q::L1_evict_first, with_generic},
    {opcode::st, q::L1_evict_last, with_generic},
    {opcode::st, q::L1_evict_normal, with_generic},
    {opcode::st, q::L1_evict_unchanged, with_generic},
    {opcode::st, q::L1_no_allocate, with_generic},
    {opcode::st, q::L2_cache_hint, with_generic},
    {opcode::st, q::bulk, generic | of_block},
    {opcode::st, q::mbarrier_complete_tx_bytes, generic | shared},
    {opcode::st, q::mmio, with_generic},
    {opcode::st, q::relaxed, with_generic | shared},
    {opcode::st, q::release, with_generic | shared},
    {opcode::stmatrix, every_form, generic | own_shared},
    {opcode::tensormap, q::cp_fenceproxy, global, of_block},
    {opcode::wmma, every_form, with_generic | own_shared},
};
constexpr bool is_before(const space_rule& a, const space_rule& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(rules), std::end(rules), is_before));

bool has_spaces(const module& m, const mnemonic& word) noexcept {
  const bool is_volatile =
      word.has(q::volatile_) && (word.opcode == opcode::ld || word.opcode == opcode::st);
  const bool has_frames = 10 * m.version_major + m.version_minor >= 91;
  if (is_volatile && !((with_generic | shared | (has_frames ? local : 0)) & bit(word.space())))
    return false;
  const auto of_opcode =
      std::ranges::equal_range(rules, word.opcode, {}, [](const auto& each) { return each.name; });
  return std::ranges::all_of(of_opcode, [&](const space_rule& each) {
    return (each.form != every_form && !word.has(each.form)) ||
           ((each.first & bit(word.space())) &&
            (word.space_count < 2 || (each.second & bit(word.space(1)))));
  });
}

// Returns whether the addresses of an instruction are in the state spaces of its name.
bool has_memory(const mnemonic& word) noexcept {
  return word.opcode == opcode::ld ||
         std::ranges::binary_search(rules, word.opcode, {},
                                    [](const auto& each) { return each.name; });
}

// Returns whether the addresses of an instruction must be of 64 bits outside of a block's memory.
bool has_values(opcode name) noexcept {
  constexpr opcode names[] = {opcode::atom,     opcode::ld,  opcode::ldu, opcode::mbarrier,
                              opcode::prefetch, opcode::red, opcode::st};
  return std::ranges::count(names, name) != 0;
}

state_space space_of(const module& m, const function& f, const operand& o) noexcept {
  switch (o.symbol) {
    case symbol_kind::module_variable:
      return m.variables[o.index].space;
    case symbol_kind::local_variable:
      return f.variables[o.index].space;
    case symbol_kind::parameter:
    case symbol_kind::return_parameter:
      return state_space::param;
    default:
      return state_space::generic;
  }
}

const char* symbol_problem(const module& m, const function& f, const operand& o,
                           state_space space) noexcept {
  const state_space of_symbol = without_sub_space(space_of(m, f, o));
  const bool differs = space != of_symbol && space != state_space::generic;
  return differs && of_symbol != state_space::generic ? "has an address of another state space"
                                                      : nullptr;
}

const char* address_problem(const module& m, const function& f, const operand& o,
                            const mnemonic& word, state_space space) noexcept {
  if (o.base == address_base::none && space != state_space::local)
    return "has a number as an address, which only .local has";
  if (o.base == address_base::register_) {
    const type_info& base = info(f.registers[o.index].type);
    if (base.kind == type_class::floating || base.kind == type_class::predicate)
      return "has an address in a register that is no integer";
    const bool is_wide = space == state_space::generic || space == state_space::global;
    return base.bits == 32 && is_wide && has_values(word.opcode)
               ? "has an address of 32 bits, which .global does not have"
               : nullptr;
  }
  if (o.base != address_base::symbol) return nullptr;
  if (word.opcode == opcode::st && o.symbol == symbol_kind::parameter)
    return "writes to a parameter";
  return symbol_problem(m, f, o, space);
}

}  // namespace

const char* space_problem(const module& m, const function& f, const instruction& i,
                          const mnemonic& word) noexcept {
  if (!has_spaces(m, word)) return "has no such state space";
  if (!has_memory(word)) return nullptr;
  std::size_t count = 0;
  for (const operand& o : f.operands_of(i)) {
    if (o.kind == operand_kind::symbol && word.opcode == opcode::cvta && !word.has(q::to)) {
      return symbol_problem(m, f, o, without_sub_space(word.space()));
    }
    const bool is_group = o.kind == operand_kind::address_group;
    if (o.kind != operand_kind::address && !is_group) continue;
    // The barrier of a copy follows the two addresses.
    const bool is_barrier = word.space_count > 1 && count >= word.space_count;
    const state_space space = is_barrier             ? state_space::shared
                              : word.space_count > 1 ? word.space(count)
                                                     : word.space();
    ++count;
    const operand& address = is_group ? f.elements_of(o)[0] : o;
    const char* const problem = address.kind == operand_kind::address
                                    ? address_problem(m, f, address, word, without_sub_space(space))
                                    : nullptr;
    if (problem) return problem;
  }
  return nullptr;
}

}  // namespace halfwarp::emulator::ptx
