# SPDX-License-Identifier: Apache-2.0
"""Options of `Program`, and what they are called by each compiler."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from cuda.core.compile import option_rows

Text = str | os.PathLike
Texts = Text | list[Text] | tuple[Text, ...]
Numbers = int | list[int] | tuple[int, ...]
Macro = str | tuple[str, str]


@dataclass(repr=False)
class ProgramOptions:
    """How a `Program` is compiled.

    Host only. Every field but `name` is None by default, which says nothing to the compiler. The
    names of the fields are those of the compiler's options; paths may be ``os.PathLike``.

    Parameters
    ----------
    name
        The name of the program in messages and debug information; None stands for the default.
    arch
        ``"sm_90"``, or ``"compute_90"`` for PTX only. None is replaced by the architecture of the
        current device, for which a driver is needed.
    relocatable_device_code, extensible_whole_program
        Code that can be linked with other code; whole programs that can be extended by it.
    debug, lineinfo, numba_debug
        Debug information; source lines alone; what Numba's debugger expects.
    device_code_optimize
        Optimisation in spite of `debug`.
    ptxas_options
        Options of the assembler, as one text or several.
    max_register_count
        Most registers of a thread.
    ftz, prec_sqrt, prec_div, fma
        Denormal floats become 0; IEEE square roots and divisions; a product and a sum are one
        instruction.
    use_fast_math
        All of these for speed, and fast versions of functions such as ``sinf``.
    extra_device_vectorization
        More vector instructions.
    link_time_optimization, gen_opt_lto
        LTO-IR, which a `Linker` optimises; that it is optimised before as well.
    define_macro, undefine_macro
        ``"NAME"``, ``"NAME=VALUE"``, ``("NAME", "VALUE")``, or a list of these; names.
    include_path, pre_include
        Folders of headers; headers that come before the source.
    use_bundled_headers
        CUDA's and libcu++'s headers that NVRTC 13.3 and newer brings are put into a folder and
        found there.
    no_source_include
        The folder of the source is not searched for headers.
    std
        The dialect, as ``"c++17"``.
    builtin_move_forward, builtin_initializer_list
        ``std::move``, ``std::forward``, ``std::initializer_list`` without a header; True if None.
    disable_warnings, brief_diagnostics, no_display_error_number
        No warnings; short messages; no number in messages.
    diag_error, diag_suppress, diag_warn
        Numbers of messages that are errors, are not written, are warnings.
    restrict
        No two pointer parameters of a kernel lead to the same memory.
    device_as_default_execution_space
        What has no annotation is ``__device__``.
    device_int128, device_float128
        ``__int128`` and ``__float128`` in device code.
    optimization_info
        Which optimisations are told of: ``"inline"``.
    time, fdevice_time_trace
        Files for the time that each phase took: a table; a trace for a browser.
    split_compile
        Threads of the optimiser; 0 for as many as there are processors.
    fdevice_syntax_only
        Nothing but the check of the source.
    minimal
        Fewer features, for a shorter compilation.
    no_cache
        No cache of the compiler's own.
    frandom_seed
        Takes the place of random parts of names.
    ofast_compile
        Shorter compilation for slower code: ``"0"``, ``"min"``, ``"mid"``, ``"max"``.
    pch, create_pch, use_pch, pch_dir
        Precompiled headers: by themselves; to and from a file; the folder.
    pch_verbose, pch_messages, instantiate_templates_in_pch
        Why a precompiled header was not used; a message when one is; templates in it.
    extra_sources
        Further NVVM modules: a sequence of pairs of name and source, in order.
    use_libdevice
        Whether to link libdevice; NVVM only.
    enable_tile, tile_only, simt_only
        Whether the source may have ``__tile_global__`` kernels, and whether code is made of these
        only, or of all others only. NVRTC 13.3 or newer.
    default_tile, diagnose_implicit_tile_var
        Whether functions and variables without annotation are ``__tile__``, and whether to say
        which variables cannot be.
    tile_preview
        What of tiles is not final: ``"simt"``.

    Raises
    ------
    TypeError, ValueError
        If `extra_sources` is not a sequence of pairs of a name and a source.
    DynamicLibNotFoundError
        If `arch` is None and there is no driver to ask for the current device.

    See Also
    --------
    nvrtcCompileProgram : the function of the runtime compiler.
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
        if self.extra_sources is not None:
            _check_extra_sources(self.extra_sources)
        if self.arch is None:
            from cuda.core import Device

            self.arch = f"sm_{Device().arch}"

    def __repr__(self):
        return f"ProgramOptions(name={self.name!r}, arch={self.arch!r})"

    def as_bytes(self, backend: str, target_type: str | None = None) -> list[bytes]:
        """The options as the compiler takes them.

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
            For another backend.
        CUDAError
            If options are set that NVVM does not have; all of them are named.
        RuntimeError
            If `define_macro` is malformed.
        """
        match backend if backend == "nvrtc" else str(backend).lower():
            case "nvrtc":
                return option_rows.for_nvrtc(self)
            case "nvvm":
                return option_rows.for_nvvm(self, target_type)
        raise ValueError(f"Unknown backend {str(backend)!r}. Must be one of: 'nvrtc', 'nvvm'")


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
