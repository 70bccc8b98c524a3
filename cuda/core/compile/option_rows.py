# SPDX-License-Identifier: Apache-2.0
"""Which option of which compiler a field of `ProgramOptions` becomes: one row a field."""

import os
from dataclasses import dataclass

from cuda.core.compile.cache.folders import user_cache_folder

BUNDLED_HEADERS_SINCE = (13, 3)  # of NVRTC


def with_value(flag, given):
    return [f"{flag}={_text(given)}"]


def with_truth(flag, given):
    return [f"{flag}={'true' if given else 'false'}"]


def if_true(flag, given):
    return [flag] if given else []


def for_each(flag, given):
    elements = given if isinstance(given, list | tuple) else (given,)
    return [f"{flag}={_text(element)}" for element in elements]


def _macros(flag, given):
    elements = given if isinstance(given, list) else (given,)
    return [f"{flag}={_macro(element)}" for element in elements]


def _bundled_headers(flag, given):
    if not given:
        return []
    from cuda.core._compile import nvrtc_version

    if (found := nvrtc_version()) < BUNDLED_HEADERS_SINCE:
        raise RuntimeError(
            "use_bundled_headers requires NVRTC >= {}.{}; found {}.{}".format(
                *BUNDLED_HEADERS_SINCE, *found
            )
        )
    return [f"{flag}={os.path.join(user_cache_folder(), 'nvrtc-bundled-headers')}"]


@dataclass(frozen=True)
class Row:
    """`nvvm` says when NVVM refuses the field: if it is set, if it is true, or never ("")."""

    field: str
    flag: str
    form: object = with_value
    nvvm: str = "set"


# In the order in which the options are given to NVRTC.
NVRTC_ROWS = (
    Row("arch", "-arch", nvvm=""),
    Row("relocatable_device_code", "--relocatable-device-code", with_truth),
    Row("extensible_whole_program", "--extensible-whole-program", if_true, "true"),
    Row("debug", "--device-debug", if_true, ""),
    Row("lineinfo", "--generate-line-info", if_true, "true"),
    Row("device_code_optimize", "--dopt=on", if_true, ""),
    Row("ptxas_options", "--ptxas-options", for_each),
    Row("max_register_count", "--maxrregcount"),
    Row("ftz", "--ftz", with_truth, ""),
    Row("prec_sqrt", "--prec-sqrt", with_truth, ""),
    Row("prec_div", "--prec-div", with_truth, ""),
    Row("fma", "--fmad", with_truth, ""),
    Row("use_fast_math", "--use_fast_math", if_true, "true"),
    Row("extra_device_vectorization", "--extra-device-vectorization", if_true, "true"),
    Row("link_time_optimization", "--dlink-time-opt", if_true, ""),
    Row("gen_opt_lto", "--gen-opt-lto", if_true, "true"),
    Row("define_macro", "--define-macro", _macros),
    Row("undefine_macro", "--undefine-macro", for_each),
    # Before the include paths: of two headers of one name, the compiler's own is taken.
    Row("use_bundled_headers", "--use-bundled-headers", _bundled_headers, "true"),
    Row("include_path", "--include-path", for_each),
    Row("pre_include", "--pre-include", for_each),
    Row("no_source_include", "--no-source-include", if_true, "true"),
    Row("std", "--std"),
    Row("builtin_move_forward", "--builtin-move-forward", with_truth),
    Row("builtin_initializer_list", "--builtin-initializer-list", with_truth),
    Row("disable_warnings", "--disable-warnings", if_true, "true"),
    Row("restrict", "--restrict", if_true, "true"),
    Row(
        "device_as_default_execution_space",
        "--device-as-default-execution-space",
        if_true,
        "true",
    ),
    Row("device_int128", "--device-int128", if_true, "true"),
    Row("device_float128", "--device-float128", if_true, ""),
    Row("optimization_info", "--optimization-info"),
    Row("no_display_error_number", "--no-display-error-number", if_true, "true"),
    Row("diag_error", "--diag-error", for_each),
    Row("diag_suppress", "--diag-suppress", for_each),
    Row("diag_warn", "--diag-warn", for_each),
    Row("brief_diagnostics", "--brief-diagnostics", with_truth),
    Row("time", "--time"),
    Row("split_compile", "--split-compile"),
    Row("fdevice_syntax_only", "--fdevice-syntax-only", if_true, "true"),
    Row("minimal", "--minimal", if_true, "true"),
    Row("no_cache", "--no-cache", if_true, ""),
    Row("fdevice_time_trace", "--fdevice-time-trace", nvvm=""),
    Row("frandom_seed", "--frandom-seed", nvvm=""),
    Row("ofast_compile", "--Ofast-compile", nvvm=""),
    Row("pch", "--pch", if_true, ""),
    Row("create_pch", "--create-pch", nvvm=""),
    Row("use_pch", "--use-pch", nvvm=""),
    Row("pch_dir", "--pch-dir", nvvm=""),
    Row("pch_verbose", "--pch-verbose", with_truth, ""),
    Row("pch_messages", "--pch-messages", with_truth, ""),
    Row("instantiate_templates_in_pch", "--instantiate-templates-in-pch", with_truth, ""),
    Row("numba_debug", "--numba-debug", if_true, ""),
    Row("enable_tile", "--enable-tile", if_true, "true"),
    Row("tile_only", "--tile-only", if_true, "true"),
    Row("simt_only", "--simt-only", if_true, "true"),
    Row("default_tile", "-default-tile", if_true, "true"),  # NVRTC 13.5 has no longer spelling
    Row("diagnose_implicit_tile_var", "--diagnose-implicit-tile-var", if_true, "true"),
    Row("tile_preview", "--tile-preview"),
)


def _virtual_architecture(flag, given):
    return [f"{flag}={given.replace('sm_', 'compute_')}"]


def _level(flag, given):
    return [f"{flag}={3 if given else 0}"]


def _bit(flag, given):
    return [f"{flag}={int(bool(given))}"]


NVVM_ROWS = (
    Row("arch", "-arch", _virtual_architecture),
    Row("debug", "-g", if_true),
    Row("numba_debug", "-numba-debug", if_true),
    Row("device_code_optimize", "-opt", _level),
    Row("ftz", "-ftz", _bit),
    Row("prec_sqrt", "-prec-sqrt", _bit),
    Row("prec_div", "-prec-div", _bit),
    Row("fma", "-fma", _bit),
)


def for_nvrtc(options):
    """The options of NVRTC, in order, as bytes."""
    return options_of(options, NVRTC_ROWS)


def for_nvvm(options, target_type):
    """The options of NVVM, in order, as bytes; refuses those that NVVM does not have."""
    if refused := [row.field for row in NVRTC_ROWS if _is_refused(row, options)]:
        from cuda.core import CUDAError

        raise CUDAError(
            f"The following options are not supported by NVVM backend: {', '.join(refused)}"
        )
    made = options_of(options, NVVM_ROWS)
    return [*made, b"-gen-lto"] if target_type == "ltoir" else made


def options_of(options, rows):
    made = []
    for row in rows:  # some fifty, few of which are set: each lookup in a program cache runs this
        value = getattr(options, row.field)
        if value is not None:
            made += [text.encode() for text in row.form(row.flag, value)]
    return made


def _is_refused(row, options):
    value = getattr(options, row.field)
    return row.nvvm and value is not None and (row.nvvm == "set" or bool(value))


def _text(given):
    if type(given) in (str, int):  # most are; an abstract class takes a microsecond to ask
        return str(given)
    return os.fsdecode(given) if isinstance(given, (os.PathLike, bytes)) else str(given)


def _macro(given):
    if isinstance(given, str):
        return given
    if not isinstance(given, tuple):
        raise RuntimeError(
            "Expected define_macro to be a str, a tuple of two str, or a list of these, "
            f"got {given!r}"
        )
    if len(given) != 2 or not all(isinstance(part, str) for part in given):
        raise RuntimeError(f"Expected define_macro tuple (name, value) of two str, got {given!r}")
    return "=".join(given)
