/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the extension `cuda.bindings._runtime` calls; C as well as C++. */
#pragma once

#include "driver/loader_api.hpp"

#define HALFWARP_RUNTIME_FUNCTIONS "cuda.bindings._runtime._functions"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the address of a runtime function; has the signature `function_source`. */
#ifdef __cplusplus
void* runtime_find(const halfwarp::driver::loader_api* loader, const char* name,
                   const char* per_thread);
#else
void* runtime_find(const struct loader_api* loader, const char* name, const char* per_thread);
#endif

/* Sets the function that opens the shared runtime library. It acquires the GIL and returns a
   `dlopen` handle, or NULL and sets a Python error. */
void runtime_connect(void* (*open_shared)(void));

#ifdef __cplusplus
}
#endif
