// SPDX-License-Identifier: Apache-2.0
// Compile-time checks of the properties of tables that the engine relies on.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

constexpr bool is_position(int i, int n) { return i >= -1 && i < n; }

// Checks a parameter: positions within the call, and a class, enumeration or table if the kind
// needs one.
constexpr bool is_consistent(const library& lib, const function& f, const param& p) {
  if (!is_position(p.py, f.positional) || !is_position(p.aux, f.n) || !is_position(p.size, f.n))
    return false;
  if (p.is_optional && !is_list(p.k)) return false;
  bool has_attribute = p.k == kind::attribute_value || p.k == kind::attribute_options ||
                       p.k == kind::out_attribute || p.k == kind::out_attribute_list;
  if (has_attribute) return p.has_aux() && std::size_t(p.type) < lib.attributes.size();
  bool has_class = p.k == kind::handle32 || p.k == kind::handle64 || p.k == kind::structure ||
                   p.k == kind::structure_value || p.k == kind::out_handle ||
                   p.k == kind::out_structure;
  if (has_class) return std::size_t(p.type) < lib.classes.size();
  return p.type >= -1;
}

constexpr bool is_consistent(const library& lib, const function& f) {
  if (f.n > max_parameters || f.required > f.positional) return false;
  if (f.first_param + f.n > lib.params.size() || f.caller >= lib.thunks.size()) return false;
  if (f.handwritten >= lib.handwritten.size()) return false;
  int outputs = f.f & (returns_text | returns_number) ? 1 : 0;
  for (int i = 0; i < f.n; ++i) {
    if (!is_consistent(lib, f, lib.param_of(f, i))) return false;
    outputs += is_output(lib.param_of(f, i).k);
  }
  return outputs == f.outputs;
}

constexpr bool is_consistent(const library& lib, const class_record& record) {
  if (record.first_field + record.own_fields > lib.fields.size()) return false;
  if (record.extras >= lib.extras.size()) return false;
  for (const field& f : lib.fields_of(record)) {
    bool has_type = f.k == kind::structure || f.k == kind::handle32 || f.k == kind::handle64;
    if (has_type && std::size_t(f.type) >= lib.classes.size()) return false;
    if (f.k == kind::structure && f.child >= record.children) return false;
    if (int(f.offset) + int(f.size) > int(record.size)) return false;
    // the previous field has the length of an array that the library allocates
    bool is_library_array = f.k == kind::field_pointer_list && f.f & read_only;
    if (is_library_array && (&f == &lib.fields[record.first_field] || !is_integer((&f)[-1].k)))
      return false;
  }
  return lib.extras_of(record).owner_of_base || is_position(record.base, int(lib.classes.size()));
}

constexpr bool is_consistent(const library& lib) {
  for (const function& f : lib.functions)
    if (!is_consistent(lib, f)) return false;
  for (const class_record& record : lib.classes)
    if (!is_consistent(lib, record)) return false;
  for (const enumeration& e : lib.enums)
    if (e.first_member + e.own_members > lib.members.size()) return false;
  return std::size_t(lib.result_enum) < lib.enums.size();
}

}  // namespace halfwarp::bindings
