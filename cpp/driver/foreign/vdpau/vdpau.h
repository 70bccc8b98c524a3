/* SPDX-License-Identifier: Apache-2.0 */
/* The VDPAU types that cudaVDPAU.h names, so that no VDPAU headers are needed to build. */
#pragma once

#include <stdint.h>

typedef uint32_t VdpDevice;
typedef uint32_t VdpVideoSurface;
typedef uint32_t VdpOutputSurface;
typedef uint32_t VdpGetProcAddress(uint32_t device, uint32_t function_id, void** function_pointer);
