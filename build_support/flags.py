# SPDX-License-Identifier: Apache-2.0
"""Compilers, and the flags of all parts; the environment selects debugging or sanitizers."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CC, CXX = (shlex.split(os.environ.get(v, c)) for v, c in (("CC", "gcc"), ("CXX", "g++")))
# Flags of the environment follow the general flags and precede the flags of single parts.
FLAGS = ("CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS")
ENV_FLAGS = {name: shlex.split(os.environ.get(name, "")) for name in FLAGS}
DEBUG = os.environ.get("DEBUG") == "1"
SANITIZE = os.environ.get("HALFWARP_SANITIZE", "")  # "address,undefined": docs/design/robustness.md
COMMON = ["-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-Wall"]
CHECKED = [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=all"] if SANITIZE else []
# Callers of a C API pass any int as an enum; checks of null keep addresses from being constants.
NULLS = "null,nonnull-attribute,returns-nonnull-attribute"
CHECKED += [f"-fno-sanitize=enum,{NULLS}"] if SANITIZE else []
COMMON += ["-O0", "-g"] if DEBUG else ["-O1", "-g1"] if SANITIZE else ["-O2", "-g0", "-DNDEBUG"]
COMMON += CHECKED
# without deprecation warnings, because the tables name every function
COMMON += ["-DCUDA_ENABLE_DEPRECATED", "-Wno-deprecated-declarations"]
FLOATS = ("-ffp-contract=off", "-fno-math-errno")
C_ONLY = shlex.split("-fno-exceptions -fno-rtti -fno-threadsafe-statics")
# C++ without exceptions needs no unwind tables, which are a twentieth of the size.
TABLES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]  # ARM enables both by default
FRAMES = [] if DEBUG or SANITIZE else TABLES
LINK = ["-shared", "-Wl,--gc-sections", "-Wl,--as-needed", "-Wl,--exclude-libs,ALL"]
EXPORTED = ROOT / "cpp" / "exported.map"
LINK += ["-Wl,-z,noseparate-code"]  # no page of padding between code and data
LINK += [] if DEBUG or SANITIZE else ["-s"]
LINK += CHECKED
