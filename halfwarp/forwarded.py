# SPDX-License-Identifier: Apache-2.0
"""Commands whose arguments another module reads."""

import runpy
import sys

from halfwarp import installation


def emulate(arguments):
    """Run the command of ``cuda.core.emulation``."""
    from cuda.core.emulation.command import main

    return main(arguments)


def bench(arguments):
    """Run ``python -m benchmarks``. A wheel does not contain the benchmarks."""
    root = installation.package_root()
    if not (root / "benchmarks" / "budget.toml").exists():
        print(
            f"halfwarp bench: no benchmarks in {root}: they are part of the source tree, so run "
            "it from an editable installation of the source tree",
            file=sys.stderr,
        )
        return 1
    sys.path.insert(0, str(root))
    return run("benchmarks", arguments)


def cache(arguments):
    """List, prune or clear a program cache."""
    from cuda.core.compile.cache.command import main

    return main(arguments.folder, arguments.prune, arguments.clear)


def run(module, arguments):
    """Run a module as the main program and return its exit status."""
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    return 0
