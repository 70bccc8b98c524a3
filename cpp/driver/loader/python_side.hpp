/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between the loader's C++ and _internal/loader.pyx; C as well as C++. */
#pragma once

#include "driver/loader_api.hpp"

#ifdef __cplusplus
namespace halfwarp::driver {
extern "C" {
#endif

enum backend_id { BACKEND_NONE, BACKEND_DRIVER, BACKEND_EMULATOR };

enum failure_kind {
  FAILURE_NONE,
  FAILURE_SETTING,  /* HALFWARP_BACKEND has an invalid value: `detail` */
  FAILURE_LIBRARY,  /* the library cannot be opened: `detail` is the reason */
  FAILURE_FUNCTION, /* the open library lacks `function` */
  FAILURE_TOO_OLD,  /* the open driver is older than `required_version` */
  FAILURE_RAISED    /* a Python error is set already */
};

/* The reason why a call is impossible. Filled without the GIL; loader.pyx formats the message. */
struct loader_failure {
  enum failure_kind kind;
  enum library_id library;
  enum backend_id backend; /* the selected backend */
  const char* function;    /* public name, or NULL */
  int required_version;    /* CUDA version that introduced the function, as in 12040; 0: unknown */
  int driver_version;      /* CUDA version of the open driver */
  char detail[1024];
};

/* The functions of Python that the C++ side calls; all acquire the GIL. */
struct python_side {
  int (*raise)(const struct loader_failure* failure); /* sets the Python error; -1 */
  /* Returns a dlopen handle, or NULL and sets a Python error. */
  void* (*open)(enum library_id library, const char* function);
  /* Fills a table from its module; returns -1 and sets a Python error on failure. */
  int (*fill_from_module)(enum library_id library);
  void (*on_backend_opened)(enum backend_id backend); /* notifies listeners */
};

void loader_connect(const struct python_side* python);
const struct loader_api* loader_interface(void);

/* Returns the address of a function in the filled table by public or exported name; NULL if the
   library lacks it. */
void* loader_address(enum library_id library, const char* name);

/* Returns the address of a symbol of the open emulator; NULL on a driver and for other names. */
void* loader_emulator_symbol(const char* name);

/* Returns the library with that name; HALFWARP_LIBRARY_COUNT if there is none. */
enum library_id loader_library(const char* name);
const char* loader_library_name(enum library_id library);

/* The source of a library: its name for the pathfinder, or the module with its functions. Its
   package, and the advice if it is missing. */
const char* loader_source(enum library_id library);
const char* loader_package(enum library_id library);
const char* loader_remedy(enum library_id library);

/* Returns the exported name of a slot's function; NULL after the last slot. */
const char* loader_exported_name(enum library_id library, unsigned slot);

/* Returns the suffix of the per-thread default stream variant; NULL if absent or not selected. */
const char* loader_per_thread_suffix(enum library_id library, unsigned slot);

/* Call after the library was opened, before its first loader_put. */
void loader_publish_library(void);

/* Writes the address of a function into its slot; NULL restores the resolver. */
void loader_put(enum library_id library, unsigned slot, void* function);

/* Requests a backend in place of HALFWARP_BACKEND. Returns 0 if another backend is in use. */
int loader_request_backend(enum backend_id backend);
enum backend_id loader_backend(void);

/* Returns the selected backend; BACKEND_NONE if it is auto or invalid. */
enum backend_id loader_selected_backend(void);

/* For tests: empties all tables; from then on the driver behaves as that version (0: no limit). Not
   safe with concurrent calls. */
void loader_reset(int version_limit);

#ifdef __cplusplus
}
}
#endif
