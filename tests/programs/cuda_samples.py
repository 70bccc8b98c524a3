# SPDX-License-Identifier: Apache-2.0
"""Builds the public CUDA samples with the shared runtime and runs them on the emulator.

Run: ``python -m tests.programs.cuda_samples FOLDER [NAME]...``. The folder is a checkout of
github.com/NVIDIA/cuda-samples; a missing one is cloned. Needs nvcc of CUDA 13. Samples of graphics
and of CUDA libraries are left out. The table of verdicts is compared with cuda_samples.toml.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

URL = "https://github.com/NVIDIA/cuda-samples"
COMMIT = "c94ff366aed18c797b8a85dfaac7817b0228b420"
EXPECTED = Path(__file__).with_suffix(".toml")
THEMES = (
    "0_Introduction",
    "2_Concepts_and_Techniques",
    "3_CUDA_Features",
    "6_Performance",
)
ARCHITECTURE = "sm_90"
GRAPHICS = {"OpenGL", "GLUT", "EGL", "MPI", "Vulkan", "FreeImage"}
LIBRARIES = {"cublas", "curand", "cufft", "cusolver", "cusparse", "npp", "nvrtc", "nvjpeg"}
WAIVED = 2  # the exit status of samples that ask for another machine
PAIRS = {"simpleP2P", "streamOrderedAllocationP2P", "simpleMultiGPU", "memMapIPCDrv", "simpleIPC"}
TIME_LIMIT = 150


@dataclass(frozen=True)
class Sample:
    """A folder with a sample, as its CMakeLists.txt describes it."""

    folder: Path
    description: str

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def sources(self) -> list[str]:
        match = re.search(r"add_executable\(\s*\w+([^)]*)\)", self.description)
        return match[1].split() if match else []

    @property
    def code_files(self) -> list[tuple[str, str]]:
        """Name and source of each file of device code that the sample loads."""
        targets = re.findall(
            r"set\(CUDA_(?:FATBIN|PTX)_FILE \"[^\"]*/([^\"/]+)\"", self.description
        )
        kernels = re.findall(r"set\(CUDA_KERNEL_SOURCE \"[^\"]*/([^\"/]+)\"", self.description)
        return list(zip(targets, kernels, strict=True))

    @property
    def obstacles(self) -> set[str]:
        """Packages and libraries that exclude the sample."""
        packages = set(re.findall(r"find_package\((\w+)", self.description))
        libraries = set(re.findall(r"CUDA::(\w+)", self.description))
        return (packages & GRAPHICS) | (libraries & LIBRARIES)

    def build_commands(self, nvcc: str, libraries: Path) -> list[list[str]]:
        options = ["-std=c++17", "--extended-lambda", f"-arch={ARCHITECTURE}", "-I../../../Common"]
        options.append("-I.")  # the sample "interval" brings Boost
        options += ["-Wno-deprecated-gpu-targets", "-w"]
        commands = [
            [nvcc, *options, "-ptx" if target.endswith(".ptx") else "-fatbin", "-o", target, kernel]
            for target, kernel in self.code_files
        ]
        if "CUDA_SEPARABLE_COMPILATION ON" in self.description:
            options += ["-rdc=true", f"-L{Path(nvcc).resolve().parents[1] / 'lib'}", "-lcudadevrt"]
        if "OpenMP" in self.description:
            options.append("-Xcompiler=-fopenmp")
        linked = ["-cudart=shared", f"-L{libraries}", "-lcuda"]
        commands.append([nvcc, *options, *self.sources, *linked, "-o", self.name])
        return commands


def find_samples(root: Path, names: list[str]) -> list[Sample]:
    paths = [p for t in THEMES for p in sorted((root / "Samples" / t).glob("*/CMakeLists.txt"))]
    samples = [Sample(path.parent, path.read_text("utf-8")) for path in paths]
    chosen = [s for s in samples if s.name in names or not names]
    return [s for s in chosen if s.sources and not s.obstacles]


def library_folder() -> Path:
    """The folder with the emulated libraries, in which linkers find them."""
    command = [sys.executable, "-m", "cuda.core.emulation", "path"]
    return Path(subprocess.check_output(command, text=True).strip())


def build(sample: Sample, nvcc: str, libraries: Path) -> str:
    """Build a sample that is not built yet, and return the first error."""
    if (sample.folder / sample.name).exists():
        return ""
    for command in sample.build_commands(nvcc, libraries):
        done = subprocess.run(command, cwd=sample.folder, capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line]
            return f"not built: {errors[0] if errors else done.returncode}"
    return ""


def run(sample: Sample) -> str:
    """Run a sample, and return its verdict."""
    options = ["--devices", "2"] if sample.name in PAIRS else []
    command = [sys.executable, "-m", "cuda.core.emulation", "exec", *options, f"./{sample.name}"]
    try:
        done = subprocess.run(
            command, cwd=sample.folder, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return "slow"
    text = done.stdout + done.stderr
    (sample.folder / "output.txt").write_text(text)
    if done.returncode == WAIVED:
        return "waived"
    if done.returncode == 0 and not re.search(r"FAILED|Test failed|Result = FAIL", text):
        return "right"
    reports = [line for line in text.splitlines() if "emulator: " in line]
    return f"wrong: {reports[0] if reports else (text.splitlines() or [''])[-1]}"


def checkout(root: Path) -> None:
    if not (root / "Samples").exists():
        subprocess.run(["git", "clone", "-q", URL, root], check=True)
        subprocess.run(["git", "-C", root, "checkout", "-q", COMMIT], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a checkout of the samples")
    parser.add_argument("names", nargs="*", help="samples; by default all")
    parser.add_argument("--nvcc", default=os.environ.get("HALFWARP_NVCC") or shutil.which("nvcc"))
    chosen = parser.parse_intermixed_args()
    if not chosen.nvcc:
        parser.error("there is no nvcc")
    checkout(chosen.folder)
    expected = tomllib.loads(EXPECTED.read_text("utf-8"))["verdicts"]
    libraries, changed, right = library_folder(), 0, 0
    samples = find_samples(chosen.folder.resolve(), chosen.names)
    for sample in samples:
        verdict = build(sample, chosen.nvcc, libraries) or run(sample)
        is_expected = verdict.partition(":")[0] == expected.get(sample.name, "right")
        changed += not is_expected
        right += verdict == "right"
        print(f"{sample.name:28} {verdict}{'' if is_expected else '   (another verdict before)'}")
    print(f"{right} of {len(samples)} are right; {changed} differ from {EXPECTED.name}")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
