/* SPDX-License-Identifier: Apache-2.0 */
/* What is defined before the headers of the runtime are read. */
#pragma once

/* cuda_egl_interop.h includes cuda_runtime.h, whose C++ templates overload functions of the C
   interface, so that their addresses could no longer be taken. */
#define __CUDA_RUNTIME_H__

/* The headers of the parts warn when they are included by themselves. */
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
