/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that must be defined before the headers of the runtime are included. */
#pragma once

/* cuda_egl_interop.h includes cuda_runtime.h, whose C++ templates overload functions of the C
   interface, so that the address of such a function would be ambiguous. */
#define __CUDA_RUNTIME_H__

/* The internal headers warn when they are included directly. */
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
