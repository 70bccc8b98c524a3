# SPDX-License-Identifier: Apache-2.0
"""Runs kernels of public projects on the emulator and compares them with references.

Run: ``python -m tests.corpora FOLDER --nvcc PATH --projects PATH``. The folder of projects has
checkouts of NVIDIA/cutlass, Dao-AILab/flash-attention, ggml-org/ggml and karpathy/llm.c, named
cutlass, flash, ggml and llm.c; a missing project leaves its families out. CCCL comes with nvcc,
which may be of wheels: nvidia-cuda-nvcc, -crt, -runtime, -cccl and nvidia-nvvm, with a link
libcudart.so to the library of the runtime.
``--triton`` and ``--numba`` name Pythons that compile PTX. ``--compare`` reads the outputs that the
same programs wrote on a GPU (in the folder ``CORPUS_OUT``).

A run keeps the programs and the lines of each complete one, and a second run continues after them.
``--only`` names programs. A program that fails or takes too long counts as one wrong kernel.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
EMULATED = sys.executable, "-m", "cuda.core.emulation", "exec"
PROJECTS = {  # family of programs -> the checkouts and folders of headers that they need
    "cub_block": (),
    "cub_device": (),
    "cutlass80": ("cutlass/include",),
    "cutlass90": ("cutlass/include", "cutlass/tools/util/include"),
    "flash": ("flash/csrc/flash_attn/src", "cutlass/include"),
    "ggml": ("ggml/include", "ggml/src", "ggml/src/ggml-cuda"),
    "llmc": ("llm.c",),
}
PROGRAMS = {  # name -> source, target, options
    "cub_block0": ("cub_block", "90", ["-DPART=0"]),
    "cub_block1": ("cub_block", "90", ["-DPART=1"]),
    "cub_block2": ("cub_block", "90", ["-DPART=2"]),
    "cub_device0": ("cub_device", "90", ["-DPART=0"]),
    "cub_device1": ("cub_device", "90", ["-DPART=1"]),
    "cutlass80_0": ("cutlass80", "80", ["-DPART=0"]),
    "cutlass80_1": ("cutlass80", "80", ["-DPART=1"]),
    "cutlass90_0": ("cutlass90", "90a", ["-DPART=0"]),
    "cutlass90_1": ("cutlass90", "90a", ["-DPART=1"]),
    "cutlass90_2": ("cutlass90", "90a", ["-DPART=2"]),
    "flash_forward": ("flash", "80", []),
    "flash_backward": ("flash", "80", ["-DBACKWARD"]),
    "ggml_dequantize": ("ggml", "90", ["-DARCH=90", "-DDEQUANTIZE"]),
    "ggml_product0": ("ggml", "90", ["-DARCH=90", "-DGGML_CUDA_USE_PDL", "-DPART=0"]),
    "ggml_product1": ("ggml", "90", ["-DARCH=90", "-DGGML_CUDA_USE_PDL", "-DPART=1"]),
    "llmc": ("llmc", "80", []),
}
OPTIONS = "-std=c++17", "-O2", "-w", "-cudart", "shared", "--no-compress"
LAMBDAS = "--expt-relaxed-constexpr", "--expt-extended-lambda"
STUBS = {  # what flash-attention includes of PyTorch
    "c10/cuda/CUDAException.h": "#define C10_CUDA_CHECK(x) (void)(x)\n"
    "#define C10_CUDA_KERNEL_LAUNCH_CHECK() (void)0\n",
    "ATen/cuda/PhiloxCudaState.h": "#pragma once\n#include <cstdint>\n"
    "namespace at { struct PhiloxCudaState { uint64_t seed, offset; }; }\n",
    "ATen/cuda/detail/UnpackRaw.cuh": "#pragma once\n#include <tuple>\n"
    "namespace at::cuda::philox { __host__ __device__ inline std::tuple<uint64_t, uint64_t>"
    " unpack(at::PhiloxCudaState s) { return {s.seed, s.offset}; } }\n",
}
GGML_SOURCES = "ggml.c", "ggml-quants.c", "ggml-threading.cpp"
GGML_ABSENT = "buffer_get_usage", "tensor_memset", "tensor_set"  # of the backends, never called
LLMC_UNORDERED = (  # after each, other warps write what is still read
    "block_acc[warp.thread_rank()] = 0;\n    }\n",
    "__stcs(dpreatt_bth + t3, scale * acc);\n        }\n",
    "losses[idx] = -logf(prob);\n    }\n",
)
TIME_LIMIT = 900


def write_stubs(folder):
    """Write the headers and sources that stand for parts that no kernel needs."""
    for name, text in STUBS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    names = (f"void ggml_backend_{name}(void) {{ __builtin_trap(); }}\n" for name in GGML_ABSENT)
    (folder / "absent.c").write_text("".join(names))


def ggml_objects(folder, projects):
    """Compile what packs and unpacks the numbers of ggml on the CPU."""
    source = projects / "ggml/src"
    names = '-DGGML_VERSION="x"', '-DGGML_COMMIT="x"', "-D_GNU_SOURCE"
    paths = f"-I{projects / 'ggml/include'}", f"-I{source}"
    files = [*(source / name for name in GGML_SOURCES), folder / "absent.c"]
    for file in files:
        compiler = "g++" if file.suffix == ".cpp" else "gcc"
        target = folder / f"{file.name}.o"
        subprocess.run(
            [compiler, "-O1", "-w", "-c", *names, *paths, file, "-o", target], check=True
        )
    head = (source / "ggml-cuda/mmvq.cu").read_text()
    head = head[: head.index("static void mul_mat_vec_q_switch_type")]
    (folder / "mmvq_head.cuh").write_text(head)
    return [folder / f"{file.name}.o" for file in files]


def write_llmc_head(folder, projects):
    """Write the kernels of llm.c and the functions that launch them, without its model.

    Two kernels get the barriers that they lack, which ``--check race`` reports: the warps of the
    backward softmax reuse sums that others read, and the classifier overwrites a logit.
    """
    text = (projects / "llm.c/train_gpt2_fp32.cu").read_text()
    first, last = text.index("namespace cg ="), text.index("// GPT-2 model definition")
    text = text[first:last]
    for place in LLMC_UNORDERED:
        assert text.count(place) == 1, f"llm.c has changed: {place}"
        text = text.replace(place, place + "block.sync();\n")
    (folder / "llmc_head.cuh").write_text(text)


def build(name, folder, nvcc, projects):
    """Build a program that is absent; return its path, or nothing without its project."""
    source, target, options = PROGRAMS[name]
    program = folder / name
    paths = [projects / path for path in PROJECTS[source]]
    if program.exists() or not all(path.exists() for path in paths):
        return program if program.exists() else None
    objects = ggml_objects(folder, projects) if source == "ggml" else []
    if source == "llmc":
        write_llmc_head(folder, projects)
    code = f"-gencode=arch=compute_{target},code=compute_{target}"
    toolkit = Path(nvcc).resolve().parents[1]
    includes = [f"-I{path}" for path in (*paths, folder, toolkit / "include/cccl", HERE)]
    command = [nvcc, *OPTIONS, *LAMBDAS, code, *options, *includes]
    command += [HERE / "programs" / f"{source}.cu", *objects, f"-L{toolkit / 'lib'}"]
    part = program.with_suffix(".part")  # an interrupted run leaves no program
    subprocess.run([*command, "-o", part], check=True)
    return part.rename(program)


def lines_of(name, command, folder):
    """Run a command on the emulator, unless it is complete; return its lines of cases."""
    record = folder / "lines" / f"{name}.txt"
    record.parent.mkdir(exist_ok=True)
    if not record.exists():
        environment = os.environ | {"CORPUS_OUT": str(folder / "outputs")}
        options = {"capture_output": True, "text": True, "timeout": TIME_LIMIT, "check": False}
        try:
            done = subprocess.run([*EMULATED, *command], env=environment, **options)
        except subprocess.TimeoutExpired:
            print(f"{name}: no result after {TIME_LIMIT} s", flush=True)
            return [["CASE", name, name, "wrong"]]
        cases = [line for line in done.stdout.splitlines() if line.startswith("CASE ")]
        print(f"{name}: {len(cases)} kernels, status {done.returncode}", flush=True)
        if done.returncode < 0 or not cases:
            print(done.stderr[-2000:])
            return [line.split() for line in cases] + [["CASE", name, name, "wrong"]]
        record.write_text("\n".join(cases))
    return [line.split() for line in record.read_text().splitlines()]


def compare(outputs, recording):
    """Return (family, whether the bytes are equal) for each output that was recorded.

    A file ``corpora.sha256`` in the recording has digests, and the outputs may be shortened.
    """
    digests, sums = {}, recording / "corpora.sha256"
    for line in sums.read_text().splitlines() if sums.exists() else ():
        digest, _, name = line.partition(" ")
        digests[Path(name.strip()).name] = digest
    for path in sorted(outputs.iterdir()):
        data, recorded = path.read_bytes(), recording / path.name
        if path.name in digests:
            is_equal = hashlib.sha256(data).hexdigest() == digests[path.name]
        elif recorded.exists():
            is_equal = data == recorded.read_bytes()
        else:
            continue
        yield path.name.partition("@")[0], is_equal


def report(verdicts, equal):
    print(f"{'family':18} {'kernels':>8} {'right':>6} {'wrong':>6} {'refused':>8}  equal to a GPU")
    for family in sorted({name for name, _ in verdicts}):
        counts = [verdicts[family, verdict] for verdict in ("right", "wrong", "refused")]
        same, different = equal[family, True], equal[family, False]
        print(f"{family:18} {sum(counts):8} {counts[0]:6} {counts[1]:6} {counts[2]:8}", end="")
        print(f"  {same} of {same + different} outputs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--projects", type=Path, required=True)
    parser.add_argument("--triton", help="a Python with Triton")
    parser.add_argument("--numba", help="a Python with numba-cuda and numba-cuda-mlir")
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--compare", type=Path, help="a folder with recorded outputs")
    chosen = parser.parse_args()
    folder, ptx = chosen.folder.resolve(), chosen.folder.resolve() / "ptx"
    outputs = folder / "outputs"
    outputs.mkdir(parents=True, exist_ok=True)
    write_stubs(folder)
    lines = []
    for name in chosen.only:
        program = build(name, folder, chosen.nvcc, chosen.projects.resolve())
        lines += lines_of(name, [program], folder) if program else []
    if chosen.triton:
        subprocess.run([chosen.triton, HERE / "triton_kernels.py", ptx], check=True)
    for family in ("numba", "numba-cuda-mlir") if chosen.numba else ():
        command = [*EMULATED, chosen.numba, HERE / "numba_kernels.py", ptx, family]
        subprocess.run(command, check=True)
    if (ptx / "cases.json").exists():
        lines += lines_of("ptx", [sys.executable, HERE / "references.py", ptx], folder)
    equal = Counter(compare(outputs, chosen.compare)) if chosen.compare else Counter()
    report(Counter((family, verdict) for _, family, _, verdict, *_ in lines), equal)
    return 0 if all(line[3] == "right" for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
