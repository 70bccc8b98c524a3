# SPDX-License-Identifier: Apache-2.0
"""Import, load and compile once what the forks of many runs need again and again.

Nothing here opens the emulator, which reads its options when it is loaded.
"""

import contextlib
import gc
import importlib


def load():
    """Import the packages of the examples, and load the libraries that compile."""
    import cuda.core
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    for name in dir(cuda.core):
        getattr(cuda.core, name)  # its modules are imported at their first use
    for name in ("bindings.driver", "bindings.nvrtc", "bindings.runtime", "core.emulation.sarif"):
        importlib.import_module(f"cuda.{name}")
    with contextlib.suppress(ImportError):
        import numpy  # noqa: F401
    with contextlib.suppress(DynamicLibNotFoundError):
        for name in ("nvrtc", "nvJitLink"):
            load_nvidia_dynamic_lib(name)
    gc.freeze()  # a collection in a fork would copy each page


def share_programs(folder):
    """Let `cuda.core.Program` read its code from a folder of earlier compilations.

    A program that chooses a cache itself, or that no cache may have, is compiled.
    """
    import cuda.core
    from cuda.core.utils import FileStreamProgramCache

    compiler = cuda.core.Program
    cache = FileStreamProgramCache(folder)

    class Program:
        def __init__(self, *arguments, **options):
            self._program = compiler(*arguments, **options)

        def compile(self, *arguments, **options):
            if "cache" not in options:
                with contextlib.suppress(ValueError):
                    return self._program.compile(*arguments, **options, cache=cache)
            return self._program.compile(*arguments, **options)

        def __getattr__(self, name):
            return getattr(self._program, name)

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            return self._program.__exit__(*exception)

    cuda.core.Program = Program
