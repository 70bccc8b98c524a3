# SPDX-License-Identifier: Apache-2.0
"""Builds the kernel tests of llm.c with the shared runtime and runs them on the emulator.

Run: ``python -m tests.programs.llm_kernels FOLDER [NAME]...``. The folder is a checkout of
github.com/karpathy/llm.c; a missing one is cloned. Needs nvcc, and the package nvidia-cublas, whose
header all programs include. Each program compares its kernels with a computation on the CPU. The
sizes of the arrays are reduced. Programs that call cuBLAS, cuDNN or NCCL are left out.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .cuda_samples import library_folder

URL = "https://github.com/karpathy/llm.c"
KERNELS = {  # program -> number of its kernels
    "adamw": 2,
    "classifier_fused": 5,
    "crossentropy_forward": 1,
    "crossentropy_softmax_backward": 1,
    "encoder_backward": 2,
    "encoder_forward": 3,
    "fused_residual_forward": 6,
    "gelu_backward": 2,
    "gelu_forward": 2,
    "global_norm": 4,
    "layernorm_backward": 10,
    "layernorm_forward": 6,
    "matmul_backward_bias": 8,
    "residual_forward": 2,
    "softmax_forward": 8,
}
SIZES = {"B": 2, "T": 64, "C": 256, "V": 1031, "OC": 512, "num_parameters": 4096}
OPTIONS = "-O3", "--use_fast_math", "-std=c++17", "-arch=sm_90", "-w", "-cudart=shared"
TIME_LIMIT = 150


def reduced(source: str) -> str:
    """The source with smaller arrays and one repetition of each measurement."""
    for name, size in SIZES.items():
        source = re.sub(rf"((?:int|long|size_t) {name} = )[^;]+;", rf"\g<1>{size};", source)
    return re.sub(r"(repeat_times = )\d+", r"\g<1>1", source)


def build(folder: Path, name: str, nvcc: str, cublas: Path) -> Path:
    """Build a program that is not built yet, and return its path."""
    program = folder / f"{name}_reduced"
    if not program.exists():
        source = program.with_suffix(".cu")
        source.write_text(reduced((folder / f"{name}.cu").read_text("utf-8")), "utf-8")
        linked = f"-I{cublas / 'include'}", f"-L{library_folder()}", f"-L{cublas / 'lib'}"
        libraries = "-Xlinker=--as-needed", "-l:libcublas.so.13", "-l:libcublasLt.so.13"
        subprocess.run(
            [nvcc, *OPTIONS, source.name, *linked, *libraries, "-o", program.name],
            cwd=folder,
            check=True,
        )
    return program


def run(program: Path, kernel: int, cublas: Path) -> str:
    """Run one kernel of a program, and return its verdict."""
    command = [sys.executable, "-m", "cuda.core.emulation", "exec", f"./{program.name}"]
    environment = os.environ | {"LD_LIBRARY_PATH": str(cublas / "lib")}
    try:
        done = subprocess.run(
            [*command, str(kernel)],
            cwd=program.parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return "slow"
    lines = (done.stderr + done.stdout).splitlines()
    reports = [line for line in lines if "emulator: " in line]
    if done.returncode == 0 and not reports and "Mismatch" not in done.stdout:
        return "right"
    return f"wrong: {(reports or lines)[-1][:200]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a checkout of llm.c")
    parser.add_argument("names", nargs="*", help="programs; by default all")
    parser.add_argument("--nvcc", default=os.environ.get("HALFWARP_NVCC") or shutil.which("nvcc"))
    parser.add_argument("--cublas", type=Path, required=True, help="has include/ and lib/")
    chosen = parser.parse_intermixed_args()
    if not chosen.nvcc:
        parser.error("there is no nvcc")
    if not chosen.folder.exists():
        subprocess.run(["git", "clone", "-q", URL, chosen.folder], check=True)
    verdicts = []
    for name in chosen.names or KERNELS:
        program = build(chosen.folder.resolve() / "dev" / "cuda", name, chosen.nvcc, chosen.cublas)
        for kernel in range(1, KERNELS[name] + 1):
            verdicts.append(run(program, kernel, chosen.cublas))
            print(f"{name:30} {kernel}  {verdicts[-1]}", flush=True)
    print(f"{verdicts.count('right')} of {len(verdicts)} are right")
    return 0 if set(verdicts) == {"right"} else 1


if __name__ == "__main__":
    sys.exit(main())
