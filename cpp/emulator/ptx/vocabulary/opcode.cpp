// SPDX-License-Identifier: Apache-2.0
// Defines the table of instruction names.
#include "emulator/ptx/vocabulary/opcode.hpp"

#include "emulator/ptx/vocabulary/sorted_names.hpp"

namespace halfwarp::emulator::ptx {
namespace {

constexpr sorted_names<opcode, opcode::unknown> names{
    {"abs",          "activemask",    "add",       "addc",       "alloca",
     "and",          "applypriority", "atom",      "bar",        "barrier",
     "bfe",          "bfi",           "bfind",     "bmsk",       "bra",
     "brev",         "brkpt",         "brx",       "call",       "clusterlaunchcontrol",
     "clz",          "cnot",          "copysign",  "cos",        "cp",
     "createpolicy", "cvt",           "cvta",      "discard",    "div",
     "dp2a",         "dp4a",          "elect",     "ex2",        "exit",
     "fence",        "fma",           "fns",       "getctarank", "griddepcontrol",
     "isspacep",     "istypep",       "ld",        "ldmatrix",   "ldu",
     "lg2",          "lop3",          "mad",       "mad24",      "madc",
     "mapa",         "match",         "max",       "mbarrier",   "membar",
     "min",          "mma",           "mov",       "movmatrix",  "mul",
     "mul24",        "multimem",      "nanosleep", "neg",        "not",
     "or",           "pmevent",       "popc",      "prefetch",   "prefetchu",
     "prmt",         "rcp",           "red",       "redux",      "rem",
     "ret",          "rsqrt",         "sad",       "selp",       "set",
     "setmaxnreg",   "setp",          "shf",       "shfl",       "shl",
     "shr",          "sin",           "slct",      "sqrt",       "st",
     "stackrestore", "stacksave",     "stmatrix",  "sub",        "subc",
     "suld",         "suq",           "sured",     "sust",       "szext",
     "tanh",         "tcgen05",       "tensormap", "testp",      "tex",
     "tld4",         "trap",          "txq",       "vabsdiff",   "vabsdiff2",
     "vabsdiff4",    "vadd",          "vadd2",     "vadd4",      "vavrg2",
     "vavrg4",       "vmad",          "vmax",      "vmax2",      "vmax4",
     "vmin",         "vmin2",         "vmin4",     "vote",       "vset",
     "vset2",        "vset4",         "vshl",      "vshr",       "vsub",
     "vsub2",        "vsub4",         "wgmma",     "wmma",       "xor"}};
static_assert(names.is_sorted());
static_assert(names.spelling(opcode::abs) == "abs");
static_assert(names.spelling(opcode::popc) == "popc");
static_assert(names.spelling(opcode::xor_) == "xor");

}  // namespace

std::string_view spelling(opcode value) noexcept { return names.spelling(value); }

opcode find_opcode(std::string_view spelling) noexcept { return names.find(spelling); }

}  // namespace halfwarp::emulator::ptx
