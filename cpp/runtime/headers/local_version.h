/* SPDX-License-Identifier: Apache-2.0 */
/* An addition of the reference to the runtime API: the version of the installed shared runtime
   library, besides the version of the linked static library. */
#pragma once

#include "driver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * \param runtimeVersion - Returned version: 1000 major + 10 minor
 */
cudaError_t getLocalRuntimeVersion(int* runtimeVersion);

#ifdef __cplusplus
}
#endif
