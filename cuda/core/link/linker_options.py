# SPDX-License-Identifier: Apache-2.0
"""Options of `Linker`, and their conversion to options of the linker libraries."""

import os
import warnings

from cuda.core._core import _options_as_bytes
from cuda.core.arguments.option_rows import Row, Texts, table
from cuda.core.link.link_rows import NVJITLINK_ROWS

TYPE_CHECKING = False  # the import of `typing` takes 3 ms
if TYPE_CHECKING:
    from dataclasses import dataclass as options_class
else:
    from cuda.core.arguments.options_class import options_class


@options_class
class LinkerOptions:
    """Options of a `Linker`.

    Host only. Every field except `name` defaults to None, which passes no option to the linker. The
    driver links if nvJitLink is missing. It supports `arch`, `max_register_count`, `verbose`,
    `link_time_optimization`, `optimization_level`, `debug`, `lineinfo` and `no_cache`. It ignores
    `ftz`, `prec_div`, `prec_sqrt`, `fma`, `kernels_used`, `variables_used` and
    `optimize_unused_variables`, and rejects the others.

    Parameters
    ----------
    name
        Name of the result; None selects the default.
    arch
        For example ``"sm_90"``. None selects the architecture of the current device.
    max_register_count
        Maximum number of registers per thread.
    time
        Whether the information log contains the duration of each link phase.
    verbose
        Whether the information log is verbose.
    link_time_optimization
        Whether LTO-IR is optimized across its sources.
    ptx
        Whether LTO-IR is linked to PTX instead of a cubin, for ``link("ptx")``. Requires
        `link_time_optimization`.
    optimization_level
        Level from 0 to 3.
    debug, lineinfo
        Whether to generate debug information, or line information.
    ftz, prec_div, prec_sqrt, fma
        Options of floating-point code as in `ProgramOptions`, for LTO-IR.
    kernels_used, variables_used
        Kernels and variables that the program uses; the linker may remove others.
    optimize_unused_variables
        Whether the linker may remove variables that no kernel uses.
    ptxas_options
        Options of the assembler, each a str.
    split_compile, split_compile_extended
        Number of threads for optimization, or also for assembly; 0 selects all processors.
    no_cache
        Whether to disable the compute cache.
    numba_debug
        Deprecated, since no linker supports it.
    incremental
        Whether the result can be linked again; undefined symbols are no error then.

    See Also
    --------
    cuLinkCreate : the driver function.
    """

    name: str | None = "<default linker>"
    arch: str | None = None
    max_register_count: int | None = None
    time: bool | None = None
    verbose: bool | None = None
    link_time_optimization: bool | None = None
    ptx: bool | None = None
    optimization_level: int | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    ftz: bool | None = None
    prec_div: bool | None = None
    prec_sqrt: bool | None = None
    fma: bool | None = None
    kernels_used: Texts | None = None
    variables_used: Texts | None = None
    optimize_unused_variables: bool | None = None
    ptxas_options: Texts | None = None
    split_compile: int | None = None
    split_compile_extended: int | None = None
    no_cache: bool | None = None
    numba_debug: bool | None = None
    incremental: bool | None = None

    def __post_init__(self) -> None:
        if self.name is None:
            self.name = "<default linker>"
        if self.numba_debug is not None:
            _warn_of_ignored(stacklevel=4)

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """Return the options in the form that nvJitLink accepts.

        Host only.

        Parameters
        ----------
        backend : str
            ``"nvjitlink"``, in any case, or a `CompilerBackendType`.

        Returns
        -------
        list of bytes

        Raises
        ------
        ValueError
            If the backend is unknown.
        RuntimeError
            If nvJitLink is missing or too old.
        """
        if backend != "nvjitlink" or not _has_nvjitlink:
            _check_backend(backend)
        return _options_as_bytes(self, _TABLE_WITH_IGNORED, _arch_option)

    def _prepare_nvjitlink_options(self, as_bytes: bool = False) -> list[bytes] | list[str]:
        """Return `as_bytes`, or the same options as str. Host only."""
        options = self.as_bytes()
        return options if as_bytes else [os.fsdecode(option) for option in options]


def _check_backend(backend):
    if str(backend).lower() != "nvjitlink":
        raise ValueError(f"as_bytes() only supports 'nvjitlink' backend, got {str(backend)!r}")
    if not has_nvjitlink():
        raise RuntimeError("nvJitLink backend is not available")


def _warn_of_ignored(flag=None, value=None, stacklevel=3):
    """Warn of `numba_debug`, which has no options."""
    warnings.warn(
        "numba_debug is not supported by any linking backend and is ignored: pass it to "
        "ProgramOptions, for C++ or NVVM IR",
        DeprecationWarning,
        stacklevel=stacklevel,
    )
    return []


_has_nvjitlink = None  # not decided yet


def has_nvjitlink():
    """Return whether nvJitLink links, which is decided once."""
    global _has_nvjitlink
    if _has_nvjitlink is None:
        from cuda.core._compile import _decide_nvjitlink_or_driver

        _has_nvjitlink = not _decide_nvjitlink_or_driver()
    return _has_nvjitlink


def current_arch():
    """Return the architecture of the current device, e.g. ``"sm_90"``."""
    from cuda.core import Device

    return f"sm_{Device().arch}"


def _arch_option():
    return f"-arch={current_arch()}".encode()


def for_nvjitlink(options):
    """Return the options of nvJitLink in order, as bytes."""
    return _options_as_bytes(options, _TABLE, _arch_option)


LinkerOptions.__module__ = "cuda.core"
_TABLE = table(NVJITLINK_ROWS, LinkerOptions)
_IGNORED = Row("numba_debug", "", _warn_of_ignored)
_TABLE_WITH_IGNORED = table((*NVJITLINK_ROWS, _IGNORED), LinkerOptions)
