// SPDX-License-Identifier: Apache-2.0
// Functions that decode the PTX instructions, by opcode.
#pragma once

#include "emulator/exec/decode/function_decoder.hpp"

namespace halfwarp::emulator::exec {

// Throws unsupported.
void decode_instruction(function_decoder& d, ptx::opcode opcode);
// Emits the read of a special register into `result`.
void emit_special_register(function_decoder& d, const ptx::operand& o, operand_slot result,
                           int bits);

using decode_function = void (*)(function_decoder&);

void decode_arithmetic(function_decoder& d);  // add sub mul mad fma div ...
void decode_carry(function_decoder& d);       // addc subc madc
void decode_logic(function_decoder& d);       // and or xor not
void decode_lop3(function_decoder& d);
void decode_prmt(function_decoder& d);
void decode_approximate(function_decoder& d);  // rsqrt ex2 lg2 sin cos tanh
void decode_min_max(function_decoder& d);
void decode_testp(function_decoder& d);
void decode_setp(function_decoder& d);
void decode_set(function_decoder& d);
void decode_selp(function_decoder& d);
void decode_slct(function_decoder& d);
void decode_mov(function_decoder& d);
void decode_cvt(function_decoder& d);
void decode_cvta(function_decoder& d);
void decode_isspacep(function_decoder& d);
void decode_istypep(function_decoder& d);
void decode_ld(function_decoder& d);
void decode_st(function_decoder& d);
void decode_atom(function_decoder& d);  // and red
void decode_fence(function_decoder& d);
void decode_touch(function_decoder& d);
void decode_nothing(function_decoder& d);
void decode_bra(function_decoder& d);
void decode_brx(function_decoder& d);
void decode_call(function_decoder& d);
void decode_alloca(function_decoder& d);
void decode_stacksave(function_decoder& d);
void decode_stackrestore(function_decoder& d);
void decode_ret(function_decoder& d);
void decode_exit(function_decoder& d);
void decode_trap(function_decoder& d);
void decode_bar(function_decoder& d);
void decode_nanosleep(function_decoder& d);
void decode_shfl(function_decoder& d);
void decode_vote(function_decoder& d);
void decode_match(function_decoder& d);
void decode_redux(function_decoder& d);
void decode_activemask(function_decoder& d);
void decode_elect(function_decoder& d);
void decode_video(function_decoder& d);  // vadd vsub vabsdiff vmin vmax vset vmad vshl vshr
void decode_tex(function_decoder& d);
void decode_tld4(function_decoder& d);
void decode_txq(function_decoder& d);  // and suq
void decode_suld(function_decoder& d);
void decode_sust(function_decoder& d);
void decode_sured(function_decoder& d);
void decode_dot_product(function_decoder& d);  // dp4a dp2a
void decode_mapa(function_decoder& d);
void decode_getctarank(function_decoder& d);
void decode_griddepcontrol(function_decoder& d);
void decode_createpolicy(function_decoder& d);
void decode_cp_async(function_decoder& d);
void decode_bulk(function_decoder& d);  // cp.async.bulk cp.reduce.async.bulk
void decode_tensormap(function_decoder& d);
void decode_launch_control(function_decoder& d);
void decode_async_store(function_decoder& d);  // st.async red.async
void decode_bulk_store(function_decoder& d);   // st.bulk
void decode_mbarrier(function_decoder& d);
void decode_ldmatrix(function_decoder& d);
void decode_stmatrix(function_decoder& d);
void decode_movmatrix(function_decoder& d);
void decode_mma(function_decoder& d);
void decode_wmma(function_decoder& d);
void decode_wgmma(function_decoder& d);
void decode_tcgen05(function_decoder& d);
// Decodes a conversion from or to tf32 or a format of at most 8 bits. Returns false for others.
bool decode_small_float(function_decoder& d);

// Returns the slot of an address with its displacement, 64 bits wide or as narrow as the address.
operand_slot emit_whole_address(function_decoder& d, const function_decoder::address& at);
// Returns the slot of an offset in shared memory, 64 bits wide. The space may be generic.
operand_slot emit_shared_offset(function_decoder& d, const ptx::operand& o, ptx::state_space space);

// Sets the address operand for `count` elements of `bits` bits. 0 bits: nothing is accessed.
void set_address(function_decoder& d, instruction& instr, const function_decoder::address& at,
                 std::uint32_t count, int bits);

// Emits a comparison (eq, ltu, lo ...) of two values of `type` with a predicate result.
void emit_comparison(function_decoder& d, ptx::qualifier comparison, ptx::scalar_type type,
                     bool ftz, operand_slot predicate, operand_slot a, operand_slot b,
                     std::uint32_t part = 0);

// Returns the name of the untyped type of that width, such as "b32".
std::string bits_name(int bits);
inline int bits_of(ptx::scalar_type type) { return ptx::info(type).bits; }
// Returns rounding, ftz, sat and other qualifiers as float_flag.
std::uint16_t float_flags(const ptx::mnemonic& m);

}  // namespace halfwarp::emulator::exec
