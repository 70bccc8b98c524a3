# SPDX-License-Identifier: Apache-2.0
"""Line and branch coverage of kernels on the emulated driver, in the reports of coverage.py."""

import os
import sys
from importlib import import_module

_recorder = None


def start():
    """Record kernels if coverage.py runs in this process. Repeated calls have no effect."""
    global _recorder
    measurement = current()
    if measurement is None or getattr(measurement, "_collector", None) is None:
        return
    if _recorder is not None and _recorder.collector is measurement._collector:
        return
    try:
        # By name: these modules import the packages that call this function.
        recorder, numba_lines, triton_lines, reporters = (
            import_module(f"{__name__}.{name}")
            for name in ("recorder", "numba_lines", "triton_lines", "reporters")
        )
        reporters.install()
        stop()
        _recorder = recorder.Recorder(measurement)
        numba_lines.request(_recorder.compiles)
        triton_lines.request(_recorder.compiles.emulator)
    except (AttributeError, ImportError, RuntimeError) as error:
        print(f"halfwarp: the coverage of kernels is not measured: {error}", file=sys.stderr)


def start_in_program():
    """Record kernels if HALFWARP_BACKEND selects the emulator: for programs without options.

    Packages call it at the end of their import. The first one that is complete starts the record.
    """
    emulation = sys.modules.get("cuda.core.emulation")
    is_partial = emulation is not None and "__all__" not in vars(emulation)
    if os.environ.get("HALFWARP_BACKEND") == "emulator" and not is_partial:
        start()


def stop():
    """End the record."""
    global _recorder
    if _recorder is not None:
        _recorder.close()
        _recorder = None


def current():
    """Return the running `coverage.Coverage`, or None."""
    module = sys.modules.get("coverage")
    return module.Coverage.current() if module and hasattr(module, "Coverage") else None


def notes():
    """Return what could not be measured."""
    return [] if _recorder is None else [*_recorder.notes, *_recorder.compiles.notes]


def coverage_init(reg, options):
    """Report kernels in this process: for ``plugins = halfwarp.coverage`` in the configuration."""
    from halfwarp.coverage import reporters

    reporters.install()
