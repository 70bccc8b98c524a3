// SPDX-License-Identifier: Apache-2.0
// The properties of a struct class's fields.
#pragma once

#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

// Before the class is readied: a property for each field, bound to its record.
bool add_field_properties(class_type& type);

// After it: lets these properties reach their fields directly.
bool quicken_field_properties(class_type& type);

}  // namespace halfwarp::bindings
