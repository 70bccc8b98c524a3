// SPDX-License-Identifier: Apache-2.0
// The fields of struct objects: one getter and one setter that follow the field's record.
#pragma once

#include "bindings/numbers/c_numbers.hpp"
#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

// Calls `visit` for all fields, those of bases first, until it answers false.
template <class V>
bool for_each_field(const library& lib, const class_record& record, V visit) {
  if (record.base >= 0 && !for_each_field(lib, lib.classes[std::size_t(record.base)], visit))
    return false;
  for (const field& f : lib.fields_of(record))
    if (!visit(f)) return false;
  return true;
}

// A new reference; nullptr with an error set.
PyObject* read_field(const library& lib, const field& f, PyObject* self);
// 0, or -1 with an error set.
int write_field(const library& lib, const field& f, PyObject* self, PyObject* value);

}  // namespace halfwarp::bindings
