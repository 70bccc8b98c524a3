// SPDX-License-Identifier: Apache-2.0
// Selects the function that decodes an opcode, and checks the form of the instruction.
#include "emulator/exec/decode/opcodes.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "emulator/ptx/instruction_table.hpp"
#include "emulator/ptx/verification/form_rules.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;

struct opcode_decoder {
  opcode name;
  decode_function decode = nullptr;
};

constexpr opcode_decoder decoders[] = {
    {opcode::abs, &decode_arithmetic},
    {opcode::activemask, &decode_activemask},
    {opcode::add, &decode_arithmetic},
    {opcode::addc, &decode_carry},
    {opcode::alloca, &decode_alloca},
    {opcode::and_, &decode_logic},
    {opcode::applypriority, &decode_nothing},
    {opcode::atom, &decode_atom},
    {opcode::bar, &decode_bar},
    {opcode::barrier, &decode_bar},
    {opcode::bfe, &decode_arithmetic},
    {opcode::bfi, &decode_arithmetic},
    {opcode::bfind, &decode_arithmetic},
    {opcode::bmsk, &decode_arithmetic},
    {opcode::bra, &decode_bra},
    {opcode::brev, &decode_arithmetic},
    {opcode::brkpt, &decode_nothing},
    {opcode::brx, &decode_brx},
    {opcode::call, &decode_call},
    {opcode::clusterlaunchcontrol, &decode_launch_control},
    {opcode::clz, &decode_arithmetic},
    {opcode::cnot, &decode_arithmetic},
    {opcode::copysign, &decode_arithmetic},
    {opcode::cos, &decode_approximate},
    {opcode::cp, &decode_cp_async},
    {opcode::createpolicy, &decode_createpolicy},
    {opcode::cvt, &decode_cvt},
    {opcode::cvta, &decode_cvta},
    {opcode::discard, &decode_touch},
    {opcode::div, &decode_arithmetic},
    {opcode::dp2a, &decode_dot_product},
    {opcode::dp4a, &decode_dot_product},
    {opcode::elect, &decode_elect},
    {opcode::ex2, &decode_approximate},
    {opcode::exit, &decode_exit},
    {opcode::fence, &decode_fence},
    {opcode::fma, &decode_arithmetic},
    {opcode::fns, &decode_arithmetic},
    {opcode::getctarank, &decode_getctarank},
    {opcode::griddepcontrol, &decode_griddepcontrol},
    {opcode::isspacep, &decode_isspacep},
    {opcode::istypep, &decode_istypep},
    {opcode::ld, &decode_ld},
    {opcode::ldmatrix, &decode_ldmatrix},
    {opcode::ldu, &decode_ld},
    {opcode::lg2, &decode_approximate},
    {opcode::lop3, &decode_lop3},
    {opcode::mad, &decode_arithmetic},
    {opcode::mad24, &decode_arithmetic},
    {opcode::madc, &decode_carry},
    {opcode::mapa, &decode_mapa},
    {opcode::match, &decode_match},
    {opcode::max, &decode_min_max},
    {opcode::mbarrier, &decode_mbarrier},
    {opcode::membar, &decode_fence},
    {opcode::min, &decode_min_max},
    {opcode::mma, &decode_mma},
    {opcode::mov, &decode_mov},
    {opcode::movmatrix, &decode_movmatrix},
    {opcode::mul, &decode_arithmetic},
    {opcode::mul24, &decode_arithmetic},
    {opcode::nanosleep, &decode_nanosleep},
    {opcode::neg, &decode_arithmetic},
    {opcode::not_, &decode_logic},
    {opcode::or_, &decode_logic},
    {opcode::pmevent, &decode_nothing},
    {opcode::popc, &decode_arithmetic},
    {opcode::prefetch, &decode_nothing},
    {opcode::prefetchu, &decode_nothing},
    {opcode::prmt, &decode_prmt},
    {opcode::rcp, &decode_arithmetic},
    {opcode::red, &decode_atom},
    {opcode::redux, &decode_redux},
    {opcode::rem, &decode_arithmetic},
    {opcode::ret, &decode_ret},
    {opcode::rsqrt, &decode_approximate},
    {opcode::sad, &decode_arithmetic},
    {opcode::selp, &decode_selp},
    {opcode::set, &decode_set},
    {opcode::setmaxnreg, &decode_nothing},
    {opcode::setp, &decode_setp},
    {opcode::shf, &decode_arithmetic},
    {opcode::shfl, &decode_shfl},
    {opcode::shl, &decode_arithmetic},
    {opcode::shr, &decode_arithmetic},
    {opcode::sin, &decode_approximate},
    {opcode::slct, &decode_slct},
    {opcode::sqrt, &decode_arithmetic},
    {opcode::st, &decode_st},
    {opcode::stackrestore, &decode_stackrestore},
    {opcode::stacksave, &decode_stacksave},
    {opcode::stmatrix, &decode_stmatrix},
    {opcode::sub, &decode_arithmetic},
    {opcode::subc, &decode_carry},
    {opcode::suld, &decode_suld},
    {opcode::suq, &decode_txq},
    {opcode::sured, &decode_sured},
    {opcode::sust, &decode_sust},
    {opcode::szext, &decode_arithmetic},
    {opcode::tanh, &decode_approximate},
    {opcode::tcgen05, &decode_tcgen05},
    {opcode::tensormap, &decode_tensormap},
    {opcode::testp, &decode_testp},
    {opcode::tex, &decode_tex},
    {opcode::tld4, &decode_tld4},
    {opcode::trap, &decode_trap},
    {opcode::txq, &decode_txq},
    {opcode::vabsdiff, &decode_video},
    {opcode::vabsdiff2, &decode_video},
    {opcode::vabsdiff4, &decode_video},
    {opcode::vadd, &decode_video},
    {opcode::vadd2, &decode_video},
    {opcode::vadd4, &decode_video},
    {opcode::vavrg2, &decode_video},
    {opcode::vavrg4, &decode_video},
    {opcode::vmad, &decode_video},
    {opcode::vmax, &decode_video},
    {opcode::vmax2, &decode_video},
    {opcode::vmax4, &decode_video},
    {opcode::vmin, &decode_video},
    {opcode::vmin2, &decode_video},
    {opcode::vmin4, &decode_video},
    {opcode::vote, &decode_vote},
    {opcode::vset, &decode_video},
    {opcode::vset2, &decode_video},
    {opcode::vset4, &decode_video},
    {opcode::vshl, &decode_video},
    {opcode::vshr, &decode_video},
    {opcode::vsub, &decode_video},
    {opcode::vsub2, &decode_video},
    {opcode::vsub4, &decode_video},
    {opcode::wgmma, &decode_wgmma},
    {opcode::wmma, &decode_wmma},
    {opcode::xor_, &decode_logic},
};

constexpr bool is_before(const opcode_decoder& a, const opcode_decoder& b) {
  return a.name < b.name;
}

// Returns whether every opcode has one decoder, in order. All rows of multimem are refused, so that
// it has none.
constexpr bool is_complete() {
  std::size_t next = 0;
  for (const opcode_decoder& each : decoders) {
    if (static_cast<opcode>(next) == opcode::multimem) ++next;
    if (each.name != static_cast<opcode>(next++)) return false;
  }
  return static_cast<opcode>(next) == opcode::unknown;
}
static_assert(is_complete());

void require_form(const function_decoder& d, const ptx::instruction_row& row) {
  const ptx::mnemonic& m = d.spelling();
  if (row.results == ptx::exactness::refused) {
    throw unsupported{"the emulator does not support this instruction"};
  }
  if (const std::string problem = ptx::row_problem(row, m); !problem.empty()) {
    throw unsupported{problem};
  }
  if (const std::string problem = ptx::count_problem(row, d.operands().size()); !problem.empty()) {
    throw unsupported{problem};
  }
}

}  // namespace

void decode_instruction(function_decoder& d, opcode name) {
  if (d.spelling().has_unknown_word) throw unsupported{"unknown qualifier"};
  const ptx::instruction_row* const row = ptx::find_row(d.spelling());
  if (!row) throw unsupported{"unknown instruction"};
  require_form(d, *row);
  const auto* const entry =
      std::lower_bound(std::begin(decoders), std::end(decoders), opcode_decoder{name}, is_before);
  entry->decode(d);
}

std::string bits_name(int bits) { return "b" + std::to_string(bits); }

}  // namespace halfwarp::emulator::exec
