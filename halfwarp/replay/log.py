# SPDX-License-Identifier: Apache-2.0
"""Reads what a LoggingMemoryResource wrote, and refuses what it cannot have written."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

HEADER = "time_ns,thread,action,address,size,stream"
ACTIONS = ("allocate", "free", "fail")


class LogError(ValueError):
    """A log that is damaged; the text names the file and the line."""


@dataclass(frozen=True, slots=True)
class Call:
    """One line: `address` and `stream` as numbers, `size` in bytes."""

    line: int
    time_ns: int
    thread: int
    action: str
    address: int
    size: int
    stream: int


def read(path):
    """The calls of a log, also of one compressed by gzip.

    Raises
    ------
    LogError
        If a line is none of a log, or what it says cannot follow the lines before.
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
    """The call of one line; ValueError says what is wrong with it."""
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
    """Keep the addresses that are in use; ValueError for a call that cannot come now."""
    if call.address == 0:  # of empty buffers, as many as there are
        return
    if call.action == "allocate":
        if call.address in live:
            first = live[call.address]
            raise ValueError(f"{call.address:#x} is in use since line {first}, and not freed")
        live[call.address] = call.line
    elif call.action == "free" and live.pop(call.address, None) is None:
        raise ValueError(f"{call.address:#x} is freed and was not in use")
