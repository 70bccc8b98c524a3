/* SPDX-License-Identifier: Apache-2.0 */
/* What the extension `cuda.bindings._runtime` calls; C as well as C++. */
#pragma once

#include "driver/loader_api.hpp"

#define HALFWARP_RUNTIME_FUNCTIONS "cuda.bindings._runtime._functions"

#ifdef __cplusplus
extern "C" {
#endif

/* The address of a runtime function, as the loader asks for it (`function_source`). */
#ifdef __cplusplus
void* runtime_find(const halfwarp::driver::loader_api* loader, const char* name,
                   const char* per_thread);
#else
void* runtime_find(const struct loader_api* loader, const char* name, const char* per_thread);
#endif

/* Says how the shared library of the runtime is opened: a `dlopen` handle, or NULL and a Python
   error. It takes the GIL itself. */
void runtime_connect(void* (*open_shared)(void));

#ifdef __cplusplus
}
#endif
