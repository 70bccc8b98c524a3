# SPDX-License-Identifier: Apache-2.0
"""Reads a log of LoggingMemoryResource, and rejects damaged logs."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

HEADER = "time_ns,thread,action,address,size,stream"
ACTIONS = ("allocate", "free", "fail")
MAX_BYTES = 256 << 20  # of the text; each call occupies several times its line in memory
MAX_THREADS = 1000  # a replay starts a thread for each
MAX_STREAMS = 10_000  # a replay creates a stream for each
MAX_NUMBER = (1 << 64) - 1
SHOWN = 40  # number of characters of a field that a message shows


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
    threads, streams = set(), set()
    for number, line in enumerate(lines[1:-1], 2):
        try:
            call = parse(number, line)
            follow(live, call)
            count("threads", threads, call.thread, MAX_THREADS)
            count("streams", streams, call.stream, MAX_STREAMS)
        except ValueError as error:
            raise LogError(f"{path}:{number}: {error}") from None
        calls.append(call)
    if not calls:
        raise LogError(f"{path}: the log has no calls")
    return calls


def text_of(path):
    """Return the text of a log; reject one above `MAX_BYTES`, also if it is compressed."""
    try:
        with open(path, "rb") as file:
            is_compressed = file.read(2) == b"\x1f\x8b"
        with (gzip.open if is_compressed else open)(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise LogError(f"{path}: not a log: {error}") from None
    if len(data) > MAX_BYTES:
        content = "decompressed content" if is_compressed else "file"
        raise LogError(
            f"{path}: the {content} is larger than {MAX_BYTES >> 20} MiB, the most that a replay "
            "reads: replay a part of the log"
        )
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as error:
        raise LogError(f"{path}: not a log: {error}") from None


def parse(number, line):
    """Return the call of a line; raise ValueError if it is malformed."""
    fields = line.split(",")
    if len(fields) != 6:
        raise ValueError(f"{len(fields)} fields instead of 6: {line[:SHOWN]!r}")
    time_ns, thread, action, address, size, stream = fields
    if action not in ACTIONS:
        raise ValueError(f"unknown action {action[:SHOWN]!r}: it may be {', '.join(ACTIONS)}")
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


def count(kind, seen, number, limit):
    """Add the number of a thread or stream; raise ValueError above the limit of a replay."""
    seen.add(number)
    if len(seen) > limit:
        raise ValueError(
            f"the log has more than {limit} {kind}, the most that a replay creates: replay a part "
            "of the log"
        )


def number_of(name, text, base):
    shown = repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
    try:
        value = int(text, base)
    except ValueError:
        kind = "a hexadecimal number" if base == 16 else "a number"
        raise ValueError(f"{name} must be {kind}, got {shown}") from None
    if value < 0:
        raise ValueError(f"{name} must not be negative, got {shown}")
    if value > MAX_NUMBER:
        raise ValueError(f"{name} must fit in 64 bits, got {shown}")
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
