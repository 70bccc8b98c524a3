/* SPDX-License-Identifier: Apache-2.0 */
/* The EGL types that cudaEGL.h names, so that no EGL headers are needed to build. */
#pragma once

typedef int EGLint;
