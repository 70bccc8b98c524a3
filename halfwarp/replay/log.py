# SPDX-License-Identifier: Apache-2.0
"""Reads a log of LoggingMemoryResource, and rejects damaged logs."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

HEADER = "time_ns,thread,action,address,size,stream"
ACTIONS = ("allocate", "free", "fail")


class LogError(ValueError):
    """Raised for a damaged log; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class Call:
    """A line of a log: `address` and `stream` as numbers, `size` in bytes."""

    line: int
    time_ns: int
    thread: int
    action: str
    address: int
    size: int
    stream: int


def read(path):
    """Return the calls of a log, which may be compressed by gzip.

    Raises
    ------
    LogError
        If a line is malformed, or contradicts earlier lines.
    OSError
        If the file cannot be read.
    """
    lines = text_of(Path(path)).split("\n")
    if lines[0] != HEADER:
        raise LogError(f"{path}:1: not a log: its first line must be {HEADER}")
    if lines[-1]:
        raise LogError(
            f"{path}:{len(lines)}: the line is not whole: the process ended before it was written"
        )
    live = {}
    calls = []
    for number, line in enumerate(lines[1:-1], 2):
        try:
            call = parse(number, line)
            follow(live, call)
        except ValueError as error:
            raise LogError(f"{path}:{number}: {error}") from None
        calls.append(call)
    if not calls:
        raise LogError(f"{path}: the log has no calls")
    return calls


def text_of(path):
    data = path.read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("ascii")
    except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise LogError(f"{path}: not a log: {error}") from None


def parse(number, line):
    """Return the call of a line; raise ValueError if it is malformed."""
    fields = line.split(",")
    if len(fields) != 6:
        raise ValueError(f"{len(fields)} fields instead of 6: {line!r}")
    time_ns, thread, action, address, size, stream = fields
    if action not in ACTIONS:
        raise ValueError(f"unknown action {action!r}: it may be {', '.join(ACTIONS)}")
    numbers = [
        number_of(name, text, base)
        for name, text, base in (
            ("time_ns", time_ns, 10),
            ("thread", thread, 10),
            ("address", address, 16),
            ("size", size, 10),
            ("stream", stream, 16),
        )
    ]
    return Call(number, *numbers[:2], action, *numbers[2:])


def number_of(name, text, base):
    try:
        value = int(text, base)
    except ValueError:
        kind = "a hexadecimal number" if base == 16 else "a number"
        raise ValueError(f"{name} must be {kind}, got {text!r}") from None
    if value < 0:
        raise ValueError(f"{name} must not be negative, got {text!r}")
    return value


def follow(live, call):
    """Track the addresses in use; raise ValueError for a call that contradicts them."""
    if call.address == 0:  # shared by all empty buffers
        return
    if call.action == "allocate":
        if call.address in live:
            first = live[call.address]
            raise ValueError(f"{call.address:#x} is in use since line {first}, and not freed")
        live[call.address] = call.line
    elif call.action == "free" and live.pop(call.address, None) is None:
        raise ValueError(f"{call.address:#x} is freed but was not in use")
