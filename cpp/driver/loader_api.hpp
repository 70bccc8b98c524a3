/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of cuda.bindings._low for other extensions; C as well as C++. */
#pragma once

#define HALFWARP_LOADER_CAPSULE "cuda.bindings._low._api"

#include "driver/libraries.hpp" /* enum library_id, written from generator/api */

#ifdef __cplusplus
namespace halfwarp::driver {
#endif

/* Exists once per process. The addresses of the tables are constant; their slots are written when
   the library is opened, at the first call of any of its functions. */
struct loader_api {
  /* Returns the table of a library, as "driver": one slot per function in the order of its .api
     file, always callable, since an empty slot resolves itself. NULL for other names. Needs no
     GIL. */
  void* const* (*table)(const char* library);
  /* Opens the library and fills its table. Returns 0, or -1 and sets a Python error. Needs the
     GIL. */
  int (*ensure)(enum library_id library);
  /* Returns 1 if the open library has the function of the slot, else 0; -1 and sets a Python error
     if there is no library. Needs the GIL. */
  int (*has)(enum library_id library, unsigned slot);
  /* Returns the public name of the function that a slot held, for messages. Needs no GIL. */
  const char* (*name_of)(enum library_id library, const void* function);
  /* Returns "driver" or "emulator" once a backend is in use, else NULL. Needs no GIL. */
  const char* (*backend)(void);
};

/* The interface of an extension that contains the functions of a library, in a capsule named
   "<module>._functions". Returns the address for an exported name, NULL if there is none, and NULL
   with a Python error set on failure. `per_thread` is the suffix of the variant for per-thread
   default streams if that is selected and exists, else NULL. Called once for each slot, with the
   GIL, after the backend was selected. */
typedef void* (*function_source)(const struct loader_api* loader, const char* name,
                                 const char* per_thread);

#ifdef __cplusplus
}
#endif
