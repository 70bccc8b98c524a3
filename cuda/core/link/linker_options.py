# SPDX-License-Identifier: Apache-2.0
"""Options of `Linker`, and what they are called by each library that links."""

import functools
import warnings
from dataclasses import dataclass

from cuda.core.compile.program_options import Texts
from cuda.core.link import link_rows


@dataclass
class LinkerOptions:
    """How a `Linker` links.

    Host only. Every field but `name` is None by default, which says nothing to the linker. The
    driver, which links where nvJitLink is missing, has `arch`, `max_register_count`, `verbose`,
    `link_time_optimization`, `optimization_level`, `debug`, `lineinfo` and `no_cache`; it ignores
    `ftz`, `prec_div`, `prec_sqrt`, `fma`, `kernels_used`, `variables_used` and
    `optimize_unused_variables`, and refuses the others.

    Parameters
    ----------
    name
        The name of the result; None stands for the default.
    arch
        ``"sm_90"``, for example. None stands for the architecture of the current device.
    max_register_count
        Registers of a thread, at most.
    time
        Whether the info log tells how long the parts of the link took.
    verbose
        Whether the info log tells what is done.
    link_time_optimization
        Whether LTO-IR is optimized over the borders of its sources.
    ptx
        Whether PTX is made of LTO-IR in place of a cubin: for ``link("ptx")``, and only together
        with `link_time_optimization`.
    optimization_level
        0 to 3.
    debug, lineinfo
        Whether to make debug information, or line numbers.
    ftz, prec_div, prec_sqrt, fma
        As for `ProgramOptions`; for LTO-IR.
    kernels_used, variables_used
        What is used of the code: the rest may be left out.
    optimize_unused_variables
        Whether variables may be left out that no kernel uses.
    ptxas_options
        Options for the assembler, each a str.
    split_compile, split_compile_extended
        Threads that optimize, or assemble as well; 0 stands for all processors.
    no_cache
        Whether to leave the compute cache alone.
    numba_debug
        Deprecated: no linker has it.
    incremental
        Whether the result may be linked again: symbols that are still missing are no error.

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
        self._warn_of_ignored(stacklevel=4)

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """The options as nvJitLink takes them.

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
            For another backend.
        RuntimeError
            If nvJitLink is missing or too old.
        """
        if backend != "nvjitlink" and str(backend).lower() != "nvjitlink":
            raise ValueError(f"as_bytes() only supports 'nvjitlink' backend, got {str(backend)!r}")
        if not has_nvjitlink():
            raise RuntimeError("nvJitLink backend is not available")
        if self.numba_debug is not None:
            self._warn_of_ignored(stacklevel=3)
        return link_rows.for_nvjitlink(self, current_arch)

    def _warn_of_ignored(self, stacklevel):
        if self.numba_debug is not None:
            warnings.warn(
                "numba_debug is not supported by any linking backend and is ignored: give it to "
                "ProgramOptions, for C++ or NVVM IR",
                DeprecationWarning,
                stacklevel=stacklevel,
            )


@functools.cache
def has_nvjitlink():
    """Whether nvJitLink links, which is decided once."""
    from cuda.core._compile import _decide_nvjitlink_or_driver

    return not _decide_nvjitlink_or_driver()


def current_arch():
    """The architecture of the current device, as in ``"sm_90"``."""
    from cuda.core import Device

    return f"sm_{Device().arch}"


LinkerOptions.__module__ = "cuda.core"
