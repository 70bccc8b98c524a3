# SPDX-License-Identifier: Apache-2.0
"""Give the emulator the PTX of Triton's cubins, whose own copy has no lines of the source."""

import functools

from halfwarp.coverage.imports import patch


def request(emulator):
    """Register the kernels that Triton compiles or reads from its cache from now on."""
    patch("triton.compiler.compiler", functools.partial(_patch_compiler, emulator))


def _patch_compiler(emulator, module):
    kernel = module.CompiledKernel
    initialize = kernel.__init__
    if hasattr(initialize, "has_lines"):
        return

    @functools.wraps(initialize)
    def initialize_and_register(self, *arguments, **options):
        initialize(self, *arguments, **options)
        cubin, ptx = self.asm.get("cubin"), self.asm.get("ptx")
        if isinstance(cubin, bytes) and isinstance(ptx, str):
            emulator.halfwarp_emulator_register_cubin(cubin, len(cubin), ptx.encode())

    initialize_and_register.has_lines = True
    kernel.__init__ = initialize_and_register
