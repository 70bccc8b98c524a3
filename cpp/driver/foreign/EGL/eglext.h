/* SPDX-License-Identifier: Apache-2.0 */
/* The EGL extension types that cudaEGL.h names, so that no EGL headers are needed to build. */
#pragma once

#include "egl.h"

typedef void* EGLImageKHR;
typedef void* EGLStreamKHR;
typedef void* EGLSyncKHR;
