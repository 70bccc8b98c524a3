/* SPDX-License-Identifier: Apache-2.0 */
/* What cuda.bindings._loader offers the other extensions; C as well as C++. */
#pragma once

#define HALFWARP_LOADER_CAPSULE "cuda.bindings._loader._api"

#ifdef __cplusplus
#include "driver/table.hpp"

namespace halfwarp::driver {
using driver_table_ref = const driver_table*;
using nvrtc_table_ref = const nvrtc_table*;
#else
typedef void* const* driver_table_ref; /* one slot per function, in the order of driver.api */
typedef void* const* nvrtc_table_ref;
#endif

enum library_id { HALFWARP_DRIVER, HALFWARP_NVRTC };

/* There is one in each process. The addresses of the tables never change; their slots are
   written when the library is opened, at the first call of one of its functions. */
struct loader_api {
  driver_table_ref driver; /* always callable: an empty slot resolves itself */
  nvrtc_table_ref nvrtc;
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

#ifdef __cplusplus
}
#endif
