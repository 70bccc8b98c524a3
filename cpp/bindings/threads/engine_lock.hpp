// SPDX-License-Identifier: Apache-2.0
// One recursive lock for what the engine makes once: classes, enumerations, registries.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// With the interpreter lock nothing else would be needed if making a type let no other thread run;
// but PyType_Ready and friends may. Waiting lets go of the interpreter.
class engine_lock {
 public:
  engine_lock();
  engine_lock(const engine_lock&) = delete;  // one scope, one lock
  ~engine_lock();

  // Makes the lock itself: once, before any use. False with MemoryError set.
  static bool prepare();

  // In the child of a fork: a thread that held the lock is not there.
  static void forget();
};

}  // namespace halfwarp::bindings
