# SPDX-License-Identifier: Apache-2.0
"""Describes a function from its name: by a sentence of its own, of its family, or of its verb."""

from __future__ import annotations

import re

from ..model import Function
from .families import FAMILIES, SENTENCES
from .words import split, text_of, with_article

PREFIX = re.compile(r"^(cuFile|cudla|cuda|cu|nvml|nvrtc|nvJitLink|nvvm|nvFatbin)(?=[A-Z])")
# Beginnings of names -> what the function belongs to; the longest counts.
SUBJECTS = {
    "Array": "an array",
    "Array3D": "a 3D array",
    "CheckpointProcess": "a process",
    "ComputeInstance": "a compute instance",
    "Coredump": "core dumps",
    "Ctx": "the current context",
    "Device": "a device",
    "DevicePrimaryCtx": "the primary context",
    "Driver": "the driver",
    "Event": "an event",
    "EventSet": "an event set",
    "ExecutionCtx": "an execution context",
    "Func": "a function",
    "GpuInstance": "a GPU instance",
    "Graph": "a graph",
    "GraphExec": "an executable graph",
    "GraphNode": "a graph node",
    "GraphicsResource": "a graphics resource",
    "GreenCtx": "a green context",
    "Host": "host memory",
    "Kernel": "a kernel",
    "Library": "a library",
    "Link": "a linker",
    "Logs": "the driver's log",
    "LogicalEndpoint": "a logical endpoint",
    "Mem": "memory",
    "MemHost": "pinned host memory",
    "MemPool": "a memory pool",
    "MemRange": "a managed range",
    "MipmappedArray": "a mipmapped array",
    "Module": "a module",
    "Multicast": "a multicast object",
    "Pointer": "an address",
    "Program": "a program",
    "Runtime": "the runtime",
    "Stats": "statistics",
    "Stream": "a stream",
    "SurfObject": "a surface object",
    "SurfRef": "a surface reference",
    "SurfaceObject": "a surface object",
    "System": "the system",
    "SystemEventSet": "a system event set",
    "TexObject": "a texture object",
    "TexRef": "a texture reference",
    "TextureObject": "a texture object",
    "TensorMap": "a tensor map",
    "Unit": "a unit",
    "UserObject": "a user object",
    "VgpuInstance": "a vGPU instance",
    "VgpuType": "a vGPU type",
}
VERBS = {
    "Activate": "Activates",
    "Add": "Adds",
    "Cancel": "Cancels",
    "Clear": "Clears",
    "Clone": "Clones",
    "Close": "Closes",
    "Complete": "Completes",
    "Create": "Creates",
    "Deregister": "Unregisters",
    "Destroy": "Destroys",
    "Disable": "Disables",
    "Discover": "Discovers",
    "Enable": "Enables",
    "Free": "Frees",
    "Generate": "Generates",
    "Get": "Returns",
    "Import": "Imports",
    "Load": "Loads",
    "Lock": "Locks",
    "Map": "Maps",
    "Modify": "Modifies",
    "Open": "Opens",
    "Query": "Queries",
    "Read": "Reads",
    "Register": "Registers",
    "Release": "Releases",
    "Remove": "Removes",
    "Replace": "Replaces",
    "Reset": "Resets",
    "Retain": "Retains",
    "Set": "Sets",
    "Setup": "Sets up",
    "Start": "Starts",
    "Stop": "Stops",
    "Synchronize": "Waits for",
    "Unload": "Unloads",
    "Unlock": "Unlocks",
    "Unmap": "Unmaps",
    "Unregister": "Unregisters",
    "Update": "Updates",
    "Validate": "Validates",
    "Verify": "Verifies",
    "Wait": "Waits for",
}
SELECTED = ("attribute", "limit", "device resource")  # an argument says which one
PLAIN = ("Returns", "Sets", "Clears", "Resets")  # "of the subject" follows their object
ENDINGS = (  # endings of names -> endings of sentences
    (re.compile(r"Async$"), ", in stream order"),
    (re.compile(r"WithFlags$"), " with flags"),
    (re.compile(r"WithParams$"), " with parameters in a struct"),
    (re.compile(r"WithPriority$"), " with a priority"),
    (re.compile(r"WithPlacement$"), " at a placement"),
    (re.compile(r"WithinScope$"), " within a scope"),
    (re.compile(r"ByIndex$"), " by its index"),
    (re.compile(r"ById$"), " by its ID"),
    (re.compile(r"ByVersion$"), " of a version"),
    (re.compile(r"ForDevice$"), " for one device"),
)


def sentence_of(function: Function) -> str:
    """Return a sentence that says what the function does; empty if its name has no known verb."""
    name = PREFIX.sub("", re.sub(r"_v\d+$", "", function.name))
    own = SENTENCES.get(function.name) or SENTENCES.get(name)
    return own or family_sentence(name) or verb_sentence(name)


def family_sentence(name: str) -> str:
    """The sentence of the first family that the whole name matches."""
    for pattern, sentence in FAMILIES:
        if match := re.fullmatch(pattern, name):
            parts = {key: text_of(split(part or "")) for key, part in match.groupdict().items()}
            articles = {f"a_{key}": with_article(words) for key, words in parts.items()}
            return sentence.format(**parts, **articles)
    return ""


def verb_sentence(name: str) -> str:
    """Subject, verb and object of the name."""
    end = ""
    for pattern, words in ENDINGS:
        if pattern.search(name):
            name, end = pattern.sub("", name), words
            break
    subject, tail = subject_of(name)
    verb, thing = verb_of(tail)
    if not verb or not (subject or thing):
        return ""
    if not thing:
        return f"{verb} {subject}{end}."
    if thing in SELECTED:
        return f"{verb} {with_article(thing)} of {subject}{end}."
    if verb in PLAIN:
        return f"{verb} the {thing}{f' of {subject}' if subject else ''}{end}."
    if subject and verb != "Creates":
        return f"{verb} {with_article(thing)} of {subject}{end}."
    return f"{verb} {with_article(thing)}{f' of {subject}' if subject else ''}{end}."


def subject_of(name: str) -> tuple[str, str]:
    """The words for the longest known beginning, and the remainder, which begins with a verb."""
    for length in range(len(name), 0, -1):
        tail = name[length:]
        if name[:length] in SUBJECTS and (not tail or split(tail)[0] in VERBS):
            return SUBJECTS[name[:length]], tail
    return "", name


def verb_of(tail: str) -> tuple[str, str]:
    """The verb, empty if it is unknown, and the words of its object."""
    first, *others = split(tail) or [""]
    return VERBS.get(first, ""), text_of(others)
