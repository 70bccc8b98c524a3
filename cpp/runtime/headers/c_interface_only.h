/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps cuda_runtime.h out, which cuda_egl_interop.h includes: its C++ templates overload functions
   of the C interface, so that their addresses could no longer be taken. */
#pragma once

#define __CUDA_RUNTIME_H__
