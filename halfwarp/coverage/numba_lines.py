# SPDX-License-Identifier: Apache-2.0
"""Let Numba compile kernels with line information, which leaves their code as it is."""

import functools
import sys
from importlib.util import find_spec

_COMPILER = "numba.cuda.compiler"
_USERS = (_COMPILER, "numba.cuda.dispatcher")


def request():
    """Request line information of the kernels that Numba compiles from now on."""
    if _COMPILER in sys.modules:
        for name in _USERS:
            if name in sys.modules:
                _patch(sys.modules[name])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _patch(module):
    compile_cuda = module.compile_cuda
    if hasattr(compile_cuda, "__wrapped__"):
        return

    @functools.wraps(compile_cuda)
    def compile_with_lines(*arguments, debug=False, **options):
        if not debug:
            options["lineinfo"] = True
        return compile_cuda(*arguments, debug=debug, **options)

    module.compile_cuda = compile_with_lines


class _Finder:
    """Patches the compiler of Numba when it is imported."""

    def find_spec(self, name, path=None, target=None):
        if name != _COMPILER:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_patch(module):
                execute(module)
                _patch(module)

            spec.loader.exec_module = execute_and_patch
        return spec
