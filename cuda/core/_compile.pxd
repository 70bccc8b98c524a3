# SPDX-License-Identifier: Apache-2.0
# The cimport interface of the compilers.

cimport cython

include "compile/nvrtc_program.pxd"
include "compile/program.pxd"
include "link/linker.pxd"
