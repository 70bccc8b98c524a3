# SPDX-License-Identifier: Apache-2.0
"""Advice for failed compilations, from the log, the options and the source; for errors only."""

import re

NAME_EXPRESSION = (
    "a name expression was not found in the source: write it in C++ syntax, with its namespace and "
    "its template arguments"
)
UNRESOLVED = (
    "{} is declared, but not defined in this source: define it, or compile with "
    "relocatable_device_code=True and pass the code that defines it to a Linker"
)
MISSING_HEADER = (
    "{} was not found: ProgramOptions(use_bundled_headers=True) provides the headers of CUDA, such "
    "as cuda_fp16.h, with NVRTC 13.3 or newer; for other headers or an older NVRTC, set "
    "include_path"
)
PATH = "the source looks like a path: pass the text of the file, pathlib.Path({!r}).read_text()"
PTX = "the source is PTX: compile it with code_type='ptx'"
STANDARDS = "std must be one of c++03, c++11, c++14, c++17, c++20, got {!r}"
ARCHITECTURES = "arch is {!r}; this NVRTC supports {}"


def hints_for(log, source, options):
    """Return advice for a failed compilation. Host only."""
    hints = []
    if missing := re.search(r'could not open source file "([^"]+)"', log):
        hints.append(MISSING_HEADER.format(missing[1]))
    if "__nv_name_map" in log:
        hints.append(NAME_EXPRESSION)
    if unresolved := re.search(r"Unresolved extern (?:function|variable) '([^']+)'", log):
        hints.append(UNRESOLVED.format(unresolved[1]))
    if "--gpu-architecture" in log:
        hints.append(ARCHITECTURES.format(options.arch, supported_architectures()))
    if "--std" in log:
        hints.append(STANDARDS.format(options.std))
    return hints + source_hints(source)


def source_hints(source):
    """Return advice for a source that is a path or PTX."""
    text = source.strip()
    if re.fullmatch(r"[^\s;{}()]+\.(cu|cuh|cpp|cxx|cc|c|h|hpp|ptx|txt)", text):
        return [PATH.format(text)]
    if re.search(r"^\s*\.version\s+\d", source, re.MULTILINE):
        return [PTX]
    return []


def supported_architectures():
    from cuda.bindings import nvrtc

    status, numbers = nvrtc.nvrtcGetSupportedArchs()
    return ", ".join(f"sm_{number}" for number in numbers) if status == 0 else "other ones"
