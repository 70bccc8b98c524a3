// SPDX-License-Identifier: Apache-2.0
// A recursive lock that lets go of the interpreter while it waits.
#include "bindings/types/creation_lock.hpp"

#include <pthread.h>

namespace halfwarp::bindings {
namespace {
pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

creation_lock::creation_lock() {
  if (pthread_mutex_trylock(&mutex) == 0) return;
  PyThreadState* state = PyEval_SaveThread();
  pthread_mutex_lock(&mutex);
  PyEval_RestoreThread(state);
}

creation_lock::~creation_lock() { pthread_mutex_unlock(&mutex); }

}  // namespace halfwarp::bindings
