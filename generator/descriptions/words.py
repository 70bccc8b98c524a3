# SPDX-License-Identifier: Apache-2.0
"""Splits C names into words of the field."""

from __future__ import annotations

import re

# Words of a name -> words of a sentence. A name is split at these first, the longest first.
WORDS = {
    "1D": "1D",
    "2D": "2D",
    "3D": "3D",
    "API": "API",
    "Addr": "address",
    "Affinity": "affinity",
    "Api": "API",
    "Archs": "architectures",
    "BAR1": "BAR1",
    "BBX": "black-box",
    "BatchMemOp": "batch memory-operation",
    "Bw": "bandwidth",
    "C2c": "C2C",
    "CPER": "CPER",
    "CUBIN": "cubin",
    "Clk": "clock",
    "Complete": "completion",
    "Conf": "confidential",
    "Config": "configuration",
    "Cpu": "CPU",
    "Ctx": "context",
    "Cuda": "CUDA",
    "Curr": "current",
    "Desc": "descriptor",
    "Dev": "device",
    "Dot": "DOT",
    "Dram": "DRAM",
    "ECC": "ECC",
    "EGL": "EGL",
    "Ecc": "ECC",
    "EglFrame": "EGL frame",
    "Exec": "execution",
    "FBC": "frame-buffer-capture",
    "Fb": "frame-buffer",
    "Func": "function",
    "GL": "OpenGL",
    "GPU": "GPU",
    "Gpc": "GPC",
    "Gpu": "GPU",
    "Gpus": "GPUs",
    "Gsp": "GSP",
    "Hic": "HIC",
    "ID": "ID",
    "IR": "IR",
    "Id": "ID",
    "Info": "information",
    "Inforom": "InfoROM",
    "Ipc": "IPC",
    "Irq": "IRQ",
    "Jpg": "JPEG-engine",
    "L2": "L2",
    "LLVM": "LLVM",
    "LTOIR": "LTO IR",
    "Led": "LED",
    "Luid": "LUID",
    "MPS": "MPS",
    "Max": "maximum",
    "Mdev": "mediated-device",
    "Mem": "memory",
    "MemAlloc": "memory allocation",
    "MemFree": "memory free",
    "Memcpy": "copy",
    "Memset": "memory-set",
    "Freqs": "frequencies",
    "Framebuffer": "frame-buffer",
    "MemPool": "memory pool",
    "Mig": "MIG",
    "Min": "minimum",
    "NVML": "NVML",
    "NvLink": "NVLink",
    "NvSciSync": "NvSciSync",
    "Nvle": "NVLink-encryption",
    "Nvlink": "NVLink",
    "Num": "number of",
    "Numa": "NUMA",
    "Ofa": "optical-flow",
    "OptiXIR": "OptiX IR",
    "P2P": "peer-to-peer",
    "PCH": "PCH",
    "PCIBusId": "PCI bus ID",
    "PRM": "PRM",
    "PState": "performance state",
    "PTX": "PTX",
    "Param": "parameter",
    "Params": "parameters",
    "Pci": "PCI",
    "Pcie": "PCIe",
    "Pdi": "PDI",
    "Pgpu": "physical-GPU",
    "Pids": "process IDs",
    "Psu": "power-supply",
    "Pstates": "performance states",
    "Ptx": "PTX",
    "Ref": "reference",
    "Rusd": "RUSD",
    "SMem": "shared memory",
    "Sm": "SM",
    "Spec": "specification",
    "Sram": "SRAM",
    "Stats": "statistics",
    "Surf": "surface",
    "Tex": "texture",
    "Tgp": "TGP",
    "TileIR": "Tile IR",
    "UUID": "UUID",
    "Uuid": "UUID",
    "VDPAU": "VDPAU",
    "Vbios": "VBIOS",
    "Vf": "voltage-frequency",
    "Vgpu": "vGPU",
    "Vgpus": "vGPUs",
    "Vm": "virtual-machine",
    "V": "",
    "Cubin": "cubin",
}
KNOWN = "|".join(sorted((re.escape(word) for word in WORDS), key=len, reverse=True))
SPLIT = re.compile(rf"(?:{KNOWN})(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
VOWELS = "aeiou"
AS_CONSONANT = ("uni", "use", "UUID", "eu")  # begin with a vowel, but sound like "you"
SPELLED = "AEFHILMNORSX"  # letters whose names begin with a vowel


def split(name: str) -> list[str]:
    """`MemPoolGetAccess` -> `MemPool`, `Get`, `Access`."""
    return SPLIT.findall(re.sub(r"_v\d+$", "", name))


def text_of(parts: list[str]) -> str:
    """The words of a part of a name."""
    return " ".join(filter(None, (WORDS.get(p, p if p.isupper() else p.lower()) for p in parts)))


def with_article(words: str) -> str:
    """`event` -> `an event`; plurals have no article."""
    if not words or (words.endswith("s") and not words.endswith(("ss", "us"))):
        return words
    first = words.split()[0]
    is_spelled = first.isupper() and len(first) > 1 and first not in ("UUID", "NUMA", "RUSD")
    is_vowel = first[0] in SPELLED if is_spelled else first[0].lower() in VOWELS
    return f"{'an' if is_vowel and not words.startswith(AS_CONSONANT) else 'a'} {words}"
