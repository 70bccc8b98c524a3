/* SPDX-License-Identifier: Apache-2.0 */
/* What cuda.bindings._low offers the other extensions; C as well as C++. */
#pragma once

#define HALFWARP_LOADER_CAPSULE "cuda.bindings._low._api"

#include "driver/libraries.hpp" /* enum library_id, written from generator/api */

#ifdef __cplusplus
namespace halfwarp::driver {
#endif

/* There is one in each process. The addresses of the tables never change; their slots are
   written when the library is opened, at the first call of one of its functions. */
struct loader_api {
  /* The table of a library, as in "driver": one slot per function in the order of its .api file,
     always callable, since an empty slot resolves itself. NULL for another name. Needs no GIL. */
  void* const* (*table)(const char* library);
  /* Opens the library and fills its table: 0, or -1 with a Python error. Needs the GIL. */
  int (*ensure)(enum library_id library);
  /* 1 when the open library has the function of that slot, 0 when not, -1 with a Python error
     when there is no library. Needs the GIL. */
  int (*has)(enum library_id library, unsigned slot);
  /* The public name of the function that a slot held: for error messages. Needs no GIL. */
  const char* (*name_of)(enum library_id library, const void* function);
  /* "driver" or "emulator" once one is in use, else NULL. Needs no GIL. */
  const char* (*backend)(void);
};

/* What an extension that holds the functions of a library itself offers the loader, in a capsule
   named "<module>._functions": the address by exported name; NULL when there is none, and with a
   Python error set when it cannot be had. `per_thread` is what the name of its variant for
   per-thread default streams ends in, when that is wanted and exists, else NULL. Called once for
   each slot, with the GIL, after the choice of the backend. */
typedef void* (*function_source)(const struct loader_api* loader, const char* name,
                                 const char* per_thread);

#ifdef __cplusplus
}
#endif
