# SPDX-License-Identifier: Apache-2.0
"""Tables that map each field of `LinkerOptions` to a linker option."""

import warnings

from cuda.core.arguments.option_rows import Row


def _level(flag, value):
    return [f"{flag}{value}"]


# Rows are in the order in which nvJitLink receives the options.
NVJITLINK_ROWS = (
    Row("arch", "-arch"),
    Row("max_register_count", "-maxrregcount"),
    Row("time", "-time", "switch"),
    Row("verbose", "-verbose", "switch"),
    Row("link_time_optimization", "-lto", "switch"),
    Row("ptx", "-ptx", "switch"),
    Row("optimization_level", "-O", _level),
    Row("debug", "-g", "switch"),
    Row("lineinfo", "-lineinfo", "switch"),
    Row("ftz", "-ftz", "truth"),
    Row("prec_div", "-prec-div", "truth"),
    Row("prec_sqrt", "-prec-sqrt", "truth"),
    Row("fma", "-fma", "truth"),
    Row("kernels_used", "-kernels-used", "each"),
    Row("variables_used", "-variables-used", "each"),
    Row("optimize_unused_variables", "-optimize-unused-variables", "switch"),
    Row("ptxas_options", "-Xptxas", "each"),
    Row("split_compile", "-split-compile"),
    Row("split_compile_extended", "-split-compile-extended"),
    Row("no_cache", "-no-cache", "switch"),
    Row("incremental", "-r", "switch"),
)

# Field: option of the driver, and its value if the field is true.
DRIVER_SWITCHES = {
    "verbose": ("CU_JIT_LOG_VERBOSE", 1),
    "link_time_optimization": ("CU_JIT_LTO", 1),
    "debug": ("CU_JIT_GENERATE_DEBUG_INFO", 1),
    "lineinfo": ("CU_JIT_GENERATE_LINE_INFO", 1),
    "no_cache": ("CU_JIT_CACHE_MODE", 0),  # CU_JIT_CACHE_OPTION_NONE
}
DRIVER_NUMBERS = {
    "max_register_count": "CU_JIT_MAX_REGISTERS",
    "optimization_level": "CU_JIT_OPTIMIZATION_LEVEL",
}
UNSUPPORTED_BY_DRIVER = ("time", "ptxas_options", "split_compile", "split_compile_extended")
UNSUPPORTED_BY_DRIVER_IF_TRUE = ("ptx", "incremental")
IGNORED_BY_DRIVER = {
    "ftz": "ftz option",
    "prec_div": "prec_div option",
    "prec_sqrt": "prec_sqrt option",
    "fma": "fma options",
    "kernels_used": "kernels_used",
    "variables_used": "variables_used",
    "optimize_unused_variables": "optimize_unused_variables",
}


def for_driver(options, arch):
    """Return the options of the driver as pairs of ``CUjit_option`` number and value."""
    from cuda.bindings.driver import CUjit_option

    _check_supported(options)
    for field, label in IGNORED_BY_DRIVER.items():
        if getattr(options, field) is not None:
            warnings.warn(
                f"{label} is deprecated in the driver API", DeprecationWarning, stacklevel=2
            )
    pairs = [("CU_JIT_TARGET", _target(options.arch if options.arch is not None else arch()))]
    for field, name in DRIVER_NUMBERS.items():
        if (number := getattr(options, field)) is not None:
            pairs.append((name, int(number)))
    pairs += [pair for field, pair in DRIVER_SWITCHES.items() if getattr(options, field)]
    return [(int(CUjit_option[name]), number) for name, number in pairs]


def _check_supported(options):
    wrong = [f for f in UNSUPPORTED_BY_DRIVER if getattr(options, f) is not None]
    wrong += [f for f in UNSUPPORTED_BY_DRIVER_IF_TRUE if getattr(options, f)]
    if wrong:
        raise ValueError(
            f"{wrong[0]} option is not supported by the driver API, which links because nvJitLink "
            "is missing"
        )


def _target(arch):
    """Return the driver's number of an architecture such as ``"sm_90a"``."""
    from cuda.bindings.driver import CUjit_target

    name = f"CU_TARGET_COMPUTE_{str(arch).rpartition('_')[2].upper()}"
    try:
        return int(CUjit_target[name])
    except KeyError:
        raise AttributeError(
            f"the driver has no target {name}: arch={arch!r} must be 'sm_NN', for example 'sm_90'"
        ) from None
