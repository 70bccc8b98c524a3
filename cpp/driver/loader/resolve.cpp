// SPDX-License-Identifier: Apache-2.0
// Fills a table at the first call, on one thread at a time, and again after a failure.
#include "driver/loader/resolve.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "driver/loader/fill.hpp"
#include "driver/loader/opening_lock.hpp"

namespace halfwarp::driver {

namespace {

// Written under an opening_lock. Failures are not stored: a library that appears later is found,
// and each failing call raises the same error.
struct {
  bool is_full[HALFWARP_LIBRARY_COUNT] = {};
  void* handle = nullptr;                        // of the open driver
  void* libraries[HALFWARP_LIBRARY_COUNT] = {};  // opened by the pathfinder
  backend_id backend = BACKEND_NONE;
  backend_id requested = BACKEND_NONE;
  int version = 0;
  int version_limit = 0;
} state;

python_side python;

bool is_full(library_id library) noexcept {
  return __atomic_load_n(&state.is_full[library], __ATOMIC_ACQUIRE);
}

void set_full(library_id library, bool value) noexcept {
  __atomic_store_n(&state.is_full[library], value, __ATOMIC_RELEASE);
}

// Switches libraries that were opened before the emulator was selected.
void use_emulator() noexcept {
  if (loader_backend() != BACKEND_EMULATOR) return;
  for (int i = 0; i < HALFWARP_LIBRARY_COUNT; ++i) {
    if (!state.libraries[i]) continue;
    if (library_records[i]->emulated) {  // the next call opens its emulated library
      library_records[i]->empty();
      set_full(static_cast<library_id>(i), false);
    } else {
      fill_from_handle(*library_records[i], state.libraries[i], state.handle);
    }
  }
}

bool fill_from_driver(loader_failure& failure) noexcept {
  const opening_lock owner;
  if (is_full(HALFWARP_DRIVER)) return true;
  const open_driver opened = open_backend(state.requested, failure);
  if (!opened.handle) return false;
  const int driver_version = version_of(opened.handle), limit = state.version_limit;
  const int version = limit ? std::min(limit, driver_version) : driver_version;
  if (version && version < oldest_driver) {
    failure.kind = FAILURE_TOO_OLD;
    failure.driver_version = version;
    failure.required_version = oldest_driver;
    return false;
  }
  state.handle = opened.handle;
  state.version = version;
  fill_driver(opened.handle, version);
  __atomic_store_n(&state.backend, opened.backend, __ATOMIC_RELEASE);
  use_emulator();
  set_full(HALFWARP_DRIVER, true);
  return true;
}

// Opens the emulator if it was selected. A compiler does not select a backend: with auto, the
// driver's first call selects the emulator and calls use_emulator.
void open_selected_emulator() noexcept {
  if (loader_backend() != BACKEND_NONE || loader_selected_backend() != BACKEND_EMULATOR) return;
  loader_failure failure{};
  static_cast<void>(fill_from_driver(failure));  // the first driver call reports the failure
}

bool fill_from_emulated(library_id library, loader_failure& failure) noexcept {
  const opening_lock owner;
  if (is_full(library)) return true;
  void* const handle = open_sibling(library_records[library]->emulated, failure);
  if (!handle) return false;
  fill_from_handle(*library_records[library], handle, nullptr);
  set_full(library, true);
  return true;
}

// NVML must describe the devices that kernels run on, so opening it resolves HALFWARP_BACKEND=auto.
bool is_for_emulated_devices(library_id library, loader_failure& failure) noexcept {
  if (!library_records[library]->emulated) return false;
  if (loader_backend() == BACKEND_NONE && loader_selected_backend() == BACKEND_NONE) {
    static_cast<void>(fill_from_driver(failure));
  }
  const backend_id used = loader_backend();
  return (used == BACKEND_NONE ? loader_selected_backend() : used) == BACKEND_EMULATOR;
}

// Two threads may both request the library from Python, which returns the same handle.
bool fill_from_pathfinder(library_id library, loader_failure& failure) noexcept {
  if (is_for_emulated_devices(library, failure)) return fill_from_emulated(library, failure);
  if (failure.kind == FAILURE_SETTING) return false;
  void* const handle = python.open(library, failure.function);
  if (!handle) {
    failure.kind = FAILURE_RAISED;
    return false;
  }
  open_selected_emulator();
  const opening_lock owner;
  const bool is_emulated = loader_backend() == BACKEND_EMULATOR;
  state.libraries[library] = handle;
  fill_from_handle(*library_records[library], handle, is_emulated ? state.handle : nullptr);
  set_full(library, true);
  return true;
}

// The functions of the extension depend on the backend; they report a missing backend themselves.
bool fill_from_extension(library_id library, loader_failure& failure) noexcept {
  loader_failure choice{};
  if (!fill_from_driver(choice) && choice.kind == FAILURE_SETTING) {
    failure = choice;
    return false;
  }
  if (python.fill_from_module(library) != 0) {
    failure.kind = FAILURE_RAISED;
    return false;
  }
  set_full(library, true);
  return true;
}

bool fill(library_id library, loader_failure& failure) noexcept {
  failure.library = library;
  if (is_full(library)) return true;
  switch (library_records[library]->opening_method) {
    case opening::backend:
      if (!fill_from_driver(failure)) return false;
      python.on_backend_opened(loader_backend());  // without the lock: it may run any code
      return true;
    case opening::pathfinder:
      return fill_from_pathfinder(library, failure);
    case opening::extension:
      return fill_from_extension(library, failure);
  }
  return false;
}

library_id library_of(const char* name) noexcept {
  for (unsigned i = 0; i < HALFWARP_LIBRARY_COUNT; ++i) {
    if (std::strcmp(library_records[i]->name, name) == 0) return static_cast<library_id>(i);
  }
  return HALFWARP_LIBRARY_COUNT;
}

void* const* table_of(const char* name) noexcept {
  const library_id library = library_of(name);
  return library == HALFWARP_LIBRARY_COUNT ? nullptr : library_records[library]->table;
}

int raise(const loader_failure& failure) noexcept {
  return failure.kind == FAILURE_RAISED ? -1 : python.raise(&failure);
}

int ensure(library_id library) noexcept {
  loader_failure failure{};
  return fill(library, failure) ? 0 : raise(failure);
}

int has(library_id library, unsigned slot) noexcept {
  const library_record& all = *library_records[library];
  loader_failure failure{};
  if (slot < all.count) failure.function = all.symbols[slot].name;
  if (!fill(library, failure)) return raise(failure);
  return slot < all.count && all.is_filled(slot);
}

// Searches by address, which is the current or initial content of a slot.
const char* name_of(library_id library, const void* function) noexcept {
  const library_record& all = *library_records[library];
  for (unsigned i = 0; i < all.count; ++i) {
    if (all.table[i] == function || all.initial[i] == function) return all.symbols[i].name;
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

constexpr loader_api interface = {&table_of, &ensure, &has, &name_of, &backend_name};

}  // namespace

void* resolve(library_id library, unsigned slot) noexcept {
  const library_record& all = *library_records[library];
  loader_failure failure{};
  failure.function = all.symbols[slot].name;
  if (fill(library, failure)) {
    if (all.is_filled(slot)) return __atomic_load_n(&all.table[slot], __ATOMIC_ACQUIRE);
    failure.kind = FAILURE_FUNCTION;
    failure.required_version = all.symbols[slot].version;
    failure.driver_version = state.version;
    failure.backend = loader_backend();
  }
  raise(failure);
  return nullptr;
}

extern "C" {

void loader_connect(const python_side* side) {
  python = *side;
  for (const library_record* library : library_records) library->empty();
  opening_lock::watch_forks();
}

const loader_api* loader_interface(void) { return &interface; }

void* loader_address(library_id library, const char* name) {
  const library_record& all = *library_records[library];
  for (unsigned i = 0; i < all.count; ++i) {
    const symbol& s = all.symbols[i];
    if (std::strcmp(s.name, name) == 0 || std::strcmp(s.exported, name) == 0) {
      return all.is_filled(i) ? all.table[i] : nullptr;
    }
  }
  return nullptr;
}

void* loader_emulator_symbol(const char* name) {
  const opening_lock owner;
  return state.backend == BACKEND_EMULATOR ? dlsym(state.handle, name) : nullptr;
}

library_id loader_library(const char* name) { return library_of(name); }

const char* loader_library_name(library_id library) { return library_records[library]->name; }

const char* loader_source(library_id library) { return library_records[library]->source; }

const char* loader_package(library_id library) { return library_records[library]->package; }

const char* loader_remedy(library_id library) { return library_records[library]->remedy; }

const char* loader_per_thread_suffix(library_id library, unsigned slot) {
  const symbol_text& suffix = library_records[library]->symbols[slot].per_thread;
  return suffix && uses_per_thread_streams() ? suffix.c_str() : nullptr;
}

void loader_publish_library(void) { publish_library(); }

void loader_put(library_id library, unsigned slot, void* function) {
  library_records[library]->put(slot, function);
}

const char* loader_exported_name(library_id library, unsigned slot) {
  const library_record& all = *library_records[library];
  return slot < all.count ? all.symbols[slot].exported.c_str() : nullptr;
}

int loader_request_backend(backend_id backend) {
  const opening_lock owner;
  if (is_full(HALFWARP_DRIVER) && state.backend != backend) return 0;
  state.requested = backend;
  return 1;
}

backend_id loader_backend(void) { return __atomic_load_n(&state.backend, __ATOMIC_ACQUIRE); }

backend_id loader_selected_backend(void) {
  const opening_lock owner;
  return select_backend(state.requested);
}

void loader_reset(int version_limit) {
  const opening_lock owner;
  for (unsigned i = 0; i < HALFWARP_LIBRARY_COUNT; ++i) {
    const auto library = static_cast<library_id>(i);
    library_records[library]->empty();
    set_full(library, false);
  }
  state.version_limit = version_limit;
}

}  // extern "C"

}  // namespace halfwarp::driver
