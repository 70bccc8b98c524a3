// SPDX-License-Identifier: Apache-2.0
// The kinds of classes.
#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

constinit const class_family* const class_families[] = {&handle_family, &struct_family,
                                                        &data_family};

}  // namespace halfwarp::bindings
