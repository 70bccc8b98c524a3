// SPDX-License-Identifier: Apache-2.0
// Lists the families of handlers. Compiled once per instruction set, like all files here.
#include "emulator/exec/lanes/lanes.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

extern const handler_family atomic_handlers, bits_handlers, carry_handlers, compare_handlers,
    convert_handlers, float_handlers, function_handlers, half_handlers, integer_handlers,
    matrix_handlers, memory_handlers, move_handlers, special_handlers, warp_wide_handlers;

extern const family_list families;
const family_list families{
    &atomic_handlers, &bits_handlers,     &carry_handlers,   &compare_handlers,  &convert_handlers,
    &float_handlers,  &function_handlers, &half_handlers,    &integer_handlers,  &matrix_handlers,
    &memory_handlers, &move_handlers,     &special_handlers, &warp_wide_handlers};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
