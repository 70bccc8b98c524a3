# SPDX-License-Identifier: Apache-2.0
"""Sentences of single functions and of families, by names without the prefix of the library."""

from __future__ import annotations

import tomllib
from pathlib import Path

SIDES = {"A": "an array", "D": "device memory", "H": "host memory"}
COPIES = [
    (rf"Memcpy{a}to{b}(?P<async>Async)?", f"Copies from {SIDES[a]} to {SIDES[b]}{{async}}.")
    for a in SIDES
    for b in SIDES
]
NODE = r"(?P<node>\w+?)Node"
FAMILIES = [
    *[
        (pattern.replace("(?P<async>Async)?", suffix), sentence.replace("{async}", words))
        for pattern, sentence in COPIES
        for suffix, words in (("", ""), ("Async", " in stream order"))
    ],
    (r"MemsetD2D(?P<bits>8|16|32)", "Sets each {bits}-bit element of rows of device memory."),
    (
        r"MemsetD2D(?P<bits>8|16|32)Async",
        "Sets each {bits}-bit element of rows of device memory in stream order.",
    ),
    (r"MemsetD(?P<bits>8|16|32)", "Sets each {bits}-bit element of device memory."),
    (
        r"MemsetD(?P<bits>8|16|32)Async",
        "Sets each {bits}-bit element of device memory in stream order.",
    ),
    (r"GraphAdd" + NODE + "1D", "Adds a {node} node for contiguous memory to a graph."),
    (r"GraphAdd" + NODE, "Adds {a_node} node to a graph."),
    (
        r"GraphExec" + NODE + "SetParams1D",
        "Changes a copy of contiguous memory in an executable graph.",
    ),
    (r"GraphExec" + NODE + r"Set(Params|Event)", "Changes {a_node} node of an executable graph."),
    (r"Graph" + NODE + "SetParams1D", "Changes a copy of contiguous memory in a graph."),
    (r"Graph" + NODE + r"Set(?P<what>Params|Event|Attribute)", "Sets the {what} of {a_node} node."),
    (
        r"Graph" + NODE + r"Get(?P<what>Params|Event|Attribute|Graph)",
        "Returns the {what} of {a_node} node.",
    ),
    (r"(?P<of>External\w+)GetMapped(?P<what>\w+)", "Maps {a_of} as {a_what}."),
    (
        r"Graphics(Sub)?ResourceGetMapped(?P<what>\w+)",
        "Returns the mapped {what} of a graphics resource.",
    ),
    (
        r"Graphics(?P<api>EGL|GL|VDPAU)Register(?P<what>\w+)",
        "Registers {a_what} of {api} as a graphics resource.",
    ),
    (r"(?P<what>\w+)GetMemoryRequirements", "Returns the size and alignment that {a_what} needs."),
    (r"(?P<what>\w+)GetSparseProperties", "Returns the tile layout of a sparse {what}."),
    (r"DeviceGet(?P<what>\w+)Enabled", "Returns whether {what} are enabled on a device."),
    (r"DeviceSet(?P<what>\w+)Enabled", "Enables or disables {what} on a device."),
    (
        r"DeviceGet(?P<what>\w+)RunningProcesses",
        "Returns the running {what} processes of a device.",
    ),
    (r"DeviceGetHandleBy(?P<what>\w+?)V?", "Returns the handle of the device with {a_what}."),
    (r"DeviceGetSupported(?P<what>\w+)", "Returns the {what} that a device supports."),
    (
        r"(Device|GpuInstance)GetCreatableVgpus",
        "Returns the vGPU types of which another instance fits now.",
    ),
    ("DeviceRegisterAsyncNotification", "Registers a callback for notifications of a device."),
    ("DeviceUnregisterAsyncNotification", "Unregisters a callback for notifications of a device."),
    (
        r"CoredumpRegister(?P<what>Start|Complete)Callback",
        "Registers a callback for the {what} of a core dump.",
    ),
    (
        r"CoredumpDeregister(?P<what>Start|Complete)Callback",
        "Unregisters a callback for the {what} of a core dump.",
    ),
    ("CoredumpGetAttributeGlobal", "Returns an attribute of core dumps of all contexts."),
    ("CoredumpSetAttributeGlobal", "Sets an attribute of core dumps of all contexts."),
    (r"(Module|Library)Get(?P<what>\w+)Count", "Returns the number of {what}s of a library."),
    (r"(Func|Kernel)GetParamCount", "Returns the number of a kernel's parameters."),
    (r"(Func|Kernel)GetParamInfo", "Returns the offset and the size of a kernel's parameter."),
    (r"Get(Program)?Log", "Returns the log of a program."),
    (r"Get(Program)?LogSize", "Returns the size of the log of a program."),
    (r"Get(?P<what>LTOIR|PTX|CUBIN|OptiXIR|TileIR)", "Returns the {what} of a program."),
    (
        r"Get(?P<what>LTOIR|PTX|CUBIN|OptiXIR|TileIR)Size",
        "Returns the size of the {what} of a program.",
    ),
    (r"GetLinked(?P<what>Cubin|LTOIR|Ptx)", "Returns the linked {what}."),
    (r"GetLinked(?P<what>Cubin|LTOIR|Ptx)Size", "Returns the size of the linked {what}."),
    (r"DeviceGet(Nvlink|NvLink)(?P<what>\w+?)V?", "Returns the {what} of a device's NVLink."),
    (r"DeviceSet(Nvlink|NvLink)(Device)?(?P<what>\w+)", "Sets the {what} of a device's NVLink."),
]
FAMILIES += [
    (
        f"Memcpy{shape}{peer}{attributes}{order}",
        f"Copies {what}{' between devices' if peer else ''}"
        f"{' with attributes' if attributes else ''}{' in stream order' if order else ''}.",
    )
    for shape, what in (
        ("", "memory"),
        ("2D", "rows"),
        ("2DUnaligned", "rows of any alignment"),
        ("3D", "a box"),
    )
    for peer in ("", "Peer")
    for attributes in ("", "WithAttributes")
    for order in ("", "Async")
]
FAMILIES += [
    ("MemcpyBatchAsync", "Makes a batch of copies in stream order."),
    ("Memcpy3DBatchAsync", "Makes a batch of copies of boxes in stream order."),
]
SENTENCES = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text())
