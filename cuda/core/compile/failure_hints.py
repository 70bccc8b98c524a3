# SPDX-License-Identifier: Apache-2.0
"""Advice for failed compilations, from the log, the options and the source; for errors only."""

import os
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
STANDARD_HEADER = (
    "{} is a header of the host's standard library, which NVRTC does not have: libcu++ has device "
    "versions of many of them, such as <cuda/std/array>"
)
COMPILER_HEADER = (
    "{} is in the package nvidia-cuda-crt, which adds it to the headers of CUDA: pip install "
    "nvidia-cuda-crt"
)
MISSING_FOLDER = "include_path names {!r}, which is no folder"
REGISTERS = "max_register_count must be an int, got {!r}"
PATH = "the source looks like a path: pass the text of the file, pathlib.Path({!r}).read_text()"
PTX = "the source is PTX: compile it with code_type='ptx'"
C_HEADERS = {"assert.h", "float.h", "limits.h", "math.h", "stdint.h", "stdio.h", "stdlib.h"}
STANDARDS = "std must be one of c++03, c++11, c++14, c++17, c++20, got {!r}"
ARCHITECTURES = "arch is {!r}; this NVRTC supports {}"


def hints_for(log, source, options):
    """Return advice for a failed compilation. Host only."""
    hints = []
    if missing := re.search(r'(?:could not|cannot) open source file "([^"]+)"', log):
        hints += missing_folders(options.include_path) or [header_hint(missing[1])]
    if "__nv_name_map" in log:
        hints.append(NAME_EXPRESSION)
    if unresolved := re.search(r"Unresolved extern (?:function|variable) '([^']+)'", log):
        hints.append(UNRESOLVED.format(unresolved[1]))
    if "--gpu-architecture" in log:
        hints.append(ARCHITECTURES.format(options.arch, supported_architectures()))
    if "--std" in log:
        hints.append(STANDARDS.format(options.std))
    if "--maxrregcount" in log:
        hints.append(REGISTERS.format(options.max_register_count))
    return hints + source_hints(source)


def header_hint(name):
    """Return advice for a header that is not in the list of directories."""
    if re.fullmatch(r"[a-z_]+", name) or name in C_HEADERS:
        return STANDARD_HEADER.format(name)
    if name.startswith("crt/"):
        return COMPILER_HEADER.format(name)
    return MISSING_HEADER.format(name)


def missing_folders(include_path):
    """Return advice for folders of `include_path` that do not exist."""
    paths = include_path if isinstance(include_path, (list, tuple)) else [include_path]
    return [MISSING_FOLDER.format(os.fspath(p)) for p in paths if p and not os.path.isdir(p)]


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
