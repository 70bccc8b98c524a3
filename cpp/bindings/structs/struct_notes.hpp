// SPDX-License-Identifier: Apache-2.0
// What a struct class says of itself when it is asked: its documentation and its signature.
#pragma once

#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

// Gives a class that was just readied `__doc__` and `__signature__`, both made from its fields each
// time they are read: nothing is stored for the classes that nobody asks.
bool add_struct_notes(class_type& type);

}  // namespace halfwarp::bindings
