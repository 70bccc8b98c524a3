# SPDX-License-Identifier: Apache-2.0
# The cimport contract of the compilers, part by part.

cimport cython

include "compile/nvrtc_program.pxd"
include "compile/program.pxd"
include "link/linker.pxd"
