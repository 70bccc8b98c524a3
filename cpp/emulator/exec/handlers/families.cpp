// SPDX-License-Identifier: Apache-2.0
// Lists the families of handlers. Compiled once per instruction set, like all files here.
#include "emulator/exec/lanes/lanes.hpp"

#ifdef __AVX512F__
namespace halfwarp::emulator::exec::x86_64_v3 {
extern const handler_family atomic_handlers, function_handlers, special_handlers;
}
#endif

namespace halfwarp::emulator::exec::HALFWARP_ISA {

#ifdef __AVX512F__
using x86_64_v3::atomic_handlers, x86_64_v3::function_handlers, x86_64_v3::special_handlers;
#else
extern const handler_family atomic_handlers, function_handlers, special_handlers;
#endif
extern const handler_family bits_handlers, carry_handlers, compare_handlers, convert_handlers,
    float_handlers, half_handlers, integer_handlers, matrix_handlers, memory_handlers,
    move_handlers, warp_wide_handlers;

extern const family_list families;
const family_list families{
    &atomic_handlers, &bits_handlers,     &carry_handlers,   &compare_handlers,  &convert_handlers,
    &float_handlers,  &function_handlers, &half_handlers,    &integer_handlers,  &matrix_handlers,
    &memory_handlers, &move_handlers,     &special_handlers, &warp_wide_handlers};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
