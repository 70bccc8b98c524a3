/* SPDX-License-Identifier: Apache-2.0 */
/* What the reference adds to the runtime API: the version of the shared runtime library that is
   installed, beside that of the one that is built in. */
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
