// SPDX-License-Identifier: Apache-2.0
// The version of the C interface that other Cython code is compiled against. For C and C++.
#pragma once

// Increment on every incompatible change of `cuda/core/capi.pxd` and the .pxd files beside it.
#ifndef HALFWARP_CORE_ABI
#define HALFWARP_CORE_ABI 1
#endif
