// SPDX-License-Identifier: Apache-2.0
// The number of the C interface that other Cython code is compiled against; C and C++.
#pragma once

// One more with every change of what `cuda/core/capi.pxd` and the .pxd files beside it declare that
// a module which was compiled before would not survive.
#ifndef HALFWARP_CORE_ABI
#define HALFWARP_CORE_ABI 1
#endif
