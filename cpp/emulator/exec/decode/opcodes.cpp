// SPDX-License-Identifier: Apache-2.0
// The table of instructions.
#include "emulator/exec/decode/opcodes.hpp"

#include <algorithm>
#include <iterator>

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;

struct opcode_entry {
  opcode name;
  decode_function decode;
};

constexpr opcode_entry table[] = {
    {opcode::abs, &decode_arithmetic},
    {opcode::activemask, &decode_activemask},
    {opcode::add, &decode_arithmetic},
    {opcode::addc, &decode_carry},
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
    {opcode::clz, &decode_arithmetic},
    {opcode::cnot, &decode_arithmetic},
    {opcode::copysign, &decode_arithmetic},
    {opcode::cos, &decode_approximate},
    {opcode::cvt, &decode_cvt},
    {opcode::cvta, &decode_cvta},
    {opcode::discard, &decode_touch},
    {opcode::div, &decode_arithmetic},
    {opcode::elect, &decode_elect},
    {opcode::ex2, &decode_approximate},
    {opcode::exit, &decode_exit},
    {opcode::fence, &decode_fence},
    {opcode::fma, &decode_arithmetic},
    {opcode::fns, &decode_arithmetic},
    {opcode::isspacep, &decode_isspacep},
    {opcode::ld, &decode_ld},
    {opcode::ldu, &decode_ld},
    {opcode::lg2, &decode_approximate},
    {opcode::lop3, &decode_lop3},
    {opcode::mad, &decode_arithmetic},
    {opcode::mad24, &decode_arithmetic},
    {opcode::madc, &decode_carry},
    {opcode::match, &decode_match},
    {opcode::max, &decode_min_max},
    {opcode::membar, &decode_fence},
    {opcode::min, &decode_min_max},
    {opcode::mov, &decode_mov},
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
    {opcode::setp, &decode_setp},
    {opcode::shf, &decode_arithmetic},
    {opcode::shfl, &decode_shfl},
    {opcode::shl, &decode_arithmetic},
    {opcode::shr, &decode_arithmetic},
    {opcode::sin, &decode_approximate},
    {opcode::slct, &decode_slct},
    {opcode::sqrt, &decode_arithmetic},
    {opcode::st, &decode_st},
    {opcode::sub, &decode_arithmetic},
    {opcode::subc, &decode_carry},
    {opcode::szext, &decode_arithmetic},
    {opcode::tanh, &decode_approximate},
    {opcode::testp, &decode_testp},
    {opcode::trap, &decode_trap},
    {opcode::vote, &decode_vote},
    {opcode::xor_, &decode_logic},
};

constexpr bool is_before(const opcode_entry& a, const opcode_entry& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(table), std::end(table), is_before));

}  // namespace

void decode_instruction(function_decoder& d, opcode name) {
  if (d.spelling().has_unknown_word) throw unsupported{"unknown qualifier"};
  auto found =
      std::lower_bound(std::begin(table), std::end(table), opcode_entry{name, nullptr}, is_before);
  if (found == std::end(table) || found->name != name) throw unsupported{"unknown instruction"};
  found->decode(d);
}

std::string bits_name(int bits) { return "b" + std::to_string(bits); }

}  // namespace halfwarp::emulator::exec
