// SPDX-License-Identifier: Apache-2.0
#include "emulator/ptx/verification/declaration_rules.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/type_set.hpp"
#include "emulator/ptx/verification/register_rules.hpp"

namespace halfwarp::emulator::ptx {
namespace {

// The version of PTX, times ten, that introduced a target.
struct target_since {
  std::uint8_t target, version;
};
constexpr target_since first_versions[] = {{70, 60},  {72, 61},  {75, 63},  {80, 70},  {86, 71},
                                           {87, 74},  {89, 78},  {90, 78},  {100, 86}, {101, 86},
                                           {120, 87}, {103, 88}, {121, 88}, {110, 90}, {88, 90}};

unsigned version_of(const module& m) { return 10 * m.version_major + m.version_minor; }

bool is_empty(const variable& v) { return v.is_array && v.size == 0; }

// The types of registers and variables. Only instructions have the remaining types.
constexpr type_set declared_types =
    integers | type_set{scalar_type::b8,    scalar_type::b16, scalar_type::b32, scalar_type::b64,
                        scalar_type::b128,  scalar_type::u8,  scalar_type::s8,  scalar_type::f16,
                        scalar_type::f16x2, scalar_type::f32, scalar_type::f64, scalar_type::pred};

bool is_opaque(scalar_type type) { return info(type).kind == type_class::opaque; }

// Compilers name the types of one parameter .b32 and .u32, and a link joins their texts.
bool have_same_size(const variable& a, const variable& b) {
  return a.size == b.size && a.is_array == b.is_array;
}

const char* parameter_problem(const module& m, const function& f) noexcept {
  constexpr std::uint64_t early_limit = 4352;  // bytes
  if (f.return_parameters.size() > 1 && f.return_parameters[0].space == state_space::param)
    return "has several results in memory";
  for (const variable& v : f.parameters) {
    const bool is_texture = is_opaque(v.type) && f.is_entry;
    if (!declared_types.has(v.type) && !is_texture)
      return "has a parameter of a type of instructions";
    if (v.type == scalar_type::f16x2 && v.space == state_space::param)
      return "has a pair of halves as a parameter in memory";
    if (v.type == scalar_type::pred && v.space == state_space::param)
      return "has a predicate as a parameter in memory";
    if (!f.is_entry) continue;
    if (v.space == state_space::reg) return "is a kernel with a parameter in a register";
    if (is_empty(v)) return "is a kernel with a parameter of unknown size";
  }
  if (f.is_entry && f.parameter_bytes > early_limit && version_of(m) < 81)
    return "is a kernel with more than 4352 bytes of parameters, which needs .version 8.1";
  return nullptr;
}

}  // namespace

const char* target_problem(const module& m) noexcept {
  if (!m.target.starts_with("sm_") && !m.target.starts_with("compute_")) return "is unknown";
  const auto* const row =
      std::ranges::find(first_versions, m.target_architecture(), &target_since::target);
  return row != std::end(first_versions) && version_of(m) < row->version
             ? "needs a later .version of PTX"
             : nullptr;
}

const char* variable_problem(const variable& v, bool is_in_body) noexcept {
  constexpr unsigned largest_vector = 128;  // bits
  const bool is_global = v.space == state_space::global;
  if (!declared_types.has(v.type) && !is_opaque(v.type)) return "has a type of instructions";
  if (v.type == scalar_type::pred) return "is a predicate in memory";
  if (v.vector_width > 1 && v.vector_width * info(v.type).bits > largest_vector)
    return "is a vector of more than 128 bits";
  if (v.linkage == linkage::common && !is_global) return "is .common outside of .global";
  if (v.is_managed && !is_global) return "is managed outside of .global";
  if (v.space == state_space::local && !is_in_body) return "is local to no function";
  if (is_empty(v) && v.linkage != linkage::extern_) return "has no size";
  return is_in_body && is_opaque(v.type) ? "is a texture of a function" : nullptr;
}

bool is_register_type(scalar_type type) noexcept { return declared_types.has(type); }

const char* function_problem(const module& m, const function& f) noexcept {
  const function_directives& d = f.directives;
  if (f.linkage == linkage::common) return "is .common";
  if (f.linkage == linkage::extern_ && f.is_definition) return "is .extern and has a body";
  const bool has_blocks = d.maxntid.is_present() || d.reqntid.is_present() || d.minnctapersm;
  if (has_blocks && !f.is_entry) return "is no kernel and has a size of blocks";
  if (d.maxnctapersm && version_of(m) >= 21) return "has .maxnctapersm, which ended with PTX 2.0";
  if (d.blocksareclusters && version_of(m) < 90)
    return "has .blocksareclusters, which needs .version 9.0";
  if (d.maxntid.is_present() && d.reqntid.is_present()) return "has .maxntid and .reqntid";
  if (d.reqnctapercluster.is_present() && d.maxclusterrank)
    return "has .reqnctapercluster and .maxclusterrank";
  const bool has_clusters =
      d.reqnctapercluster.is_present() || d.maxclusterrank || d.explicitcluster;
  if (has_clusters && m.target_architecture() < 90) return "has clusters, which need sm_90";
  if (d.noreturn && (f.is_entry || !f.return_parameters.empty()))
    return "has .noreturn, and is a kernel or has a result";
  for (const std::string_view each : d.unknown) {
    if (!each.starts_with(".abi_preserve")) return "has an unknown directive";
  }
  return parameter_problem(m, f);
}

const char* redeclaration_problem(const function& earlier, const function& later) noexcept {
  const bool is_same =
      earlier.is_entry == later.is_entry &&
      std::ranges::equal(earlier.parameters, later.parameters, have_same_size) &&
      std::ranges::equal(earlier.return_parameters, later.return_parameters, have_same_size);
  return is_same ? nullptr : "differs from its other declaration";
}

const char* argument_problem(const function& f, std::span<const operand> arguments,
                             std::span<const variable> declared) noexcept {
  for (std::size_t n = 0; n < arguments.size() && n < declared.size(); ++n) {
    const operand& o = arguments[n];
    const variable& v = declared[n];
    bool is_fit = true;
    if (o.kind == operand_kind::register_ && o.component == component::none) {
      const register_info& r = f.registers[o.index];
      is_fit = r.vector_width != 1 || (!v.is_array && fits(v.type, r.type, false));
    } else if (o.kind == operand_kind::symbol && o.symbol == symbol_kind::local_variable) {
      const variable& actual = f.variables[o.index];
      is_fit = v.is_unsized || actual.is_unsized ||
               (actual.size == v.size && actual.is_array == v.is_array);
    }
    if (!is_fit) return "has an argument or a result of another type";
  }
  return nullptr;
}

}  // namespace halfwarp::emulator::ptx
