/* SPDX-License-Identifier: Apache-2.0 */
/* Where the loader's C++ and _internal/loader.pyx meet; C as well as C++. */
#pragma once

#include "driver/loader_api.hpp"

#ifdef __cplusplus
namespace halfwarp::driver {
extern "C" {
#endif

enum backend_id { BACKEND_NONE, BACKEND_DRIVER, BACKEND_EMULATOR };

enum failure_kind {
  FAILURE_NONE,
  FAILURE_SETTING,  /* HALFWARP_BACKEND has a value that is not understood: `detail` */
  FAILURE_LIBRARY,  /* the library cannot be opened: `detail` says why */
  FAILURE_FUNCTION, /* the open library lacks `function` */
  FAILURE_TOO_OLD,  /* the open driver is of CUDA `found`, older than `needs` */
  FAILURE_RAISED    /* a Python error is set already */
};

/* Why a call cannot be made. Filled without the GIL, put into words by _internal/loader.pyx. */
struct loader_failure {
  enum failure_kind kind;
  enum library_id library;
  enum backend_id backend; /* the one that was wanted */
  const char* function;    /* public name, or NULL */
  int needs;               /* CUDA version that brought the function, as in 12040; 0: not known */
  int found;               /* CUDA version of the open driver */
  char detail[1024];
};

/* What the C++ side asks of the interpreter; all take the GIL themselves. */
struct python_side {
  int (*raise)(const struct loader_failure* failure); /* sets the Python error; -1 */
  void* (*open)(enum library_id library,
                const char* function);      /* dlopen handle, or NULL and error */
  int (*hand_out)(enum library_id library); /* fills a table from its extension; -1 and error */
  void (*opened_backend)(enum backend_id backend); /* tells who listens */
};

void loader_connect(const struct python_side* python);
const struct loader_api* loader_interface(void);

/* Opens the library and fills its table unless that is done; 0 with `failure` filled. */
int loader_fill(enum library_id library, struct loader_failure* failure);

/* Address of a function by public or exported name in the filled table; NULL: the library lacks it.
 */
void* loader_address(enum library_id library, const char* name);

/* Address of whatever the open emulator exports; NULL on a driver, and for other names. */
void* loader_emulator_symbol(const char* name);

/* The library of that name; HALFWARP_LIBRARY_COUNT when there is none. */
enum library_id loader_library(const char* name);
const char* loader_library_name(enum library_id library);

/* Where it comes from: what the pathfinder calls it, or the module that holds it; the package that
   has it, and what to do when it is missing. */
const char* loader_source(enum library_id library);
const char* loader_package(enum library_id library);
const char* loader_remedy(enum library_id library);

/* Exported name of the function of a slot; NULL past the last one. */
const char* loader_exported_name(enum library_id library, unsigned slot);

/* What is added to that name for per-thread default streams; NULL: nothing, or not wanted. */
const char* loader_per_thread_suffix(enum library_id library, unsigned slot);

/* To be called once the library is open, before its first loader_put. */
void loader_show_library(void);

/* Writes the address of a function into its slot; NULL leaves the resolver there. */
void loader_put(enum library_id library, unsigned slot, void* function);

/* Asks for a backend instead of HALFWARP_BACKEND; 0 when another one is in use already. */
int loader_request_backend(enum backend_id backend);
enum backend_id loader_backend(void);

/* The one that was asked for; BACKEND_NONE when that is to be found out, or not understood. */
enum backend_id loader_wanted(void);

/* For tests: forgets what is open, and answers from then on as a driver of that version does
   (0: no limit). Not for use beside running calls. */
void loader_forget(int version_limit);

#ifdef __cplusplus
}
}
#endif
