# SPDX-License-Identifier: Apache-2.0
"""Options of `Program`, and their conversion to compiler options."""

import os
from collections.abc import Sequence

from cuda.core._core import _options_as_bytes
from cuda.core.arguments import option_rows
from cuda.core.arguments.option_rows import Text, Texts

TYPE_CHECKING = False  # the import of `typing` takes 3 ms
if TYPE_CHECKING:
    from dataclasses import dataclass as options_class
else:
    from cuda.core.arguments.options_class import options_class

Numbers = int | list[int] | tuple[int, ...]
Macro = str | tuple[str, str]


@options_class
class ProgramOptions:
    """Options for compiling a `Program`.

    Host only. Every field except `name` defaults to None, which passes no option to the compiler.
    Fields have the names of the compiler's options; paths may be ``os.PathLike``.

    Parameters
    ----------
    name
        Name of the program in messages and debug information; None selects the default.
    arch
        ``"sm_90"``, or ``"compute_90"`` for PTX only. None selects the architecture of the
        current device, which requires a driver.
    relocatable_device_code, extensible_whole_program
        Whether code can be linked with other code; whether a whole program can be extended.
    debug, lineinfo, numba_debug
        Full debug information; line information only; debug information for Numba.
    device_code_optimize
        Whether code is optimized despite `debug`.
    ptxas_options
        Options of the assembler, one string or several.
    max_register_count
        Maximum number of registers per thread.
    ftz, prec_sqrt, prec_div, fma
        Whether denormal floats are flushed to 0; IEEE square roots and divisions; contraction of
        a product and a sum to one instruction.
    use_fast_math
        Whether all of these favor speed, with fast versions of functions such as ``sinf``.
    extra_device_vectorization
        Whether the compiler vectorizes more aggressively.
    link_time_optimization, gen_opt_lto
        Whether to generate LTO-IR, which a `Linker` optimizes; whether to optimize it before.
    define_macro, undefine_macro
        ``"NAME"``, ``"NAME=VALUE"``, ``("NAME", "VALUE")``, or a list of these; names to undefine.
    include_path, pre_include
        Folders to search for headers; headers to include before the source.
    use_bundled_headers
        Whether to use the headers of CUDA and libcu++ that NVRTC 13.3 and newer contains. They are
        extracted to a cache folder.
    no_source_include
        Whether to exclude the folder of the source from the header search.
    std
        Language standard, e.g. ``"c++17"``.
    builtin_move_forward, builtin_initializer_list
        Whether ``std::move``, ``std::forward`` and ``std::initializer_list`` need no header; None
        means True.
    disable_warnings, brief_diagnostics, no_display_error_number
        Whether to disable warnings; to shorten messages; to omit message numbers.
    diag_error, diag_suppress, diag_warn
        Numbers of messages to report as errors, to suppress, to report as warnings.
    restrict
        Whether the pointer parameters of a kernel are assumed not to alias.
    device_as_default_execution_space
        Whether functions without annotation are ``__device__``.
    device_int128, device_float128
        Whether device code supports ``__int128`` and ``__float128``.
    optimization_info
        Kind of optimizations to report: ``"inline"``.
    time, fdevice_time_trace
        Files for the duration of each compiler phase: a table; a trace for a browser.
    split_compile
        Number of optimizer threads; 0 selects the number of processors.
    fdevice_syntax_only
        Whether to check the syntax only.
    minimal
        Whether to disable features for a shorter compilation.
    no_cache
        Whether to disable the compiler's own cache.
    frandom_seed
        Seed that replaces random parts of names.
    ofast_compile
        Level of fast compilation at the cost of slower code: ``"0"``, ``"min"``, ``"mid"``,
        ``"max"``.
    pch, create_pch, use_pch, pch_dir
        Precompiled headers: automatic; written to and read from a file; their folder.
    pch_verbose, pch_messages, instantiate_templates_in_pch
        Whether to report why a precompiled header was not used; to report its use; to instantiate
        templates in it.
    extra_sources
        Additional NVVM modules: a sequence of pairs of name and source, in order.
    use_libdevice
        Whether to link libdevice; NVVM only.
    enable_tile, tile_only, simt_only
        Whether the source may contain ``__tile_global__`` kernels; whether to compile only these
        kernels, or only all others. NVRTC 13.3 or newer.
    default_tile, diagnose_implicit_tile_var
        Whether functions and variables without annotation are ``__tile__``; whether to report
        variables that cannot be.
    tile_preview
        Preview feature of tile programs to enable: ``"simt"``.

    Raises
    ------
    TypeError, ValueError
        If `extra_sources` is not a sequence of pairs of a name and a source.
    DynamicLibNotFoundError
        If `arch` is None and no driver can report the current device.

    See Also
    --------
    nvrtcCompileProgram : the NVRTC function.
    """

    name: str | None = "default_program"
    arch: str | None = None
    relocatable_device_code: bool | None = None
    extensible_whole_program: bool | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    device_code_optimize: bool | None = None
    ptxas_options: Texts | None = None
    max_register_count: int | None = None
    ftz: bool | None = None
    prec_sqrt: bool | None = None
    prec_div: bool | None = None
    fma: bool | None = None
    use_fast_math: bool | None = None
    extra_device_vectorization: bool | None = None
    link_time_optimization: bool | None = None
    gen_opt_lto: bool | None = None
    define_macro: Macro | list[Macro] | None = None
    undefine_macro: Texts | None = None
    include_path: Texts | None = None
    use_bundled_headers: bool | None = None
    pre_include: Texts | None = None
    no_source_include: bool | None = None
    std: str | None = None
    builtin_move_forward: bool | None = None
    builtin_initializer_list: bool | None = None
    disable_warnings: bool | None = None
    restrict: bool | None = None
    device_as_default_execution_space: bool | None = None
    device_int128: bool | None = None
    optimization_info: str | None = None
    no_display_error_number: bool | None = None
    diag_error: Numbers | None = None
    diag_suppress: Numbers | None = None
    diag_warn: Numbers | None = None
    brief_diagnostics: bool | None = None
    time: Text | None = None
    split_compile: int | None = None
    fdevice_syntax_only: bool | None = None
    minimal: bool | None = None
    no_cache: bool | None = None
    fdevice_time_trace: Text | None = None
    device_float128: bool | None = None
    frandom_seed: str | None = None
    ofast_compile: str | None = None
    pch: bool | None = None
    create_pch: Text | None = None
    use_pch: Text | None = None
    pch_dir: Text | None = None
    pch_verbose: bool | None = None
    pch_messages: bool | None = None
    instantiate_templates_in_pch: bool | None = None
    extra_sources: Sequence[tuple[str, str | bytes | bytearray]] | None = None
    use_libdevice: bool | None = None
    numba_debug: bool | None = None
    enable_tile: bool | None = None
    tile_only: bool | None = None
    simt_only: bool | None = None
    default_tile: bool | None = None
    diagnose_implicit_tile_var: bool | None = None
    tile_preview: str | None = None

    def __post_init__(self) -> None:
        if self.name is None:
            self.name = "default_program"
        elif isinstance(self.name, os.PathLike):
            self.name = os.fspath(self.name)
        if not isinstance(self.name, str):
            raise TypeError(
                f"ProgramOptions.name must be a str or a path, got {type(self.name).__name__}"
            )
        if self.extra_sources is not None:
            _check_extra_sources(self.extra_sources)
        if self.arch is None:
            from cuda.core import Device

            self.arch = f"sm_{Device().arch}"

    def __repr__(self):
        return f"ProgramOptions(name={self.name!r}, arch={self.arch!r})"

    def as_bytes(self, backend: str, target_type: str | None = None) -> list[bytes]:
        """Return the options in the form that the compiler accepts.

        Host only.

        Parameters
        ----------
        backend : str
            ``"nvrtc"`` or ``"nvvm"``, in any case, or a `CompilerBackendType`.
        target_type : str, optional
            The target of the compilation; ``"ltoir"`` adds an option for NVVM.

        Returns
        -------
        list of bytes

        Raises
        ------
        ValueError
            If the backend is unknown.
        CUDAError
            If options are set that NVVM does not support; the message names all of them.
        RuntimeError
            If `define_macro` is malformed.
        """
        match backend if backend == "nvrtc" else str(backend).lower():
            case "nvrtc":
                return _options_as_bytes(self, _NVRTC_TABLE)
            case "nvvm":
                return option_rows.for_nvvm(self, target_type)
        raise ValueError(f"Unknown backend {str(backend)!r}. Must be one of: 'nvrtc', 'nvvm'")

    def _prepare_extra_sources_bytes(self) -> list[tuple[bytes, bytes]] | None:
        """Return `extra_sources` with names and sources as bytes. Host only."""
        if self.extra_sources is None:
            return None
        return [
            (name.encode(), source.encode() if isinstance(source, str) else bytes(source))
            for name, source in self.extra_sources
        ]


def _check_extra_sources(modules):
    if isinstance(modules, str | bytes) or not isinstance(modules, Sequence):
        raise TypeError(
            "extra_sources must be a sequence of 2-tuples (name, source), "
            f"got {type(modules).__name__}"
        )
    for i, module in enumerate(modules):
        if not isinstance(module, tuple) or len(module) != 2:
            raise TypeError(
                "Each extra module must be a 2-tuple (name, source), "
                f"got {type(module).__name__} at index {i}"
            )
        name, source = module
        if not isinstance(name, str):
            raise TypeError(f"Module name at index {i} must be a string, got {type(name).__name__}")
        if not isinstance(source, str | bytes | bytearray):
            raise TypeError(
                f"Module source at index {i} must be str (text), bytes or bytearray (text or "
                f"bitcode), got {type(source).__name__}"
            )
        if not source:
            raise ValueError(f"Module source for {name!r} (index {i}) cannot be empty")


ProgramOptions.__module__ = "cuda.core"
_NVRTC_TABLE = option_rows.table(option_rows.NVRTC_ROWS, ProgramOptions)
