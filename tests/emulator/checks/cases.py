# SPDX-License-Identifier: Apache-2.0
"""Compile and launch the planted kernels, and collect what the checks report."""

import contextlib
import functools
import hashlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from cuda.bindings import driver
from cuda.core import (
    CUDAError,
    Device,
    LaunchConfig,
    ObjectCode,
    Program,
    ProgramOptions,
    emulation,
    launch,
)
from cuda.pathfinder import find_nvidia_header_directory

BYTES = 16384
MANY = 5  # cases
FOLDER = "PLANTED_KERNELS"  # names a folder of PTX texts


class Case(NamedTuple):
    """A kernel body with ``@``, the text of the mistake, the text of the twin, and the launch."""

    body: str
    mistake: str
    twin: str
    grid: int
    block: int
    config: dict | None = None  # more of the launch


def source_of(case, text, name="kernel"):
    """Return the source of a kernel. `out` is filled with zeros; nobody has written `raw`."""
    body = case.body.replace("@", text).replace("; ", ";\n")
    return f'extern "C" __global__ void {name}(int* out, int* raw) {{\n{body}\n}}'


def compiled(source, **options):
    """Return the PTX text of a source. Processes of one run of the tests share the texts."""
    key = hashlib.sha256(f"{source}{sorted(options.items())}".encode()).hexdigest()
    folder = os.environ.get(FOLDER)
    path = Path(folder, key) if folder else None
    if path and path.exists():
        return path.read_bytes()
    options = ProgramOptions(arch="sm_90", lineinfo=True, **options)
    code = Program(source, "c++", options).compile("ptx").code
    if path:
        new = path.with_suffix(f".{os.getpid()}")
        new.write_bytes(code)
        new.replace(path)
    return code


def codes_of(planted, cases):
    """Return the PTX text and the name of the kernel for each case and label.

    Many kernels are compiled together, which takes a tenth of the time. Reports name a single one
    "kernel".
    """
    has_head = hasattr(planted, "HEAD")
    texts = {
        (name, label): getattr(case, label)
        for name, case in cases.items()
        for label in ("mistake", "twin")
    }
    if not has_head and len(cases) < MANY:
        return {
            key: (compiled(source_of(cases[key[0]], text)), "kernel") for key, text in texts.items()
        }
    start = "const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;\n" if has_head else ""
    source = getattr(planted, "HEAD", "")
    for (name, label), text in texts.items():
        case = cases[name]._replace(body=start + cases[name].body)
        source += source_of(case, text, f"{name}_{label}") + "\n"
    options = {"std": "c++17", "include_path": include_folders()} if has_head else {}
    code = compiled(source, **options)
    return {key: (code, "_".join(key)) for key in texts}


loaded = functools.cache(ObjectCode.from_ptx)


def include_folders():
    """Return the folders of CUDA's headers and of CCCL."""
    folder = find_nvidia_header_directory("cudart") or "/usr/local/cuda/include"
    return [str(folder), str(Path(folder, "cccl"))]


def has_library_headers():
    """Return whether the headers of CCCL are installed."""
    return Path(include_folders()[1]).is_dir()


def findings_of(device, stream, case, code):
    """Run a case by its PTX text and the name of its kernel."""
    text, name = code
    kernel = loaded(text).get_kernel(name)
    emulation.repair()
    out, raw = (device.allocate(BYTES, stream=stream) for _ in range(2))
    with out, raw:
        out.fill(0, stream=stream)
        config = LaunchConfig(grid=case.grid, block=case.block, **(case.config or {}))
        launch(stream, config, kernel, out, raw)
        with contextlib.suppress(CUDAError):  # the reports tell
            stream.sync()
            driver.cuMemcpyDtoH(bytearray(BYTES), int(out.handle), BYTES)
        findings = emulation.faults()
        emulation.repair()
    return [each.text for each in findings]


def all_cases(planted):
    """Return the cases of a module by name."""
    groups = ("CASES", "LANDINGS", "RACES", "CORRECT")
    return {name: case for group in groups for name, case in getattr(planted, group, {}).items()}


def main():
    """Run the cases of a module by name, or all, and print the findings of each as JSON."""
    planted = importlib.import_module(f"tests.emulator.checks.planted.{sys.argv[1]}")
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    cases = all_cases(planted)
    if len(sys.argv) > 2:
        cases = {name: cases[name] for name in sys.argv[2:]}
    findings = {name: {} for name in cases}
    for (name, label), code in codes_of(planted, cases).items():
        findings[name][label] = findings_of(device, stream, cases[name], code)
    print(json.dumps(findings))  # on one line: kernels print too


if __name__ == "__main__":
    main()
