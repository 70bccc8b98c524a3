# SPDX-License-Identifier: Apache-2.0
"""Environment variables of halfwarp and CUDA: which are set, and which have invalid values."""

import os
import re
from difflib import get_close_matches
from pathlib import Path

OWN = "HALFWARP_"
EMULATOR = "HALFWARP_EMULATOR_"
SHOWN = re.compile(r"(HALFWARP|CUDA|NVIDIA|CUPY|NUMBA_CUDA)_|LD_LIBRARY_PATH$|LD_PRELOAD$")


def one_of(*values):
    """Return a check for a fixed set of values; an empty value counts as not set."""
    return lambda text: None if text in ("", *values) else f"it may be {', '.join(values)}"


def number(text):
    return None if re.fullmatch(r"\s*[-+]?\d+\s*|", text) else "it may be a number"


def folder(text):
    return None if text == "" or Path(text).is_dir() else "there is no such folder"


def devices(text):
    item = r"\s*(-?\d+|(GPU|MIG)-[\w/-]+)\s*"
    is_list = re.fullmatch(rf"({item}(,{item})*,?)?", text) or text == "NoDevFiles"
    return None if is_list else "it may be a list of ordinals or of names like GPU-8932f937"


# variable -> a function that returns the objection to a value, or None
CHECKS = {
    "HALFWARP_BACKEND": one_of("driver", "emulator", "auto"),
    "HALFWARP_LAUNCH_CHECKS": one_of("0", "1"),
    "HALFWARP_SYNC_LAUNCH": one_of("0", "1"),
    "HALFWARP_FLIGHT_RECORDER": number,
    "HALFWARP_FULL_TRACEBACK": one_of("0", "1"),
    "HALFWARP_NVTX": one_of("0", "1"),
    "HALFWARP_REPORT_LEAKS": one_of("0", "1"),
    "CUDA_PATH": folder,
    "CUDA_HOME": folder,
    "CUDA_VISIBLE_DEVICES": devices,
    "CUDA_DEVICE_ORDER": one_of("FASTEST_FIRST", "PCI_BUS_ID"),
    "CUDA_LAUNCH_BLOCKING": one_of("0", "1"),
    "CUDA_MODULE_LOADING": one_of("DEFAULT", "LAZY", "EAGER"),
    "CUDA_MODULE_DATA_LOADING": one_of("DEFAULT", "LAZY", "EAGER"),
    "CUDA_CACHE_DISABLE": one_of("0", "1"),
    "CUDA_CACHE_MAXSIZE": number,
    "CUDA_FORCE_PTX_JIT": one_of("0", "1"),
    "CUDA_DISABLE_PTX_JIT": one_of("0", "1"),
    "CUDA_DEVICE_MAX_CONNECTIONS": number,
    "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM": number,
}


def probe(findings):
    variables = []
    for name in sorted(filter(SHOWN.match, os.environ)):
        objection = objection_to(name, os.environ[name])
        variables.append({"name": name, "value": os.environ[name], "is_understood": not objection})
        if objection:
            findings.warning(
                f"{name}={os.environ[name]!r}: {objection}", f"correct or unset {name}"
            )
    findings.facts["variables"] = variables


def objection_to(name, value):
    """Return the objection to a variable's value, or None."""
    if name in CHECKS:
        return CHECKS[name](value)
    if name.startswith(EMULATOR):
        return emulator_objection(name, value)
    return unknown(name) if name.startswith(OWN) else None


def emulator_objection(name, value):
    """Return the emulator's objection to an option's value, or None. Starts no emulator."""
    from cuda.core.emulation import library as emulator_library

    try:
        emulator_library.check_option(name.removeprefix(EMULATOR).lower(), value)
    except ValueError as error:
        return str(error)
    except (RuntimeError, OSError):  # no emulator: another probe reports this
        return None
    return None


def unknown(name):
    similar = get_close_matches(name, CHECKS, n=1)
    suggestion = f"; did you mean {similar[0]}?" if similar else ""
    return f"halfwarp does not read a variable of that name{suggestion}"
