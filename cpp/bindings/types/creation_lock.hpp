// SPDX-License-Identifier: Apache-2.0
// One recursive lock under which classes and enumerations are made.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// With the interpreter lock nothing else is needed as long as making a type lets no other thread
// run; PyType_Ready and friends may. So there is a real lock, released by the thread that took it.
class creation_lock {
 public:
  creation_lock();
  creation_lock(const creation_lock&) = delete;  // one scope, one lock
  ~creation_lock();
};

}  // namespace halfwarp::bindings
