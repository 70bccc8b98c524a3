// SPDX-License-Identifier: Apache-2.0
// Filling a table: at most one thread at a time, at the first call, and again after a failure.
#include "driver/loader/resolve.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstring>
#include <initializer_list>

#include "driver/loader/fill.hpp"

namespace halfwarp::driver {

namespace {

// Written under `lock`. No failure is kept: a library that appears later is found, and each failing
// call says what the first one said. The lock is never held while the GIL is taken.
struct {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  bool is_full[2] = {};
  void* handle = nullptr;  // of the open driver
  backend_id backend = BACKEND_NONE;
  backend_id requested = BACKEND_NONE;
  int version = 0;
  int version_limit = 0;
} state;

python_side python;

class guard {
 public:
  guard() noexcept { pthread_mutex_lock(&state.lock); }
  ~guard() { pthread_mutex_unlock(&state.lock); }
  guard(const guard&) = delete;  // one lock, one owner
  guard& operator=(const guard&) = delete;
};

bool is_full(library_id library) noexcept {
  return __atomic_load_n(&state.is_full[library], __ATOMIC_ACQUIRE);
}

void set_full(library_id library, bool value) noexcept {
  __atomic_store_n(&state.is_full[library], value, __ATOMIC_RELEASE);
}

bool fill_from_driver(loader_failure& failure) noexcept {
  const guard owner;
  if (is_full(HALFWARP_DRIVER)) return true;
  const open_driver opened = open_backend(state.requested, failure);
  if (!opened.handle) return false;
  state.handle = opened.handle;
  state.version = fill_driver(opened.handle, state.version_limit);
  __atomic_store_n(&state.backend, opened.backend, __ATOMIC_RELEASE);
  set_full(HALFWARP_DRIVER, true);
  return true;
}

// Two threads may both ask Python for the library: it answers both with the same handle.
bool fill_from_nvrtc(loader_failure& failure) noexcept {
  void* const handle = python.open(HALFWARP_NVRTC, failure.function);
  if (!handle) {
    failure.kind = FAILURE_RAISED;
    return false;
  }
  const guard owner;
  fill_nvrtc(handle);
  set_full(HALFWARP_NVRTC, true);
  return true;
}

bool fill(library_id library, loader_failure& failure) noexcept {
  failure.library = library;
  if (is_full(library)) return true;
  return library == HALFWARP_DRIVER ? fill_from_driver(failure) : fill_from_nvrtc(failure);
}

int raise(const loader_failure& failure) noexcept {
  return failure.kind == FAILURE_RAISED ? -1 : python.raise(&failure);
}

int ensure(library_id library) noexcept {
  loader_failure failure{};
  return fill(library, failure) ? 0 : raise(failure);
}

int has(library_id library, unsigned slot) noexcept {
  if (ensure(library) != 0) return -1;
  const slots all = slots_of(library);
  return slot < all.count && all.is_filled(slot);
}

// By the address: the caller held a slot's content, filled or not.
const char* name_of(library_id library, const void* function) noexcept {
  const slots all = slots_of(library);
  for (unsigned i = 0; i < all.count; ++i) {
    if (all.table[i] == function || all.first[i] == function) return all.symbols[i].name;
  }
  return "unknown function";
}

const char* backend_name() noexcept {
  switch (loader_backend()) {
    case BACKEND_DRIVER:
      return "driver";
    case BACKEND_EMULATOR:
      return "emulator";
    default:
      return nullptr;
  }
}

constexpr loader_api interface = {&driver_slots, &nvrtc_slots, &ensure,
                                  &has,          &name_of,     &backend_name};

}  // namespace

void* resolve(library_id library, unsigned slot) noexcept {
  const slots all = slots_of(library);
  loader_failure failure{};
  failure.function = all.symbols[slot].name;
  if (fill(library, failure)) {
    if (all.is_filled(slot)) return __atomic_load_n(&all.table[slot], __ATOMIC_ACQUIRE);
    failure.kind = FAILURE_FUNCTION;
    failure.needs = all.symbols[slot].version;
    failure.found = state.version;
    failure.backend = loader_backend();
  }
  raise(failure);
  return nullptr;
}

extern "C" {

void loader_connect(const python_side* side) { python = *side; }

const loader_api* loader_interface(void) { return &interface; }

int loader_fill(library_id library, loader_failure* failure) { return fill(library, *failure); }

void* loader_address(library_id library, const char* name) {
  const slots all = slots_of(library);
  for (unsigned i = 0; i < all.count; ++i) {
    const symbol& s = all.symbols[i];
    if (std::strcmp(s.name, name) == 0 || std::strcmp(s.exported, name) == 0) {
      return all.is_filled(i) ? all.table[i] : nullptr;
    }
  }
  return nullptr;
}

void* loader_emulator_symbol(const char* name) {
  const guard owner;
  return state.backend == BACKEND_EMULATOR ? dlsym(state.handle, name) : nullptr;
}

const char* loader_exported_name(library_id library, unsigned slot) {
  const slots all = slots_of(library);
  return slot < all.count ? all.symbols[slot].exported : nullptr;
}

int loader_request_backend(backend_id backend) {
  const guard owner;
  if (is_full(HALFWARP_DRIVER) && state.backend != backend) return 0;
  state.requested = backend;
  return 1;
}

backend_id loader_backend(void) { return __atomic_load_n(&state.backend, __ATOMIC_ACQUIRE); }

backend_id loader_wanted(void) {
  const guard owner;
  return wanted_backend(state.requested);
}

void loader_forget(int version_limit) {
  const guard owner;
  for (const library_id library : {HALFWARP_DRIVER, HALFWARP_NVRTC}) {
    const slots all = slots_of(library);
    for (unsigned i = 0; i < all.count; ++i) all.put(i, nullptr);
    set_full(library, false);
  }
  state.version_limit = version_limit;
}

}  // extern "C"

}  // namespace halfwarp::driver
