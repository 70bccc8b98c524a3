# SPDX-License-Identifier: Apache-2.0
"""Tables that map each field of `ProgramOptions` to a compiler option."""

import os
import sys
from collections import namedtuple
from collections.abc import Sequence

from cuda.core._core import _options_as_bytes
from cuda.core.arguments.shown import shown
from cuda.core.compile.cache.folders import user_cache_folder

Text = str | os.PathLike
Texts = Text | Sequence[Text]
BUNDLED_HEADERS_SINCE = (13, 3)  # NVRTC version


def _macros(flag, value):
    elements = value if isinstance(value, list) else (value,)
    return [f"{flag}={_macro(element)}" for element in elements]


def _bundled_headers(flag, value):
    if not value:
        return []
    from cuda.core._compile import nvrtc_version

    if (version := nvrtc_version()) < BUNDLED_HEADERS_SINCE:
        raise RuntimeError(
            "use_bundled_headers requires NVRTC >= {}.{}; found {}.{}".format(
                *BUNDLED_HEADERS_SINCE, *version
            )
        )
    return [f"{flag}={os.path.join(user_cache_folder(), 'nvrtc-bundled-headers')}"]


Row = namedtuple("Row", ("field", "flag", "form", "nvvm"), defaults=("value", "set"))
Row.__doc__ = """The mapping of a field. `form` selects its syntax: ``flag=value``, ``flag=true`` or
``flag=false`` ("truth"), ``flag`` if true ("switch"), ``flag=element`` for each element ("each"),
or the result of a function of flag and value. `nvvm` selects when NVVM rejects the field: if set
("set"), if true ("true"), or never ("").
"""


def table(rows, options_class=None):
    """Return the rows in the form of `_options_as_bytes`.

    These are a dict of field: (place, form, prefix), the fields of the class with these rows one
    after the other, and the field of the first row.
    """
    by_field = {row.field: (place, _form(row), _prefix(row)) for place, row in enumerate(rows)}
    fields = options_class.__match_args__ if options_class else ()
    order = tuple(each for name in fields for each in (sys.intern(name), by_field.get(name)))
    return by_field, order, rows[0].field


def _form(row):
    return row.form if callable(row.form) else sys.intern(row.form)


def _prefix(row):
    if callable(row.form):
        return row.flag
    return (row.flag if row.form == "switch" else f"{row.flag}=").encode()


# Rows are in the order in which NVRTC receives the options.
NVRTC_ROWS = (
    Row("arch", "-arch", nvvm=""),
    Row("relocatable_device_code", "--relocatable-device-code", "truth"),
    Row("extensible_whole_program", "--extensible-whole-program", "switch", "true"),
    Row("debug", "--device-debug", "switch", ""),
    Row("lineinfo", "--generate-line-info", "switch", "true"),
    Row("device_code_optimize", "--dopt=on", "switch", ""),
    Row("ptxas_options", "--ptxas-options", "each"),
    Row("max_register_count", "--maxrregcount"),
    Row("ftz", "--ftz", "truth", ""),
    Row("prec_sqrt", "--prec-sqrt", "truth", ""),
    Row("prec_div", "--prec-div", "truth", ""),
    Row("fma", "--fmad", "truth", ""),
    Row("use_fast_math", "--use_fast_math", "switch", "true"),
    Row("extra_device_vectorization", "--extra-device-vectorization", "switch", "true"),
    Row("link_time_optimization", "--dlink-time-opt", "switch", ""),
    Row("gen_opt_lto", "--gen-opt-lto", "switch", "true"),
    Row("define_macro", "--define-macro", _macros),
    Row("undefine_macro", "--undefine-macro", "each"),
    # This row precedes the include paths, so the compiler's own headers have priority.
    Row("use_bundled_headers", "--use-bundled-headers", _bundled_headers, "true"),
    Row("include_path", "--include-path", "each"),
    Row("pre_include", "--pre-include", "each"),
    Row("no_source_include", "--no-source-include", "switch", "true"),
    Row("std", "--std"),
    Row("builtin_move_forward", "--builtin-move-forward", "truth"),
    Row("builtin_initializer_list", "--builtin-initializer-list", "truth"),
    Row("disable_warnings", "--disable-warnings", "switch", "true"),
    Row("restrict", "--restrict", "switch", "true"),
    Row(
        "device_as_default_execution_space",
        "--device-as-default-execution-space",
        "switch",
        "true",
    ),
    Row("device_int128", "--device-int128", "switch", "true"),
    Row("device_float128", "--device-float128", "switch", ""),
    Row("optimization_info", "--optimization-info"),
    Row("no_display_error_number", "--no-display-error-number", "switch", "true"),
    Row("diag_error", "--diag-error", "each"),
    Row("diag_suppress", "--diag-suppress", "each"),
    Row("diag_warn", "--diag-warn", "each"),
    Row("brief_diagnostics", "--brief-diagnostics", "truth"),
    Row("time", "--time"),
    Row("split_compile", "--split-compile"),
    Row("fdevice_syntax_only", "--fdevice-syntax-only", "switch", "true"),
    Row("minimal", "--minimal", "switch", "true"),
    Row("no_cache", "--no-cache", "switch", ""),
    Row("fdevice_time_trace", "--fdevice-time-trace", nvvm=""),
    Row("frandom_seed", "--frandom-seed", nvvm=""),
    Row("ofast_compile", "--Ofast-compile", nvvm=""),
    Row("pch", "--pch", "switch", ""),
    Row("create_pch", "--create-pch", nvvm=""),
    Row("use_pch", "--use-pch", nvvm=""),
    Row("pch_dir", "--pch-dir", nvvm=""),
    Row("pch_verbose", "--pch-verbose", "truth", ""),
    Row("pch_messages", "--pch-messages", "truth", ""),
    Row("instantiate_templates_in_pch", "--instantiate-templates-in-pch", "truth", ""),
    Row("numba_debug", "--numba-debug", "switch", ""),
    Row("enable_tile", "--enable-tile", "switch", "true"),
    Row("tile_only", "--tile-only", "switch", "true"),
    Row("simt_only", "--simt-only", "switch", "true"),
    Row("default_tile", "-default-tile", "switch", "true"),  # NVRTC 13.5 has no longer spelling
    Row("diagnose_implicit_tile_var", "--diagnose-implicit-tile-var", "switch", "true"),
    Row("tile_preview", "--tile-preview"),
)


def _virtual_architecture(flag, value):
    return [f"{flag}={value.replace('sm_', 'compute_')}"]


def _level(flag, value):
    return [f"{flag}={3 if value else 0}"]


def _bit(flag, value):
    return [f"{flag}={int(bool(value))}"]


NVVM_ROWS = (
    Row("arch", "-arch", _virtual_architecture),
    Row("debug", "-g", "switch"),
    Row("numba_debug", "-numba-debug", "switch"),
    Row("device_code_optimize", "-opt", _level),
    Row("ftz", "-ftz", _bit),
    Row("prec_sqrt", "-prec-sqrt", _bit),
    Row("prec_div", "-prec-div", _bit),
    Row("fma", "-fma", _bit),
)


_NVVM_TABLE = table(NVVM_ROWS)


def for_nvvm(options, target_type):
    """Return the options of NVVM in order, as bytes; reject unsupported options."""
    if refused := [row.field for row in NVRTC_ROWS if _is_refused(row, options)]:
        from cuda.core import CUDAError

        raise CUDAError(
            f"The following options are not supported by NVVM backend: {', '.join(refused)}"
        )
    result = _options_as_bytes(options, _NVVM_TABLE)
    return [*result, b"-gen-lto"] if target_type == "ltoir" else result


def _is_refused(row, options):
    value = getattr(options, row.field)
    return row.nvvm and value is not None and (row.nvvm == "set" or bool(value))


def _macro(value):
    if isinstance(value, str):
        return value
    if not isinstance(value, tuple):
        raise RuntimeError(
            "Expected define_macro to be a str, a tuple of two str, or a list of these, "
            f"got {shown(value)}"
        )
    if len(value) != 2 or not all(isinstance(part, str) for part in value):
        raise RuntimeError(
            f"Expected define_macro tuple (name, value) of two str, got {shown(value)}"
        )
    return "=".join(value)
