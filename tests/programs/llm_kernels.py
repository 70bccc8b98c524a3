# SPDX-License-Identifier: Apache-2.0
"""Builds the kernel tests of llm.c with the shared runtime and runs them on the emulator.

Run: ``python -m tests.programs.llm_kernels FOLDER [NAME]...``. The folder is a checkout of
github.com/karpathy/llm.c; a missing one is cloned. Needs nvcc, and the package nvidia-cublas, whose
header all programs include. Each program compares its kernels with a computation on the CPU. The
sizes of the arrays are reduced, to multiples of all blocks. Programs that call cuBLAS, cuDNN or
NCCL are left out, and kernels that the programs do not have for bfloat16.
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
ABSENT = {("layernorm_backward", 1), ("matmul_backward_bias", 5), ("matmul_backward_bias", 6)}
DEFECTS = {  # kernel -> the mistake in it that the emulator shows, as of commit f1e2ace
    ("fused_residual_forward", 2): "a thread past the last token, since it compares with >",
    ("layernorm_backward", 10): "blocks of 32 threads have shared memory for none",
    # The check of this kernel passes on an H100.
    ("matmul_backward_bias", 8): "blocks below 128 shuffle with threads that have left",
    ("softmax_forward", 4): "a race: a warp stores its sum before another has loaded the maximum",
}
SIZES = {"B": 8, "T": 128, "C": 256, "V": 1031, "OC": 512, "num_parameters": 4096}
OPTIONS = "-O3", "--use_fast_math", "-std=c++17", "-arch=sm_90", "-w", "-cudart=shared"
TIME_LIMIT = 150


def reduced(source: str, common: str) -> str:
    """The source with smaller arrays, one repetition of each measurement, and without cuBLAS."""
    for name, size in SIZES.items():
        source = re.sub(rf"((?:int|long|int64_t) {name} = )[^;]+;", rf"\g<1>{size};", source)
    source = re.sub(r"(repeat_times = )\d+", r"\g<1>1", source)
    common = re.sub(r"^ *cublasCheck\(.*\n", "", common, flags=re.M)
    return source.replace('#include "common.h"', common)


def build(folder: Path, name: str, nvcc: str, cublas: Path) -> Path:
    """Build a program that is not built yet, and return its path."""
    program = folder / f"{name}_reduced"
    if not program.exists():
        source = program.with_suffix(".cu")
        texts = [(folder / file).read_text("utf-8") for file in (f"{name}.cu", "common.h")]
        source.write_text(reduced(*texts), "utf-8")
        paths = f"-I{cublas}", f"-L{library_folder()}"
        subprocess.run(
            [nvcc, *OPTIONS, source.name, *paths, "-o", program.name], cwd=folder, check=True
        )
    return program


def run(program: Path, kernel: int) -> str:
    """Run one kernel of a program, and return its verdict."""
    command = [sys.executable, "-m", "cuda.core.emulation", "exec", f"./{program.name}"]
    try:
        done = subprocess.run(
            [*command, str(kernel)],
            cwd=program.parent,
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
    parser.add_argument("--cublas", type=Path, required=True, help="the folder with cublas_v2.h")
    chosen = parser.parse_intermixed_args()
    if not chosen.nvcc:
        parser.error("there is no nvcc")
    if not chosen.folder.exists():
        subprocess.run(["git", "clone", "-q", URL, chosen.folder], check=True)
    verdicts = []
    for name in chosen.names or KERNELS:
        program = build(chosen.folder.resolve() / "dev" / "cuda", name, chosen.nvcc, chosen.cublas)
        for kernel in range(1, KERNELS[name] + 1):
            if (name, kernel) in ABSENT:
                continue
            verdict = run(program, kernel)
            if verdict != "right" and (name, kernel) in DEFECTS:
                verdict = f"defect: {DEFECTS[name, kernel]}"
            verdicts.append(verdict)
            print(f"{name:30} {kernel}  {verdict}", flush=True)
    print(f"{verdicts.count('right')} of {len(verdicts)} are right")
    return int(any(verdict.startswith(("wrong", "slow")) for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
