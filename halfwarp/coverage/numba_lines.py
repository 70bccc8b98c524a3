# SPDX-License-Identifier: Apache-2.0
"""Let Numba compile kernels with line information and with marks in their LLVM IR."""

import functools
import sys
import tempfile

from halfwarp.coverage.compiles import rounds_alike
from halfwarp.coverage.imports import patch
from halfwarp.coverage.numba_marks import add_marks

_COMPILER, _NVVM = "numba.cuda.compiler", "numba.cuda.cudadrv.nvvm"
_compiles = None  # of the current record


def request(compiles):
    """Mark the kernels that Numba compiles from now on."""
    global _compiles
    _compiles = compiles
    for name, function in _PATCHES.items():
        if name in sys.modules or name in (_COMPILER, _NVVM):
            patch(name, function)


def _patch_compiler(module):
    """Request line information, which leaves code as it is, and use no cache of other runs."""
    compile_cuda = module.compile_cuda
    if hasattr(compile_cuda, "has_lines"):
        return

    @functools.wraps(compile_cuda)
    def compile_with_lines(*arguments, debug=False, **options):
        if not debug:
            options["lineinfo"] = True
        return compile_cuda(*arguments, debug=debug, **options)

    compile_with_lines.has_lines = True
    module.compile_cuda = compile_with_lines
    for name in ("numba.core.config", "numba.cuda.core.config"):
        if name in sys.modules:
            sys.modules[name].CACHE_DIR = tempfile.mkdtemp(prefix="halfwarp-coverage-")


def _patch_nvvm(module):
    """Mark the IR that NVVM compiles, unless it would round differently."""
    compile_ir = module.compile_ir
    if hasattr(compile_ir, "has_marks"):
        return

    @functools.wraps(compile_ir)
    def compile_marked(ir, **options):
        texts = [ir] if isinstance(ir, str) else list(ir)
        marked = [add_marks(text, _compiles) for text in texts]
        if "g" in options or marked == texts:
            return compile_ir(ir, **options)
        without_lto = {name: value for name, value in options.items() if name != "gen-lto"}
        results = [compile_ir(each, **without_lto).decode() for each in (marked, texts)]
        return compile_ir(marked if rounds_alike(*results) else ir, **options)

    compile_marked.has_marks = True
    module.compile_ir = compile_marked


_PATCHES = {
    _COMPILER: _patch_compiler,
    _NVVM: _patch_nvvm,
    "numba.cuda.dispatcher": _patch_compiler,
}
